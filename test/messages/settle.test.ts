// A message in each state meets each report of its device, or of the relay itself: its state then, the
// events, the place in the day's budget, the turn of the message behind it, and the caller's answer.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import type { MessageStatus, Outbound, ReceiptKind } from '../../src/domain/message.ts'
import type { EventName } from '../../src/domain/webhook.ts'
import { keepReceipt } from '../../src/storage/intake-records.ts'
import { updateMessage } from '../../src/storage/messages.ts'
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

const GUID = '00000000-0000-4000-8000-000000000001'

type Act = (stage: MessageStage, message: Outbound) => Outbound

const receipt =
  (kind: ReceiptKind): Act =>
  ({ tx, outcomes }, message) =>
    outcomes.applyReceipt(tx, message, { kind, at: NOW, reason: null })

/** The reports, and the relay's own decisions, by their names in the table. */
const REPORTS = {
  accepted: ({ tx, outcomes }, message) => outcomes.accept(tx, message, { guid: GUID }),
  'accepted without a guid': ({ tx, outcomes }, message) =>
    outcomes.accept(tx, message, { guid: null }),
  held: ({ tx, outcomes }, message) => outcomes.assignGuid(tx, message, { guid: GUID }),
  delivered: receipt('delivered'),
  read: receipt('read'),
  'reported as failed': receipt('failed'),
  refused: ({ tx, outcomes }, message) => outcomes.fail(tx, message, 'not_on_imessage'),
  'of unknown outcome': ({ tx, outcomes }, message) =>
    outcomes.makeUncertain(tx, message, { reason: 'outcome_unknown' }),
  'too old': ({ tx, outcomes }, message) => outcomes.expire(tx, message),
} satisfies Record<string, Act>

const queued: Act = (_stage, message) => message
const sending: Act = passMessage
const sent: Act = (stage, message) => REPORTS.accepted(stage, sending(stage, message))
const uncertain: Act = (stage, message) =>
  REPORTS['of unknown outcome'](stage, sending(stage, message))

/** Each state is reached as a message reaches it. */
const STATES = {
  queued,
  sending,
  sent,
  delivered: (stage, message) => REPORTS.delivered(stage, sent(stage, message)),
  read: (stage, message) => REPORTS.read(stage, sent(stage, message)),
  uncertain,
  'announced as uncertain': (stage, message) =>
    updateMessage(stage.tx, uncertain(stage, message), { dueAt: null }, NOW),
  failed: (stage, message) => REPORTS.refused(stage, sending(stage, message)),
  expired: (stage, message) => REPORTS['too old'](stage, message),
} satisfies Record<string, Act>

const SENT: EventName = 'message.sent'
const DELIVERED: EventName = 'message.delivered'
const READ: EventName = 'message.read'
const FAILED: EventName = 'message.failed'

type Row = readonly [
  state: keyof typeof STATES,
  report: keyof typeof REPORTS,
  status: MessageStatus,
  events: readonly EventName[],
  place: 'reserved' | 'spent' | 'free' | 'known',
  more?: 'the next one goes' | 'the caller hears, the next one goes',
]

const ENDED = 'the caller hears, the next one goes'
const GOES = 'the next one goes'

