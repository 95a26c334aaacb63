// The steps of the set-up, by the names under which the relay remembers them.

export const SETUP_STEPS = [
  { name: 'permissions', title: 'Permissions' },
  { name: 'line', title: 'Line' },
  { name: 'message', title: 'First text' },
  { name: 'key', title: 'Key' },
] as const
export type SetupStep = (typeof SETUP_STEPS)[number]
export type StepName = SetupStep['name']

/** The steps that a relay has, in their order. */
export type Steps = readonly [SetupStep, ...SetupStep[]]

/** The steps with something to do: only macOS has permissions to give. */
export function stepsFor(drivers: readonly string[]): Steps {
  const [, ...others] = SETUP_STEPS
  return drivers.includes('mac') ? SETUP_STEPS : others
}

/** The step of this name; the first where this relay has none of that name. */
export function stepNamed(name: string, steps: Steps): SetupStep {
  return steps.find((step) => step.name === name) ?? steps[0]
}

/** The step beside it; null beyond either end. */
export function stepBeside(name: StepName, distance: 1 | -1, steps: Steps): StepName | null {
  const place = steps.findIndex((step) => step.name === name)
  return steps[place + distance]?.name ?? null
}
