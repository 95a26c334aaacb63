// Events of a Mac line for each trace: changes of chat.db that were seen on real Macs. Published twice is
// the same as published once, because the core knows a message by its guid.

import { describe, expect, test } from 'bun:test'

import type { DeviceChange, LineEvent } from '../../../../src/lines/driver.ts'
import { checkpointText, readCheckpoint } from '../../../../src/lines/kinds/mac/reading.ts'
import { changesOf, messagesOf, receiptsOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig } from '../../../contract/mac-rig.ts'
import { TRACES, type TraceName } from '../../../support/mac/messages-traces.ts'

const DAY_MS = 86_400_000

/** Events that a trace causes: messages in order, then receipts in order. */
type Published = {
  readonly live: readonly string[]
  readonly history: number
  /** Why each message that was withheld was. */
  readonly withheld: readonly string[]
  readonly leftOut: readonly string[]
  readonly receipts: readonly string[]
  /** Reactions, edits, unsends, and changes of a group. */
  readonly changes: readonly string[]
}

const NOTHING: Published = {
  live: [],
  history: 0,
  withheld: [],
  leftOut: [],
  receipts: [],
  changes: [],
}
const STEPS = ['sent', 'delivered', 'read'] as const
const TYPED = 'typed on the Mac'

const EXPECTED: Readonly<Record<TraceName, Partial<Published>>> = {
  happy: { live: [`> ${TYPED}`], receipts: ['delivered', 'read'] },
  delivered_without_date: { live: [`> ${TYPED}`], receipts: ['delivered'] },
  read_before_delivered_seen: { live: [`> ${TYPED}`], receipts: ['delivered', 'read'] },
  failed22_at_once: {},
  failed22_after_2s: {},
  fails_then_clears: { live: [`> ${TYPED}`], receipts: ['delivered', 'read'] },
  downgraded_to_sms: { live: [`> ${TYPED} (SMS)`] },
  rcs: { live: [`> ${TYPED} (RCS)`], receipts: ['delivered', 'read'] },
  ghost_row: {},
  misrouted: { live: [`> ${TYPED}`], receipts: ['delivered', 'read'] },
  url_split_in_two_rows: {
    live: ['> look at', '> https://example.com/page'],
    receipts: ['delivered', 'delivered', 'read', 'read'],
  },
  own_join_3s_late: { live: [`> ${TYPED}`], receipts: ['delivered', 'read'] },
  scheduled: {},
  self_chat_echo: {},
  bogus_date_read: { live: [`> ${TYPED}`], receipts: ['delivered'] },
  inbound: { live: ['hello'] },
  two_identical_texts: { live: ['ok', 'ok'] },
  join_3s_late: { live: ['hello'] },
  join_never: { withheld: ['unplaced: your code is 123456'] },
  text_late: { live: ['hello'] },
  text_column_only: { live: ['plain'] },
  edited: { live: ['see you at eigth'], changes: ['edited: see you at eight'] },
  unsent_in_part: { live: ['first part, second part'], changes: ['edited: first part,'] },
  unsent: { live: ['wrong window'], changes: ['unsent'] },
  tapback: { live: ['lunch?'], changes: ['love added', 'love removed'] },
  sticker: { live: ['lunch?'], changes: ['sticker added'] },
  group: {
    live: ['chat831234567890123456: hello all'],
    changes: ['participant_added', 'renamed: Picnic', 'left'],
  },
  two_chats: { live: ['hello'] },
  from_mail: { live: ['hello'] },
  sms: { live: ['hello (SMS)'] },
  attachment_only: { live: [''] },
  spam: { withheld: ['spam: you have won'] },
  system_row: {},
  backfill_500: { live: ['and now'], history: 500 },
  nightly_replay: { history: 2 },
  replay_after_82_minutes: { live: ['hello'] },
  seconds_dates: { live: ['hello'] },
  checkpoints: { live: ['one', 'two', 'three'] },
  sleep_of_8_hours: { live: ['good night', 'good morning'] },
  newest_deleted: { live: ['one', 'two', 'three'] },
  replaced_by_smaller: { live: [...numbers(12), 'after the restore'] },
  rowids_renumbered: { live: [...numbers(12), 'after the rebuild'] },
}

describe('a Mac line tells of a trace', () => {
  for (const [name, trace] of Object.entries(TRACES)) {
    test(`${name}: ${trace.expects}`, async () => {
      const published = await publish(trace.steps)

      const expected = EXPECTED[name as TraceName] // The keys of TRACES are its names.
      expect(published).toEqual({ ...NOTHING, ...expected })
    })
  }
})

async function publish(steps: (typeof TRACES)[TraceName]['steps']): Promise<Published> {
  using rig = makeMacRig()
  const now = rig.clock.now()
  const start = { rowId: 0, incomplete: [], sequence: 0, lastRows: [], lastAt: now }
  const checkpoint = checkpointText({ ...start, since: now - 30 * DAY_MS, healthyAt: now })
  await using line = await runLine(rig, rig.driver, { checkpoint })

  const played = rig.model.play(steps)
  await rig.clock.advance(25_000)
  await played
  // A row without a chat is waited for a minute.
  if (readCheckpoint(line.checkpoint())?.incomplete.length !== 0) await rig.clock.advance(60_000)
  return publishedOf(line.events)
}

function publishedOf(events: readonly LineEvent[]): Published {
  const messages = new Map(messagesOf(events).map((message) => [message.guid, message]))
  const all = [...messages.values()]
  const withheld = all.filter((message) => typeof message.withheld === 'string')
  const live = all.filter((message) => !message.isHistory && !withheld.includes(message))
  return {
    live: live.map(({ text, isFromMe, service, group }) => {
      const by = service === 'iMessage' ? '' : ` (${service})`
      const where = group === undefined ? '' : `${group.identifier}: `
      return `${isFromMe ? '> ' : ''}${where}${text}${by}`
    }),
    history: messages.size - live.length - withheld.length,
    withheld: withheld.map(({ withheld: why, text }) => `${why}: ${text}`),
    leftOut: events.flatMap((event) => (event.type === 'left_out' ? [event.leftOut.kind] : [])),
    receipts: receiptsOf(events)
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'sent')
      .sort((a, b) => rank(a) - rank(b)),
    changes: changesOf(events).map(wordsOf),
  }
}

function wordsOf(change: DeviceChange): string {
  switch (change.kind) {
    case 'reaction':
      return `${change.type} ${change.action}`
    case 'edited':
      return `edited: ${change.text}`
    case 'unsent':
      return 'unsent'
    case 'group':
      return change.change === 'renamed' ? `renamed: ${change.group.name}` : change.change
  }
}

function rank(kind: string): number {
  return STEPS.findIndex((step) => step === kind)
}

function numbers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `number ${index}`)
}
