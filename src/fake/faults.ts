// Faults that a test asks for, each a number of times: of devices, of lines, and of the receivers of webhooks.

import { Type } from 'typebox'

import { enumOf, objectSchema, type Shape } from '../api/schema.ts'
import { EventName } from '../api/webhooks.ts'
import type { Issue } from '../domain/errors.ts'
import { DEVICE_FAULTS, PERSON, type Behaviour } from '../lines/kinds/simulated/behaviour.ts'
import type { PostResult } from '../webhooks/post.ts'

/** The keys of the record. */
export const DEVICE_FAULT_NAMES = Object.keys(DEVICE_FAULTS) as (keyof typeof DEVICE_FAULTS)[]
const RECEIVER_FAULTS = [
  'receiver_fails',
  'receiver_refuses',
  'receiver_hangs',
  'answer_lost',
  'delivered_twice',
] as const
const FAULTS = [...DEVICE_FAULT_NAMES, 'line_off', ...RECEIVER_FAULTS] as const

const SECONDS_MAX = 31_536_000
export const TIMES_MAX = 1_000_000
/** Faults that are not over at one time. */
export const FAULTS_MAX = 1_000

export const Fault = objectSchema('FakeFault', {
  fault: enumOf(
    'FakeFaultName',
    FAULTS,
    'A send: `uncertain` (it arrives, and nobody can confirm it), `lost` (the same, and it does not arrive), ' +
      '`refuses`, `slow`, `drops_line` (for 5 seconds). `line_off`. A webhook call: `receiver_fails` (with ' +
      '`status`), `receiver_refuses` the connection, `receiver_hangs` (times out), `answer_lost` (it has the ' +
      'event, and the relay does not know), `delivered_twice`.',
  ),
  times: Type.Optional(
    Type.Integer({ minimum: 1, maximum: TIMES_MAX, default: 1, description: 'How often.' }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SECONDS_MAX,
      description:
        'Of `line_off`: until then, else until the faults are cleared. Of `slow`: 30 if left out.',
    }),
  ),
  to: Type.Optional(Type.String({ maxLength: 255, description: 'Only sends to this handle.' })),
  line: Type.Optional(
    Type.String({ maxLength: 255, description: 'Only this line, by its number.' }),
  ),
  url: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'Only calls of URLs with this.' }),
  ),
  event: Type.Optional(EventName),
  status: Type.Optional(
    Type.Integer({ minimum: 300, maximum: 599, default: 500, description: 'Of `receiver_fails`.' }),
  ),
})
export type Fault = Shape<typeof Fault>

/** Faults that are not over yet: `times` is how often they still happen. */
export const Faults = objectSchema('FakeFaults', {
  data: Type.Array(objectSchema('FakeFaultLeft', Fault.properties)),
})

/** `until` is for a line that is off: null until it is cleared. */
export type ActiveFault = { readonly fault: Fault; readonly until: number | null }

const OF_SENDS = ['fault', 'times', 'to', 'line']
const OF_CALLS = ['fault', 'times', 'url', 'event']

/** The fields that don't go with this fault. */
export function issuesOfFault(fault: Fault, path: string): readonly Issue[] {
  const allowed = fieldsOf(fault)
  return Object.keys(fault)
    .filter((name) => !allowed.includes(name))
    .map((name) => {
      return { path: `${path}${name}`, message: `says nothing about ${fault.fault}` }
    })
}

function fieldsOf(given: Fault): readonly string[] {
  const { fault } = given
  if (fault === 'line_off') return ['fault', 'line', 'seconds']
  if (fault === 'slow') return [...OF_SENDS, 'seconds']
  if (fault === 'receiver_fails') return [...OF_CALLS, 'status']
  return isOfReceiver(given) ? OF_CALLS : OF_SENDS
}

export function isOfDevice({ fault }: Fault): boolean {
  return fault in DEVICE_FAULTS
}

export function isOfReceiver({ fault }: Fault): boolean {
  return RECEIVER_FAULTS.some((name) => name === fault)
}

/** The behavior of a device with this fault; null if the fault isn't of a device. */
export function behaviourWith({ fault, seconds }: Fault): Behaviour | null {
  if (fault === 'slow' && seconds !== undefined) return { ...PERSON, acceptMs: seconds * 1_000 }
  const behaviours: { readonly [fault in Fault['fault']]?: Behaviour } = DEVICE_FAULTS
  return behaviours[fault] ?? null
}

/** The result of a call that meets this fault; null if the receiver's own answer counts. */
export function resultWith({ fault, status = 500 }: Fault): PostResult | null {
  const failed = { result: 'failed', isPrivateTarget: false } as const
  if (fault === 'receiver_refuses') return { ...failed, error: 'connection_refused' }
  if (fault === 'receiver_hangs') return { ...failed, error: 'timeout' }
  if (fault === 'answer_lost') return { ...failed, error: 'connection_reset' }
  if (fault !== 'receiver_fails') return null
  const answered = { result: 'answered', statusCode: status, isPrivateTarget: false } as const
  return { ...answered, excerpt: null, document: null, retryAfterSeconds: null }
}
