// Why an attached phone cannot be read, in words that its owner can act on.

import type { PhoneTroubleReason } from './phone-facts.ts'

type Trouble = {
  readonly title: string
  readonly why: string
  /** What the owner does about it: the hint of a line and the fix of a finding. */
  readonly fix: string
}

export const PHONE_TROUBLES: Readonly<Record<PhoneTroubleReason, Trouble>> = {
  not_trusted: {
    title: 'The iPhone does not trust this computer yet',
    why: 'It is plugged in, and its owner has not tapped Trust.',
    fix: 'Unlock the iPhone and tap Trust; where it does not ask, plug it in anew (on Linux run "idevicepair pair").',
  },
  trust_dialog: {
    title: 'The iPhone asks whether it shall trust this computer',
    why: 'The question is on its screen.',
    fix: 'Unlock the iPhone, tap Trust and enter its passcode.',
  },
  trust_denied: {
    title: 'The iPhone was told not to trust this computer',
    why: 'Somebody tapped "Don\'t Trust"; it asks again when it is plugged in anew.',
    fix: 'Unplug the iPhone, plug it in again and tap Trust.',
  },
  pairing_stale: {
    title: 'The iPhone no longer trusts this computer',
    why: 'It was reset or restored, or its trust was revoked; what this computer has stored is stale.',
    fix: 'Plug the iPhone in anew and tap Trust; where it does not ask, run "idevicepair unpair" and "idevicepair pair", or open the Finder on a Mac.',
  },
  passcode_locked: {
    title: 'The iPhone waits for its passcode',
    why: 'It has restarted, or is locked, and tells nothing before somebody has unlocked it.',
    fix: 'Unlock the iPhone; one that works without people is best without a passcode.',
  },
  usbmux_denied: {
    title: 'Hookline may not use usbmuxd',
    why: 'The system refuses to open its socket, so no iPhone can be reached.',
    fix: 'Let the user that runs Hookline open the socket of usbmuxd, by its group or its mode.',
  },
  unreadable: {
    title: 'The iPhone does not answer',
    why: 'It is plugged in, and what it knows of itself cannot be read.',
    fix: 'Wait a minute; then try another cable or port, and restart the iPhone.',
  },
}
