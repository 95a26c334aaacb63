// The operations that only the relay of `hookline fake` has, all below `/api/v1/simulated`. `bindings.ts` has their
// handlers.

import { Type } from 'typebox'

import { CHANGE, READ, rows } from '../api/operation.ts'
import { objectSchema, text, time } from '../api/schema.ts'

const SHARED = { callers: 'keys', tag: 'Service', limits: [], scope: 'any' } as const
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

export const FAKE_OPERATIONS = rows({
  getFakeClock: {
    ...LOOK,
    route: 'GET /simulated/clock',
    summary: "Read the fake's clock",
    description: 'Only in `hookline fake`.',
    answers: { 200: FakeTime },
  },
  moveFakeClock: {
    ...ACT,
    route: 'POST /simulated/clock',
    summary: "Move the fake's clock",
    description:
      'Answers when everything that was due is done, or after 60 real seconds with what is still in flight. ' +
      'Only in `hookline fake`.',
    body: FakeTimeChange,
    answers: { 200: FakeTime },
  },
  resetFake: {
    ...ACT,
    route: 'POST /simulated/reset',
    summary: 'Go back to the start, or to a snapshot',
    description:
      'Messages, people, webhooks, keys, settings and the clock are as they were then. Only in `hookline fake`.',
    body: Named,
    isBodyOptional: true,
    answers: { 200: Restored },
    errors: ['not_found'],
  },
  snapshotFake: {
    ...ACT,
    route: 'POST /simulated/snapshots',
    summary: 'Keep the present state under a name',
    description: 'It is kept until the fake ends. Only in `hookline fake`.',
    body: Named,
    answers: { 200: Restored },
  },
  restartFake: {
    ...ACT,
    route: 'POST /simulated/restart',
    summary: 'Restart the relay as after a crash',
    description:
      'It finds what a killed process would leave: the last commit, and what people got on their phones. Only in ' +
      '`hookline fake`.',
    answers: { 200: FakeTime },
  },
})
