import type { About } from '../../api/dashboard.ts'

/** The steps of setup, with the names that the relay stores. */
export const SETUP_STEPS = [
  { name: 'permissions', title: 'Permissions' },
  { name: 'line', title: 'Line' },
  { name: 'message', title: 'First text' },
  { name: 'alerts', title: 'Alerts' },
  { name: 'key', title: 'Key' },
] as const
type SetupStep = (typeof SETUP_STEPS)[number]
export type StepName = SetupStep['name']

export type Steps = readonly [SetupStep, ...SetupStep[]]

/** The steps that apply to this relay's kinds of line. */
export function stepsFor({ drivers, kinds }: Pick<About, 'drivers' | 'kinds'>): Steps {
  const [, ...others] = SETUP_STEPS
  const isAsked = kinds.some((kind) => kind.needs_permissions && drivers.includes(kind.name))
  return isAsked ? SETUP_STEPS : others
}

/** The step with this name, or the first if it doesn't apply. */
export function stepNamed(name: string, steps: Steps): SetupStep {
  return steps.find((step) => step.name === name) ?? steps[0]
}

/** The step before (-1) or after (1) it; null beyond either end. */
export function stepBeside(name: StepName, distance: 1 | -1, steps: Steps): StepName | null {
  const index = steps.findIndex((step) => step.name === name)
  return steps[index + distance]?.name ?? null
}
