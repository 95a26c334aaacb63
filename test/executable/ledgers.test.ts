// That the comparison of the ledgers sees what it is there to see.

import { expect, test } from 'bun:test'

import type { Received } from '../support/receiver.ts'
import {
  disagreements,
  NOBODY_KNOWS,
  unexplained,
  type Ledgers,
  type StoredMessage,
  type Told,
} from './ledgers.ts'
import { disobeyed, type Found, type Send } from './torture/waiting.ts'

const MESSAGE: StoredMessage = {
  id: 'msg_1',
  direction: 'outbound',
  status: 'sent',
  text: 'hello',
  errorCode: null,
  handle: '+12025550123',
}
const EVENT = { id: 'evt_1', name: 'message.sent', messageId: 'msg_1', deliveries: 1, succeeded: 1 }
const TOLD: Told = { messageId: 'msg_1', text: 'hello', status: 'sent' }
const POST: Received = {
  id: 'evt_1',
  event: 'message.sent',
  lineId: 'line_1',
  message: { id: 'msg_1', text: 'hello', handle: '+12025550123' },
  isSigned: true,
}
const AGREED: Ledgers = {
  messages: new Map([['msg_1', MESSAGE]]),
  events: [EVENT],
  carried: new Map([['msg_1', 1]]),
  damage: [],
}

const OF_NOBODY = { handle: `+1202555${NOBODY_KNOWS}` }

/** What differs from all agreeing: of the stored message, of the ledgers, and of what others heard. */
type Case = readonly [
  what: string,
  found: readonly string[],
  differs?: {
    readonly message?: Partial<StoredMessage>
    readonly ledgers?: Partial<Ledgers>
    readonly received?: readonly Received[]
  },
]

const CASES: readonly Case[] = [
  ['everyone agrees', []],
  ['a post came twice under one id', [], { received: [POST, POST] }],
  [
    'an acknowledged message is gone',
    ['lost', 'toldSentButNotCarried'],
    { ledgers: { messages: new Map(), events: [], carried: new Map() } },
  ],
  [
    'a message was carried twice',
    ['carriedTwice'],
    { ledgers: { carried: new Map([['msg_1', 2]]) } },
  ],
  [
    'sent was said of what nobody carried',
    ['claimedButNotCarried', 'toldSentButNotCarried'],
    { ledgers: { carried: new Map() } },
  ],
  [
    'failed was said of what was carried',
    ['carriedButNotSaid', 'failedUnrefused', 'withoutEvent'],
    { message: { status: 'failed' } },
  ],
  [
    'nobody knows of a message that the network has no secret about',
    ['carriedButNotSaid', 'uncertainWithoutReason'],
    { message: { status: 'uncertain' } },
  ],
  [
    'nobody knows of a message that the network says nothing of',
    [],
    { message: { status: 'uncertain', ...OF_NOBODY } },
  ],
  ['an event was never written', ['withoutEvent'], { ledgers: { events: [] } }],
  [
    'an event has no delivery',
    ['withoutDelivery'],
    { ledgers: { events: [{ ...EVENT, deliveries: 0, succeeded: 0 }] } },
  ],
  ['an event did not arrive', ['notReceived'], { received: [] }],
  ['a fact came under two ids', ['underTwoIds'], { received: [POST, { ...POST, id: 'evt_2' }] }],
  ['a post was not signed', ['unsigned'], { received: [{ ...POST, isSigned: false }] }],
]

const notEmpty = (lists: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(lists).flatMap(([name, list]) => (list.length > 0 ? [name] : []))

test.each(CASES)('the ledgers are compared where %s', (_, found, differs = {}) => {
  const { message, ledgers, received = [POST] } = differs
  const messages = new Map([['msg_1', { ...MESSAGE, ...message }]])
  const all = { ...AGREED, messages, ...ledgers }

  const lists = { ...disagreements(all, [TOLD], [received]), ...unexplained(all) }

  expect(notEmpty(lists).sort()).toEqual([...found].sort())
})

const SEND: Send = {
  kind: 'held',
  text: 'hello',
  sendAt: 0,
  messageId: 'msg_1',
  wish: 'approve',
  finalText: 'hello',
  answer: { status: 200, tries: 1 },
}
const ROW = { id: 'msg_1', text: 'hello', errorCode: null }
const LEFT = new Map([['msg_1', { text: 'hello', at: 10 }]])
const STAYED = new Map<string, { text: string; at: number }>()
const ANNOUNCED = new Set(['msg_1 approval.requested', 'msg_1 approval.resolved'])
const FOUND: Found = { rows: new Map([['msg_1', ROW]]), carried: LEFT, announced: ANNOUNCED }
const stopped = (errorCode: string) => new Map([['msg_1', { ...ROW, errorCode }]])

type Waited = readonly [
  what: string,
  faults: readonly string[],
  send?: Partial<Send>,
  found?: Partial<Found>,
]

const WAITED: readonly Waited[] = [
  ['an approved message left', []],
  ['an approved message stayed', ['notLeft'], {}, { carried: STAYED }],
  [
    'a message left that is not decided on',
    ['leftUnapproved'],
    { wish: null, answer: null },
    { announced: new Set(['msg_1 approval.requested']) },
  ],
  ['a denied message left', ['leftUnapproved', 'notStopped'], { wish: 'deny' }],
  ['a denied message stayed', [], { wish: 'deny' }, { carried: STAYED, rows: stopped('denied') }],
  [
    'a message left with the text from before its approval',
    ['leftWithOtherText'],
    { finalText: 'hello, mended' },
    { rows: new Map([['msg_1', { ...ROW, text: 'hello, mended' }]]) },
  ],
  [
    'a canceled message left',
    ['leftThoughCanceled'],
    { kind: 'scheduled', wish: 'cancel' },
    { rows: stopped('canceled') },
  ],
  [
    'a cancellation came too late',
    [],
    { kind: 'scheduled', wish: 'cancel', answer: { status: 409, tries: 1 } },
  ],
  ['a decision was refused at once', ['oddAnswer'], { answer: { status: 409, tries: 1 } }],
  [
    'a message was canceled that nobody canceled',
    ['notLeft', 'stoppedUnasked'],
    { kind: 'scheduled', wish: null },
    { carried: STAYED, rows: stopped('canceled') },
  ],
  ['a message left before its time', ['leftTooEarly'], { sendAt: 11 }],
  ['a message left in quiet hours', ['leftInQuietHours'], { kind: 'quiet', wish: null }],
  ['a message is gone', ['changed'], {}, { rows: new Map() }],
  ['nobody was asked for an approval', ['approvalNotAnnounced'], {}, { announced: new Set() }],
  ['a refused message is there', ['refusedButKept'], { messageId: null, wish: null }],
]

test.each(WAITED)('sends that wait are compared where %s', (_, faults, send = {}, found = {}) => {
  const lists = disobeyed({ ...FOUND, ...found }, [{ ...SEND, ...send }])

  expect(notEmpty(lists).sort()).toEqual([...faults].sort())
})
