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
