// The steps of the set-up, by the names under which the relay remembers them.

export const SETUP_STEPS = [
  { name: 'permissions', title: 'Permissions' },
  { name: 'line', title: 'Line' },
  { name: 'message', title: 'First text' },
  { name: 'key', title: 'Key' },
] as const
export type SetupStep = (typeof SETUP_STEPS)[number]
export type StepName = SetupStep['name']

/** The step of this name; the first where another version knew one that is gone. */
export function stepNamed(name: string): SetupStep {
  return SETUP_STEPS.find((step) => step.name === name) ?? SETUP_STEPS[0]
}

/** The step beside it; null beyond either end. */
export function stepBeside(name: StepName, distance: 1 | -1): StepName | null {
  const place = SETUP_STEPS.findIndex((step) => step.name === name)
  return SETUP_STEPS[place + distance]?.name ?? null
}
