// The order in which a head upgrades its boxes: one box first, then a tenth of them at a time. A batch starts once the
// one before is back with its lines. The first failure pauses the rollout until the owner resumes or cancels it.

import { Type } from 'typebox'

import { ACTOR_KINDS } from '../domain/audit.ts'
import type { BoxId } from '../domain/ids.ts'
import { lineName, type Line } from '../domain/line.ts'
import { MINUTE_MS } from '../domain/time.ts'
import { lineId, listOf, nullable, oneOf, sentence, text, type Wire, word } from './wire-values.ts'
import { type Hello, parsed } from './wire.ts'

const step = Type.Object({
  box: Type.Unsafe<BoxId>(Type.String({ pattern: '^box_[0-9a-z]{1,50}$' })),
  state: oneOf(['waiting', 'upgrading', 'upgraded', 'failed']),
  /** Orders so far. The last one is under way if the box is upgrading. */
  orders: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  /** The box's version, and its lines that were online, when it was ordered to upgrade. */
  from: nullable(word),
  lines: listOf(lineId, 1_000),
  /** Monotonic time of the order, or of the first turn at which the box was absent; null before either. */
  since: nullable(Type.Number()),
  problem: nullable(sentence),
})
export type Step = Wire<typeof step>

const rollout = Type.Object({
  id: word,
  version: word,
  /** Executables for platforms such as `linux-x64`: the platform names the file. */
  files: listOf(
    Type.Object({
      platform: Type.String({ pattern: '^[a-z0-9-]{1,50}$' }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      size: Type.Integer({ minimum: 0, maximum: 2 ** 31 }),
    }),
    20,
  ),
  /** The release's file of checksums, and its signature. */
  sums: text(100_000),
  signature: nullable(text(10_000)),
  isUnverified: Type.Boolean(),
  origin: Type.Object({
    actor: Type.Object({ kind: oneOf(ACTOR_KINDS), id: nullable(word) }),
    address: nullable(word),
    requestId: nullable(word),
  }),
  steps: listOf(step, 1_000),
})
export type Rollout = Wire<typeof rollout>

/** The rollout that a head stored; null if there is none, or if its form is wrong. */
export function storedRollout(json: string | null): Rollout | null {
  return json === null ? null : parsed(rollout, json)
}

export type BoxView = {
  readonly isReachable: boolean
  readonly version: string | null
  readonly platform: string | null
  readonly upgrade: Hello['upgrade'] | null
  /** The box's enabled lines. */
  readonly lines: readonly {
    readonly line: Pick<Line, 'id' | 'driver' | 'key' | 'label' | 'number'>
    readonly isOnline: boolean
  }[]
}

/** Null for a box that was removed. */
export type ViewOf = (box: BoxId) => BoxView | null

/** Time for an upgrade, and for an absent box to be back for its turn. */
const PATIENCE_MS = 30 * MINUTE_MS
const BATCHES = 10

/** The next state of the rollout; the same object if nothing changes. */
export function advance(rollout: Rollout, viewOf: ViewOf, now: number): Rollout {
  const nextSteps = rollout.steps.flatMap((step) => {
    const view = viewOf(step.box)
    // A removed box leaves the rollout, but its failure stays until the owner decides.
    if (view === null) return step.state === 'failed' ? [step] : []
    return [nextStep(step, view, { rollout, now })]
  })
  const isBusy = nextSteps.some(({ state }) => state === 'upgrading' || state === 'failed')
  const steps = isBusy ? nextSteps : startBatch(nextSteps, viewOf, now)
  const isSame =
    steps.length === rollout.steps.length && steps.every((step, at) => step === rollout.steps[at])
  return isSame ? rollout : { ...rollout, steps }
}

function nextStep(
  step: Step,
  view: BoxView,
  { rollout, now }: { readonly rollout: Rollout; readonly now: number },
): Step {
  if (isOver(step)) return step
  const isThere = hasVersion(view, rollout.version)
  const offline = view.lines.filter((one) => !one.isOnline && step.lines.includes(one.line.id))
  if (isThere && offline.length === 0) return { ...step, state: 'upgraded' }
  if (step.state === 'waiting' && view.isReachable) {
    return step.since === null ? step : { ...step, since: null }
  }
  const problem = problemOf(view, rollout, step)
  if (problem !== null) return failed(step, problem)
  if (step.since === null || now - step.since < PATIENCE_MS) return step
  const names = offline.map(({ line }) => lineName(line)).join(', ')
  if (isThere) return failed(step, `It has the new version, and is offline with ${names}.`)
  return failed(step, view.isReachable ? SLOW : AWAY)
}

const SLOW = 'It was not done within 30 minutes.'
const AWAY = 'It has not been reached for 30 minutes.'

function isOver({ state }: Step): boolean {
  return state === 'upgraded' || state === 'failed'
}

/** True if the box has the version for good: until its upgrade is done or has failed, it may roll back. */
function hasVersion({ isReachable, version, upgrade }: BoxView, wanted: string): boolean {
  return isReachable && version === wanted && (!upgrade || upgrade.problem !== null)
}

function problemOf({ upgrade }: BoxView, rollout: Rollout, step: Step): string | null {
  const isOfOrder = step.state === 'upgrading' && upgrade?.order === orderOf(rollout, step)
  return isOfOrder ? upgrade.problem : null
}

/** Starts waiting boxes. An absent box is passed over, and has its turn once it is back. */
function startBatch(steps: readonly Step[], viewOf: ViewOf, now: number): readonly Step[] {
  const isProven = steps.some(({ state }) => state === 'upgraded')
  let places = isProven ? Math.ceil(steps.length / BATCHES) : 1
  return steps.map((step) => {
    const view = viewOf(step.box)
    if (step.state !== 'waiting' || view === null || places === 0) return step
    if (!view.isReachable) return step.since === null ? { ...step, since: now } : step
    places -= 1
    const lines = view.lines.flatMap(({ line, isOnline }) => (isOnline ? [line.id] : []))
    const started = { state: 'upgrading', orders: step.orders + 1, since: now } as const
    return { ...step, ...started, lines, from: view.version }
  })
}

/** Gives boxes that failed another turn. */
export function resume(rollout: Rollout): Rollout {
  const again = { state: 'waiting', since: null, problem: null } as const
  const steps = rollout.steps.map((step) =>
    step.state === 'failed' ? { ...step, ...again } : step,
  )
  return { ...rollout, steps }
}

export function failed(step: Step, problem: string): Step {
  return { ...step, state: 'failed', problem }
}

/** Id of a box's order, the same each time it is repeated: a box takes each order once. */
export function orderOf({ id }: Rollout, { orders }: Step): string {
  return `${id}.${orders}`
}
