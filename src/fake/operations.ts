// The operations that only the relay of `hookline fake` has, all below `/api/v1/simulated`. `bindings.ts` has their
// handlers.

import { Type } from 'typebox'

import { CHANGE, READ, rows } from '../api/operation.ts'
import { objectSchema, text, time } from '../api/schema.ts'
import { OutboxMessage } from '../lines/kinds/simulated/phones.ts'
import { CallsQuery, listsOf, OutboxQuery } from './assertions.ts'
import { FakeWebhookCall } from './calls.ts'
import { Fault, Faults } from './faults.ts'
import { PeopleFile } from './people-file.ts'

const SHARED = { callers: 'keys', tag: 'Fake', limits: [], scope: 'any' } as const
/** Rows spread one of these: a fake asks nobody for a password, and keeps no audit trail of its own calls. */
const LOOK = { ...SHARED, ...READ } as const
const ACT = { ...SHARED, ...CHANGE, password: 'no', audit: null } as const

const FakeTime = objectSchema('FakeTime', {
  now: time('The time of this relay.'),
  is_frozen: Type.Boolean({ description: 'True if it moves only by a call.' }),
  in_flight: Type.Array(Type.String(), {
    description: 'Webhooks that have not answered yet. The clock did not wait for them any longer.',
  }),
})

const FakeTimeChange = Type.Partial(
  objectSchema('FakeTimeChange', {
    set: time('Move on to this time. Nothing goes back: reset the relay instead.'),
    advance: text('Move on by a duration: seconds, or such as 90s, 15m, 73h, 7d.', '73h'),
    jump: text(
      'Set only the wall clock, forward or back, as a wrong time server would: the relay is in doubt. As -2h.',
      '2h',
    ),
    freeze: Type.Boolean({ description: 'False lets it run with the real time.' }),
  }),
  { minProperties: 1 },
)

const Named = Type.Partial(
  objectSchema('FakeSnapshot', {
    name: text('The name of a snapshot; `start` if left out.', 'full'),
  }),
)

const Restored = objectSchema('FakeSnapshotDone', {
  name: Type.String(),
  now: time('The time then.'),
})

/** A file of people, or its schema. */
const AnyObject = Type.Unknown()

export const FAKE_OPERATIONS = rows({
  getFakeClock: {
    ...LOOK,
    route: 'GET /simulated/clock',
    summary: "Read the fake's clock",
    description: 'Its time, and which webhooks have no answer.',
    answers: { 200: FakeTime },
  },
  moveFakeClock: {
    ...ACT,
    route: 'POST /simulated/clock',
    summary: "Move the fake's clock",
    description:
      'Answers when everything that was due is done, or after 60 real seconds with what is still in flight.',
    body: FakeTimeChange,
    answers: { 200: FakeTime },
  },
  resetFake: {
    ...ACT,
    route: 'POST /simulated/reset',
    summary: 'Go back to the start, or to a snapshot',
    description: 'Messages, people, webhooks, keys, settings and the clock are as they were then.',
    body: Named,
    isBodyOptional: true,
    answers: { 200: Restored },
    errors: ['not_found'],
  },
  snapshotFake: {
    ...ACT,
    route: 'POST /simulated/snapshots',
    summary: 'Keep the present state under a name',
    description: 'It is kept until the fake ends.',
    body: Named,
    answers: { 200: Restored },
  },
  restartFake: {
    ...ACT,
    route: 'POST /simulated/restart',
    summary: 'Restart the relay as after a crash',
    description:
      'It finds what a killed process would leave: the last commit, and what people got on their phones.',
    answers: { 200: FakeTime },
  },
  listOutbox: {
    ...LOOK,
    route: 'GET /simulated/outbox',
    summary: 'List what people have on their phones',
    description:
      'The newest 1,000 messages that lines sent, in the order in which people got them. With `count` or `wait` it ' +
      'answers 408 with the messages so far if there are too few in time.',
    query: OutboxQuery,
    answers: listsOf('Outbox', OutboxMessage),
  },
  listWebhookCalls: {
    ...LOOK,
    route: 'GET /simulated/webhook-calls',
    summary: 'List calls to webhooks',
    description:
      'The newest 1,000 posts with their answers, oldest first. It waits as the outbox does.',
    query: CallsQuery,
    answers: listsOf('FakeWebhookCalls', FakeWebhookCall),
  },
  getFakePeople: {
    ...LOOK,
    route: 'GET /simulated/people',
    summary: 'Read the file of people',
    description: 'Who answers what.',
    answers: { 200: AnyObject },
  },
  replaceFakePeople: {
    ...ACT,
    route: 'PUT /simulated/people',
    summary: 'Replace the file of people',
    description: 'Everybody is in their first state again, and the faults are those of the file.',
    body: PeopleFile,
    answers: { 200: AnyObject },
  },
  getFakePeopleSchema: {
    ...LOOK,
    route: 'GET /simulated/people/schema',
    summary: 'Read the JSON Schema of files of people',
    description: 'For an editor that checks them.',
    answers: { 200: AnyObject },
  },
  listFaults: {
    ...LOOK,
    route: 'GET /simulated/faults',
    summary: 'List faults that are not over',
    description: 'In the order in which they were added.',
    answers: { 200: Faults },
  },
  addFault: {
    ...ACT,
    route: 'POST /simulated/faults',
    summary: 'Let something fail',
    description: 'Answers with all faults that are not over.',
    body: Fault,
    answers: { 200: Faults },
  },
  clearFaults: {
    ...ACT,
    route: 'DELETE /simulated/faults',
    summary: 'End all faults',
    description: 'Lines are on again.',
    answers: { 200: Faults },
  },
})