const TABLE: readonly Row[] = [
  ['queued', 'accepted', 'sent', [SENT], 'known', ENDED],
  ['queued', 'held', 'queued', [], 'reserved'],
  ['queued', 'delivered', 'delivered', [SENT, DELIVERED], 'known', ENDED],
  ['queued', 'refused', 'failed', [FAILED], 'free', ENDED],
  ['queued', 'of unknown outcome', 'uncertain', [], 'reserved', ENDED],
  ['queued', 'too old', 'expired', [FAILED], 'free', ENDED],
  ['sending', 'accepted', 'sent', [SENT], 'spent', ENDED],
  ['sending', 'accepted without a guid', 'sent', [SENT], 'spent', ENDED],
  ['sending', 'held', 'sending', [], 'spent'],
  ['sending', 'delivered', 'delivered', [SENT, DELIVERED], 'spent', ENDED],
  ['sending', 'read', 'read', [SENT, DELIVERED, READ], 'spent', ENDED],
  ['sending', 'reported as failed', 'failed', [FAILED], 'free', ENDED],
  ['sending', 'refused', 'failed', [FAILED], 'free', ENDED],
  ['sending', 'of unknown outcome', 'uncertain', [], 'spent', ENDED],
  ['sent', 'accepted', 'sent', [], 'spent', GOES],
  ['sent', 'delivered', 'delivered', [DELIVERED], 'spent', GOES],
  ['sent', 'read', 'read', [DELIVERED, READ], 'spent', GOES],
  ['sent', 'reported as failed', 'failed', [FAILED], 'spent', GOES],
  ['sent', 'of unknown outcome', 'sent', [], 'spent', GOES],
  ['delivered', 'delivered', 'delivered', [], 'spent', GOES],
  ['delivered', 'read', 'read', [READ], 'spent', GOES],
  ['delivered', 'reported as failed', 'delivered', [], 'spent', GOES],
  ['read', 'delivered', 'read', [], 'spent', GOES],
  ['read', 'reported as failed', 'read', [], 'spent', GOES],
  ['read', 'of unknown outcome', 'read', [], 'spent', GOES],
  ['uncertain', 'accepted', 'sent', [SENT], 'spent', GOES],
  ['uncertain', 'held', 'uncertain', [], 'spent', GOES],
  ['uncertain', 'read', 'read', [SENT, DELIVERED, READ], 'spent', GOES],
  ['uncertain', 'refused', 'failed', [FAILED], 'free', GOES],
  ['uncertain', 'of unknown outcome', 'uncertain', [], 'spent', GOES],
  ['announced as uncertain', 'accepted', 'sent', [SENT], 'spent', GOES],
  ['failed', 'delivered', 'delivered', [SENT, DELIVERED], 'known', GOES],
  ['failed', 'refused', 'failed', [], 'free', GOES],
  ['expired', 'accepted', 'expired', [], 'free', GOES],
  ['expired', 'delivered', 'expired', [], 'free', GOES],
]

for (const [state, report, status, events, place, more = 'nothing else moves'] of TABLE) {
  const published = events.length === 0 ? 'no event' : events.join(' and ')
  test(`a message that is ${state} is ${report}: ${status}, ${published}, place ${place}, ${more}`, () => {
    const stage = openStage()
    const message = queueMessage(stage)
    const behind = queueMessage(stage, { text: 'the next one', history: null })
    const before = STATES[state](stage, message)
    stage.events.length = 0
    stage.answered.length = 0

    const returned = REPORTS[report](stage, before)

    const stored = storedMessage(stage, message)
    expect(stored).toMatchObject({ ...returned })
    expect(stored.status).toBe(status)
    const [kept, counted] = figuresOf(stage)
    expect(kept).toEqual(counted)
    expect(stage.events).toEqual([...events])
    expect(placeOn(stage, stage.line)).toBe(place)
    expect(stage.answered).toEqual(more === ENDED ? [status] : [])
    expect(storedMessage(stage, behind).dueAt !== null).toBe(more === ENDED || more === GOES)
  })
}

test('a message with the same text waits while the first is uncertain, and goes when that is settled', () => {
  const stage = openStage()
  const message = queueMessage(stage)
  const again = queueMessage(stage)

  const doubted = STATES.uncertain(stage, message)
  const meanwhile = storedMessage(stage, again)
  REPORTS.refused(stage, doubted)

  expect(meanwhile).toMatchObject({ queuedReason: 'same_text_uncertain', dueAt: doubted.dueAt })
  expect(storedMessage(stage, again)).toMatchObject({ queuedReason: null, dueAt: NOW })
})

for (const report of ['accepted', 'held'] as const) {
  test(`receipts that came before the guid of a message that is ${report} are applied with it, the oldest first`, () => {
    const stage = openStage()
    const { tx, line } = stage
    const message = STATES.sending(stage, queueMessage(stage))
    const receipts = [
      { kind: 'read', at: timestamp(NOW + 2_000) },
      { kind: 'delivered', at: timestamp(NOW + 1_000) },
    ] as const
    for (const one of receipts) keepReceipt(tx, line.id, { ...one, guid: GUID, reason: null }, NOW)

    REPORTS[report](stage, message)

    expect(stage.events).toEqual([SENT, DELIVERED, READ])
    expect(storedMessage(stage, message)).toMatchObject({
      status: 'read',
      deliveredAt: NOW + 1_000,
      readAt: NOW + 2_000,
    })
  })
}

test('all messages of a conversation fail when their line is deleted, in spite of their order', async () => {
  const stage = openStage()
  const waiting = ['one', 'two', 'three'].map((text) => queueMessage(stage, { text }))
  stage.tx.sqlite.run('UPDATE lines SET deleted_at = 1')

  await stage.outcomes.failOrphans()

  const statuses = waiting.map((message) => storedMessage(stage, message).status)
  expect(statuses).toEqual(['failed', 'failed', 'failed'])
  expect(stage.events).toEqual([FAILED, FAILED, FAILED])
})
