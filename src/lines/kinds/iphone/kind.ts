import { OFFLINE_REASONS } from '../../../domain/line.ts'
import { whenAborted } from '../../../system/clock.ts'
import { once } from '../../../system/memoize.ts'
import { loadedDriver } from '../../driver.ts'
import type {
  ChecklistStep,
  CreatedKind,
  KindHost,
  LineKind,
  NumberSharers,
} from '../../line-kind.ts'
import type { OpenedIphones } from './driver.ts'
import { IPHONE_CAPABILITIES, IPHONE_OPTIONS, type IphoneOptions } from './options.ts'

const CHECKLIST: readonly ChecklistStep[] = [
  {
    title: 'The iPhone is plugged in',
    codes: ['device_absent', 'driver_failed', 'usbmux_denied'],
  },
  {
    title: 'It trusts this computer',
    codes: ['not_trusted', 'trust_dialog', 'trust_denied', 'pairing_stale', 'passcode_locked'],
  },
  {
    title: 'iOS version, settings and battery are fine',
    codes: [
      'unreadable',
      'ios_too_old',
      'developer_mode_off',
      'language_not_english',
      'battery_empty',
      'battery_low',
    ],
  },
  {
    title: "The agent's launcher is ready",
    codes: ['launcher_absent', 'image_mount_failed', 'tunnel_failed'],
  },
  {
    title: 'The agent is running and responding',
    codes: [
      'launch_failed',
      'passcode_prompt',
      'agent_starting',
      'agent_down',
      'agent_stuck',
      'agent_shared',
    ],
  },
  {
    title: 'Messages is visible on its screen',
    codes: ['locked', 'alert', 'ui_unknown', 'wrong_chat'],
  },
  { title: 'Messages are sent via iMessage', codes: ['imessage_off'] },
  {
    title: "It has this line's number",
    codes: ['number_changed', 'phone_number_mismatch'],
  },
]

const FAILURES: LineKind['failures'] = {
  not_delivered: 'Messages reports that the message was not delivered.',
  unconfirmed: 'The message was handed to the iPhone, but its chat does not show it.',
  unsupported_characters: 'The text contains characters that an iPhone cannot type.',
  compose_mismatch: 'The iPhone could not take the text as it was written.',
  composer_dirty: 'The iPhone holds another text that could not be cleared.',
  wrong_chat: 'Messages on the iPhone opened a different chat than the one with the recipient.',
  ui_unknown: 'The iPhone shows a screen that Hookline does not know.',
}

export const IPHONE_KIND: LineKind<typeof IPHONE_OPTIONS> = {
  name: 'iphone',
  title: 'iPhone',
  start: {
    words: 'Connect an iPhone to this machine with a cable.',
    guide: 'iphone',
  },
  isReal: true,
  sharesNumber: false,
  abilities: IPHONE_CAPABILITIES,
  options: IPHONE_OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: FAILURES,
  deletable: null,
  checklist: CHECKLIST,
  create: createIphone,
}

/** Watches the cable for iPhone lines, and for the phones behind lines that share a number. */
function createIphone(
  host: KindHost,
  options: IphoneOptions,
  numberSharers: NumberSharers,
): CreatedKind {
  const { iphone, iphoneLines } = options
  const isAuto = numberSharers.isExpected || iphoneLines !== null
  if (iphone === 'off' || (iphone === 'auto' && !isAuto)) {
    return { driver: null, reports: { phones: () => [] } }
  }
  let opened: OpenedIphones | null = null
  const open = once(async () => {
    const { openIphones } = await import('./driver.ts')
    return (opened = openIphones(host, options))
  })
  const cable = {
    name: 'usb-cable',
    run: async (signal: AbortSignal) => (await open()).cable.run(signal),
  }
  const launcher = {
    name: 'iphone-agent-launcher',
    async run(signal: AbortSignal) {
      const { launcher } = await open()
      await (launcher?.run(signal) ?? whenAborted(signal))
    },
  }
  return {
    driver: iphoneLines === null ? null : loadedDriver('iphone', async () => (await open()).driver),
    services: iphoneLines === null ? [cable] : [cable, launcher],
    findings: () => opened?.findings(numberSharers.lines()) ?? [],
    reports: { phones: () => opened?.driver.reports() ?? [] },
  }
}
