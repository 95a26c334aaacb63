// A kind of line that hands each message back to its sender: the smallest one that a folder could hold.

import type { FindingCode } from '../../src/domain/finding-codes.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { OFFLINE_REASONS, NO_CAPABILITIES } from '../../src/domain/line.ts'
import { option, type OptionValues } from '../../src/domain/option.ts'
import { PHONE_NUMBER_KIND, optionalKind } from '../../src/domain/value-kind.ts'
import {
  type LineDriver,
  type LineListener,
  type LineSession,
  WITHDRAWN,
} from '../../src/lines/driver.ts'
import type { LineKind } from '../../src/lines/line-kind.ts'
import { whenAborted } from '../../src/system/clock.ts'

const OPTIONS = {
  loopbackNumber: option('loopback-number', optionalKind(PHONE_NUMBER_KIND, 'none'), {
    default: null,
    sentence: 'The number of a line that answers itself.',
  }),
} as const

const CAPABILITIES = { ...NO_CAPABILITIES, new_contacts: true }

export const LOOPBACK_KIND: LineKind<typeof OPTIONS> = {
  name: 'loopback',
  title: 'Loopback',
  start: { words: 'Sends to itself.', guide: null },
  isReal: true,
  sharesNumber: false,
  abilities: CAPABILITIES,
  options: OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: { loop_open: 'The loop is open.' },
  deletable: null,
  checklist: [{ title: 'The loop is closed', codes: ['device_absent', 'loop_open'] }],
  create: ({ relayClock }, options) => ({
    driver: createDriver(options, () => relayClock.now()),
    reports: { loops: () => [{ number: options.loopbackNumber }] },
  }),
}

function createDriver(
  { loopbackNumber: number }: OptionValues<typeof OPTIONS>,
  now: () => number,
): LineDriver {
  return {
    kind: 'loopback',
    discover: async () => (number === null ? [] : [{ key: 'loop', number }]),
    checkup: async () => [
      {
        // A kind of a test has no row in the table of findings.
        code: 'loop_open' as FindingCode,
        severity: 'warning',
        title: 'The loop is open',
        why: 'A test opened it.',
        fix: 'Close it.',
        key: null,
        depends_on: null,
      },
    ],
    async run({ number: own }, listener, signal) {
      const session = createSession(listener, now)
      const online = { session, number: own, imessageActive: true, capabilities: CAPABILITIES }
      await listener.onEvent({ type: 'online', ...online })
      await whenAborted(signal)
    },
  }
}

function createSession(listener: LineListener, now: () => number): LineSession {
  return {
    capacity: 1,
    knows: async () => false,
    async send({ id, to: handle, text }, pointOfNoReturn) {
      if (!(await pointOfNoReturn(null))) return WITHDRAWN
      const at = timestamp(now())
      const message = { guid: `back-${id}`, handle, text, isFromMe: false, service: 'iMessage', at }
      void listener.onEvent({
        type: 'message',
        message: { ...message, isHistory: false },
        checkpoint: null,
      })
      return { outcome: 'accepted', guid: id }
    },
  }
}
