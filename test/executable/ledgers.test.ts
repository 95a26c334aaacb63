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
  at: 0,
}
const AGREED: Ledgers = {
  messages: new Map([['msg_1', MESSAGE]]),
  events: [EVENT],
  carried: new Map([['msg_1', 1]]),
  damage: [],
}

type Case = {
  readonly what: string
  readonly ledgers?: Partial<Ledgers>
  readonly told?: readonly Told[]
  readonly received?: readonly Received[]
  readonly found: readonly string[]
}

const CASES: readonly Case[] = [
  { what: 'everyone agrees', found: [] },
  { what: 'a post came twice under one id', received: [POST, POST], found: [] },
  {
    what: 'an acknowledged message is gone',
    ledgers: { messages: new Map(), events: [], carried: new Map() },
    found: ['lost', 'toldSentButNotCarried'],
  },
  {
    what: 'a message was carried twice',
    ledgers: { carried: new Map([['msg_1', 2]]) },
    found: ['carriedTwice'],
  },
  {
    what: 'sent was said of what nobody carried',
    ledgers: { carried: new Map() },
    found: ['claimedButNotCarried', 'toldSentButNotCarried'],
  },
  {
    what: 'failed was said of what was carried',
    ledgers: { messages: new Map([['msg_1', { ...MESSAGE, status: 'failed' }]]) },
    found: ['carriedButNotSaid', 'failedUnrefused', 'withoutEvent'],
  },
  {
    what: 'nobody knows of a message that the network has no secret about',
    ledgers: { messages: new Map([['msg_1', { ...MESSAGE, status: 'uncertain' }]]) },
    found: ['carriedButNotSaid', 'uncertainWithoutReason'],
  },
  {
    what: 'nobody knows of a message that the network says nothing of',
    ledgers: {
      messages: new Map([
        ['msg_1', { ...MESSAGE, status: 'uncertain', handle: `+1202555${NOBODY_KNOWS}` }],
      ]),
    },
    found: [],
  },
  {
    what: 'an event was never written',
    ledgers: { events: [] },
    found: ['withoutEvent'],
  },
  {
    what: 'an event has no delivery',
    ledgers: { events: [{ ...EVENT, deliveries: 0, succeeded: 0 }] },
    found: ['withoutDelivery'],
  },
  { what: 'an event did not arrive', received: [], found: ['notReceived'] },
  {
    what: 'a fact came under two ids',
    received: [POST, { ...POST, id: 'evt_2' }],
    found: ['underTwoIds'],
  },
  { what: 'a post was not signed', received: [{ ...POST, isSigned: false }], found: ['unsigned'] },
]

for (const { what, ledgers = {}, told = [TOLD], received = [POST], found } of CASES) {
  test(`the ledgers are compared where ${what}`, () => {
    const all = { ...AGREED, ...ledgers }
    const lists = { ...disagreements(all, told, [received]), ...unexplained(all) }

    const notEmpty = Object.entries(lists).filter(([, list]) => list.length > 0)
    expect(notEmpty.map(([name]) => name).sort()).toEqual([...found].sort())
  })
}

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

type Waited = {
  readonly what: string
  readonly send?: Partial<Send>
  readonly found?: Partial<Found>
  readonly faults: readonly string[]
}

const WAITED: readonly Waited[] = [
  { what: 'an approved message left', faults: [] },
  { what: 'an approved message stayed', found: { carried: STAYED }, faults: ['notLeft'] },
  {
    what: 'a message left that is not decided on',
    send: { wish: null, answer: null },
    found: { announced: new Set(['msg_1 approval.requested']) },
    faults: ['leftUnapproved'],
  },
  {
    what: 'a denied message left',
    send: { wish: 'deny' },
    faults: ['leftUnapproved', 'notStopped'],
  },
  {
    what: 'a denied message stayed',
    send: { wish: 'deny' },
    found: { carried: STAYED, rows: stopped('denied') },
    faults: [],
  },
  {
    what: 'a message left with the text from before its approval',
    send: { finalText: 'hello, mended' },
    found: { rows: new Map([['msg_1', { ...ROW, text: 'hello, mended' }]]) },
    faults: ['leftWithOtherText'],
  },
  {
    what: 'a canceled message left',
    send: { kind: 'scheduled', wish: 'cancel' },
    found: { rows: stopped('canceled') },
    faults: ['leftThoughCanceled'],
  },
  {
    what: 'a cancellation came too late',
    send: { kind: 'scheduled', wish: 'cancel', answer: { status: 409, tries: 1 } },
    faults: [],
  },
  {
    what: 'a decision was refused at once',
    send: { answer: { status: 409, tries: 1 } },
    faults: ['oddAnswer'],
  },
  {
    what: 'a message was canceled that nobody canceled',
    send: { kind: 'scheduled', wish: null },
    found: { carried: STAYED, rows: stopped('canceled') },
    faults: ['notLeft', 'stoppedUnasked'],
  },
  { what: 'a message left before its time', send: { sendAt: 11 }, faults: ['leftTooEarly'] },
  {
    what: 'a message left in quiet hours',
    send: { kind: 'quiet', wish: null },
    faults: ['leftInQuietHours'],
  },
  { what: 'a message is gone', found: { rows: new Map() }, faults: ['changed'] },
  {
    what: 'nobody was asked for an approval',
    found: { announced: new Set() },
    faults: ['approvalNotAnnounced'],
  },
  {
    what: 'a refused message is there',
    send: { messageId: null, wish: null },
    faults: ['refusedButKept'],
  },
]

for (const { what, send = {}, found = {}, faults } of WAITED) {
  test(`sends that wait are compared where ${what}`, () => {
    const lists = disobeyed({ ...FOUND, ...found }, [{ ...SEND, ...send }])

    const notEmpty = Object.entries(lists).filter(([, list]) => list.length > 0)
    expect(notEmpty.map(([name]) => name).sort()).toEqual([...faults].sort())
  })
}
