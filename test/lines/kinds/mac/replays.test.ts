// What iCloud writes once more under another guid is reported once, and what people write twice is reported twice.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import { checkpointText } from '../../../../src/lines/kinds/mac/checkpoint.ts'
import { messagesOf, runLine, sendTo } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'

const SCHEMAS = ['macos15', 'macos26a', 'macos26b'] as const
const FRIEND = deviceHandle('+15550001111')
const MINUTE_MS = 60_000

type Row = {
  /** When it is written, and its date: milliseconds from the first. */
  readonly ms: number
  readonly dated?: number
  readonly from?: string
  readonly inGroup?: boolean
  readonly values?: MessageValues
}

const OWN = { is_from_me: 1, is_sent: 1, is_delivered: 0 }
/** Carriers date in whole seconds. */
const SMS = { service: 'SMS' }

const AHEAD_MS = 4 * 365 * 86_400_000

/** Rows with the same text, and how many of them are reported. */
const CASES: readonly (readonly [string, count: number, ...Row[]])[] = [
  ['once more after a minute', 1, { ms: 0 }, { ms: 61_000 }],
  [
    'once more after two minutes, in another spelling',
    1,
    { ms: 0 },
    { ms: 120_000, from: '5550001111' },
  ],
  ['twice more at one time', 1, { ms: 0 }, { ms: 300_000 }, { ms: 600_000 }],
  [
    'once more ten seconds later, with its exact date',
    1,
    { ms: 0, dated: 7 },
    { ms: 10_000, dated: 7 },
  ],
  ['at once once more, with its exact date', 1, { ms: 0, dated: 7 }, { ms: 0, dated: 7 }],
  [
    'twice more at one time, dated years ahead in a whole second',
    1,
    { ms: 0, dated: AHEAD_MS, values: SMS },
    { ms: 120_000, dated: AHEAD_MS, values: SMS },
    { ms: 120_000, dated: AHEAD_MS, values: SMS },
  ],
  ['written twice within a second', 2, { ms: 0 }, { ms: 500, dated: 500 }],
  [
    'written twice, the second on its way for half a minute',
    2,
    { ms: 0 },
    { ms: 30_000, dated: 900 },
  ],
  ['an SMS written twice in one second', 2, { ms: 0, values: SMS }, { ms: 900, values: SMS }],
  [
    'an SMS written twice, both from iCloud at one time',
    2,
    { ms: 0, dated: -90 * MINUTE_MS, values: SMS },
    { ms: 0, dated: -90 * MINUTE_MS, values: SMS },
  ],
  [
    'once more ten seconds later, with its exact date, by chance a whole second',
    1,
    { ms: 0, values: OWN },
    { ms: 10_000, values: { ...OWN, handle_id: 0 } },
  ],
  [
    'written twice, both once more',
    2,
    { ms: 0 },
    { ms: 500, dated: 500 },
    { ms: 300_000 },
    { ms: 300_000, dated: 500 },
  ],
  [
    'once more, with a second one that never came',
    2,
    { ms: 0 },
    { ms: 300_000 },
    { ms: 300_000, dated: 500 },
  ],
  ['to a group, and directly', 2, { ms: 0 }, { ms: 300_000, inGroup: true }],
  ['by another person', 2, { ms: 0 }, { ms: 300_000, from: '+15550002222' }],
  [
    'typed on the device, once more without a handle',
    1,
    { ms: 0, values: OWN },
    { ms: 300_000, values: { ...OWN, handle_id: 0 } },
  ],
  [
    'typed on the device, at once once more without a handle',
    1,
    { ms: 0, dated: 7, values: OWN },
    { ms: 0, dated: 7, values: { ...OWN, handle_id: 0 } },
  ],
  [
    'typed in another chat, without a handle',
    2,
    { ms: 0, values: OWN },
    { ms: 300_000, from: '+15550002222', values: { ...OWN, handle_id: 0 } },
  ],
  ['said and answered', 2, { ms: 0, values: OWN }, { ms: 300_000 }],
]

async function play(rig: MacRig, rows: readonly Row[]): Promise<void> {
  const { file } = rig.model
  const start = rig.clock.now()
  const group = file.addChat({ identifier: 'chat831', style: 43, members: [FRIEND] })
  let passed = 0
  for (const { ms, dated = 0, from = FRIEND, inGroup = false, values = {} } of rows) {
    if (ms > passed) await rig.clock.advance(ms - passed)
    passed = ms
    const handle = values['handle_id'] ?? file.addHandle(from)
    const { rowId } = file.addMessage({
      text: 'ok',
      ...values,
      at: start + dated,
      handle_id: handle,
    })
    file.joinChat(rowId, inGroup ? group : file.directChat(from))
  }
  await rig.clock.advance(12_000)
}

for (const schema of SCHEMAS) {
  describe(schema, () => {
    test.each([...CASES])('%s: reported %i times', async (_, count, ...rows) => {
      await using rig = await attendedMac({ schema })

      await play(rig, rows)

      expect(messagesOf(rig.line.events)).toHaveLength(count)
    })

    test('what was sent through the line comes once more without a handle, and is not listed', async () => {
      await using rig = await attendedMac({ schema })
      await sendTo(rig, rig.line, FRIEND)
      const { file } = rig.model
      const date = file.db.query<{ date: number }, []>('SELECT date FROM message').get()?.date ?? 0

      for (const ms of [61_000, 120_000]) {
        await rig.clock.advance(ms)
        const values = { ...OWN, text: `to ${FRIEND}`, at: 0, date, handle_id: 0 }
        file.joinChat(file.addMessage(values).rowId, file.directChat(FRIEND))
      }
      await rig.clock.advance(12_000)

      expect(messagesOf(rig.line.events)).toEqual([])
    })
  })
}

test('a replay right after a start is recognized by what was read before it', async () => {
  using rig = makeMacRig()
  const { file } = rig.model
  const at = rig.clock.now() - 5 * MINUTE_MS
  file.receive({ from: FRIEND, text: 'ok', at })
  const good = { incomplete: [], lastAt: at, healthyAt: rig.clock.now(), since: 0 }
  const checkpoint = checkpointText({ ...good, rowId: 1, sequence: 1, lastRows: [] })
  await using line = await runLine(rig, rig.driver, { checkpoint })

  file.receive({ from: FRIEND, text: 'ok', at })
  await rig.clock.advance(2_000)

  expect(messagesOf(line.events)).toEqual([])
})

test('what iCloud wrote once more is no second message in a database that was rebuilt since', async () => {
  for (const order of ['oldest_first', 'newest_first'] as const) {
    for (const isRestarted of [false, true]) {
      using rig = makeMacRig()
      const { model, clock } = rig
      let line = await runLine(rig, rig.driver)
      const at = clock.now()
      const write = () => model.file.receive({ from: FRIEND, text: 'hello', at })
      write()
      await clock.advance(2 * MINUTE_MS)
      write()
      await clock.advance(1_000)
      const before = messagesOf(line.events)
      if (isRestarted) {
        const checkpoint = line.checkpoint()
        await line.end()
        line = await runLine(rig, rig.driver, { checkpoint })
      }

      model.replace({ keep: 100, order, into: 'new_file' })
      await clock.advance(10_000)
      await line.end()

      const guids = [...before, ...messagesOf(line.events)].map(({ guid }) => guid)
      expect(new Set(guids).size).toBe(1)
    }
  }
})
