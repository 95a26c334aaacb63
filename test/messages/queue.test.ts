// A message that is proven not sent, or that its line will not take now: the line on which it waits then,
// the reason and the time, its round, and the place in the budget of the line that it was on.

import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import type { MessageStatus, Outbound, QueuedReason } from '../../src/domain/message.ts'
import { updateMessage, type MessageUpdate } from '../../src/storage/messages.ts'
import {
  figuresOf,
  NOW,
  openStage,
  passMessage,
  placeOn,
  queueMessage,
  storedMessage,
  type MessageStage,
} from './message-stage.ts'

const NUMBERS = ['+12025550801', '+12025550802']

type Act = (stage: MessageStage, message: Outbound) => void

const ENDS = {
  'refused by its line': ({ tx, queue }, message) => queue.refuse(tx, message),
  withdrawn: ({ tx, queue }, message) => queue.withdraw(tx, message, false),
  'withdrawn with the end of its session': ({ tx, queue }, message) =>
    queue.withdraw(tx, message, true),
  'postponed for 5 s': ({ tx, queue }, message) => queue.postpone(tx, message, 5_000),
  'postponed for a minute': ({ tx, queue }, message) => queue.postpone(tx, message, 60_000),
  'proven unsent': ({ tx, queue }, message) => queue.requeue(tx, message, 'not_carried'),
} satisfies Record<string, Act>

const change =
  (changes: MessageUpdate) =>
  ({ tx }: MessageStage, message: Outbound): Outbound =>
    updateMessage(tx, message, changes, NOW)

const STATES = {
  queued: (_stage, message) => message,
  'queued, not due yet': change({ dueAt: (NOW + 9_000) as Outbound['dueAt'] }), // Whole milliseconds.
  'queued in its second round': change({ round: 1 }),
  'queued in its third round': change({ round: 2 }),
  'queued in its last round': change({ round: 3 }),
  'queued, refused by the other line': (stage, message) =>
    change({ refusedBy: stage.lines.slice(1).map(({ id }): LineId => id) })(stage, message),
  sending: passMessage,
  uncertain: (stage, message) =>
    stage.outcomes.makeUncertain(stage.tx, passMessage(stage, message), {
      reason: 'outcome_unknown',
    }),
  sent: (stage, message) =>
    change({ status: 'sent', sentAt: NOW, dueAt: null })(stage, passMessage(stage, message)),
} satisfies Record<string, (stage: MessageStage, message: Outbound) => Outbound>

type Choice = 'alone' | 'bound to its line' | 'free to move'

type Row = readonly [
  state: keyof typeof STATES,
  choice: Choice,
  end: keyof typeof ENDS,
  after: {
    /** 1 is the line that it was on. */
    readonly line?: 1 | 2
    readonly status?: MessageStatus
    readonly reason?: QueuedReason | null
    readonly afterMs?: number | null
    readonly round?: number
    /** Of the line that it was on. */
    readonly place: 'reserved' | 'spent' | 'free'
  },
]

const MOVED = { line: 2, place: 'free' } as const
const retry = (afterMs: number, round: number) =>
  ({ reason: 'retry', afterMs, round, place: 'reserved' }) as const
const ended = (status: MessageStatus, place: 'spent' | 'free', round = 0) =>
  ({ status, afterMs: null, place, round }) as const
const pacing = (afterMs: number) => ({ reason: 'pacing', afterMs, place: 'reserved' }) as const

