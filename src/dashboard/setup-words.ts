import { needsPermissions } from './line-words.ts'
import type { About } from './resources.ts'

// Length is all that counts: rules about symbols and capitals make people choose what is easy to guess.
const LENGTH_MIN = 12
const LENGTH_MAX = 200
const FAIR_FROM = 16
const GOOD_FROM = 20

/** The strength of a password, in a sentence; its length is counted as the relay does. */
export function strengthWords(password: string): string {
  const length = lengthOf(password)
  if (length === 0) return `At least ${LENGTH_MIN} characters. A few words in a row work well.`
  if (length < LENGTH_MIN) return `Too short: ${LENGTH_MIN - length} more needed.`
  if (length < FAIR_FROM) return 'Fair. Longer is harder to guess.'
  if (length < GOOD_FROM) return 'Good.'
  return 'Very good.'
}

/** The error beside the field of a password that cannot be used; null where it can. */
export function passwordProblem(password: string): string | null {
  const length = lengthOf(password)
  if (length < LENGTH_MIN) return `Use at least ${LENGTH_MIN} characters.`
  return length > LENGTH_MAX ? `Use at most ${LENGTH_MAX} characters.` : null
}

function lengthOf(password: string): number {
  return Array.from(password).length
}

/** The steps of setup, by the names under which the relay remembers them. */
export const SETUP_STEPS = [
  { name: 'permissions', title: 'Permissions' },
  { name: 'line', title: 'Line' },
  { name: 'message', title: 'First text' },
  { name: 'key', title: 'Key' },
] as const
type SetupStep = (typeof SETUP_STEPS)[number]
export type StepName = SetupStep['name']

export type Steps = readonly [SetupStep, ...SetupStep[]]

/** The steps that apply to the kinds of line that this relay looks for. */
export function stepsFor(about: Pick<About, 'drivers' | 'kinds'>): Steps {
  const [, ...others] = SETUP_STEPS
  return needsPermissions(about) ? SETUP_STEPS : others
}

/** The step of this name; the first where the relay has no such step. */
export function stepNamed(name: string, steps: Steps): SetupStep {
  return steps.find((step) => step.name === name) ?? steps[0]
}

/** The step before (-1) or after (1) it; null beyond either end. */
export function stepBeside(name: StepName, distance: 1 | -1, steps: Steps): StepName | null {
  const index = steps.findIndex((step) => step.name === name)
  return steps[index + distance]?.name ?? null
}