const TABLE: readonly Row[] = [
  ['queued', 'alone', 'refused by its line', retry(1_000, 1)],
  ['queued in its second round', 'alone', 'refused by its line', retry(5_000, 2)],
  ['queued in its third round', 'alone', 'refused by its line', retry(30_000, 3)],
  ['queued in its last round', 'alone', 'refused by its line', ended('failed', 'free', 3)],
  ['queued', 'bound to its line', 'refused by its line', retry(1_000, 1)],
  ['queued', 'free to move', 'refused by its line', MOVED],
  [
    'queued, refused by the other line',
    'free to move',
    'refused by its line',
    { ...MOVED, reason: 'retry', afterMs: 1_000, round: 1 },
  ],
  ['sending', 'alone', 'refused by its line', retry(1_000, 1)],
  ['sending', 'free to move', 'refused by its line', MOVED],
  ['sent', 'free to move', 'refused by its line', ended('sent', 'spent')],
  ['queued', 'free to move', 'withdrawn', { afterMs: 1_000, place: 'reserved' }],
  ['queued, not due yet', 'free to move', 'withdrawn', { afterMs: 9_000, place: 'reserved' }],
  ['sending', 'free to move', 'withdrawn', { afterMs: 1_000, place: 'reserved' }],
  ['sending', 'free to move', 'withdrawn with the end of its session', { place: 'reserved' }],
  ['sent', 'alone', 'withdrawn', ended('sent', 'spent')],
  ['queued', 'alone', 'postponed for a minute', pacing(60_000)],
  ['queued', 'free to move', 'postponed for 5 s', pacing(5_000)],
  ['queued', 'bound to its line', 'postponed for a minute', pacing(60_000)],
  ['queued', 'free to move', 'postponed for a minute', MOVED],
  ['queued, refused by the other line', 'free to move', 'postponed for a minute', pacing(60_000)],
  ['sending', 'free to move', 'postponed for a minute', ended('sending', 'spent')],
  ['uncertain', 'alone', 'proven unsent', retry(1_000, 1)],
  ['uncertain', 'free to move', 'proven unsent', MOVED],
  ['sending', 'bound to its line', 'proven unsent', retry(1_000, 1)],
]

for (const [state, choice, end, after] of TABLE) {
  const { line = 1, status = 'queued', reason = null, afterMs = 0, round = 0, place } = after
  const waits = afterMs === null ? status : `${status} on line ${line} in ${afterMs} ms`
  test(`a message that is ${state}, ${choice}, is ${end}: ${waits}, the place ${place}`, () => {
    const stage = openStage(choice === 'alone' ? NUMBERS.slice(0, 1) : NUMBERS)
    const message = queueMessage(stage, { isPinned: choice === 'bound to its line' })

    ENDS[end](stage, STATES[state](stage, message))

    const { lineId, ...stored } = storedMessage(stage, message)
    expect(stage.lines.findIndex(({ id }) => id === lineId) + 1).toBe(line)
    expect(stored).toMatchObject({ status, round, queuedReason: reason })
    expect(stored.dueAt).toBe(afterMs === null ? null : ((NOW + afterMs) as typeof stored.dueAt))
    expect(placeOn(stage, stage.line)).toBe(place)
    const [kept, counted] = figuresOf(stage)
    expect(kept).toEqual(counted)
    expect(stage.events).toEqual(status === 'failed' ? ['message.failed'] : [])
  })
}

test('a new round begins with the first line, not with the one that refused last', () => {
  const stage = openStage(NUMBERS)
  const [first, second] = stage.lines
  const message = queueMessage(stage, { line: second })
  const refused = change({ refusedBy: [first?.id ?? stage.line.id] })(stage, message)

  stage.queue.refuse(stage.tx, refused)

  expect(storedMessage(stage, message)).toMatchObject({
    lineId: first?.id,
    queuedReason: 'retry',
    dueAt: NOW + 1_000,
    refusedBy: [],
  })
})

test('those that wait behind a message go to the other line with it, and stay in order', () => {
  const stage = openStage(NUMBERS)
  const [message, behind] = [queueMessage(stage), queueMessage(stage, { text: 'the next one' })]
  const [, second] = stage.lines

  stage.queue.refuse(stage.tx, message)

  const moved = [message, behind].map((one) => storedMessage(stage, one))
  expect(moved.map(({ lineId }) => lineId === second?.id)).toEqual([true, true])
  expect(new Set(moved.map(({ conversationId }) => conversationId)).size).toBe(1)
  expect(moved.map(({ dueAt, queuedReason }) => [dueAt, queuedReason])).toEqual([
    [NOW, null],
    [null, 'earlier_message'],
  ])
})

test('a message that is proven unsent goes before those that got its turn meanwhile', () => {
  const stage = openStage()
  const message = queueMessage(stage)
  const behind = queueMessage(stage, { text: 'the next one' })
  const doubted = STATES.uncertain(stage, message)
  const meanwhile = storedMessage(stage, behind)

  stage.queue.requeue(stage.tx, doubted, 'not_carried')

  expect(meanwhile.dueAt).toBe(NOW)
  expect(storedMessage(stage, behind)).toMatchObject({
    dueAt: null,
    queuedReason: 'earlier_message',
  })
})
