import { expect, test } from 'bun:test'

import { SETUP_STEPS, stepBeside, stepNamed, stepsFor } from '../../src/dashboard/setup-words.ts'
import { openAccess } from '../access/access-rig.ts'

test('the set-up begins with the step that the relay remembers first', async () => {
  const { access, claim } = openAccess()
  await claim('correct horse')

  expect(access.setupStep()).toBe(SETUP_STEPS[0].name)
})

test('each step leads to the next, and the last one to the end', () => {
  const steps = stepsFor(['mac', 'simulated'])
  const names = steps.map(({ name }) => name)

  expect(names.map((name) => stepBeside(name, 1, steps))).toEqual(['line', 'message', 'key', null])
  expect(names.map((name) => stepBeside(name, -1, steps))).toEqual([
    null,
    'permissions',
    'line',
    'message',
  ])
})

test('where no Mac asks for permissions, the set-up begins with the line', () => {
  const steps = stepsFor(['simulated'])

  expect(steps.map(({ name }) => name)).toEqual(['line', 'message', 'key'])
  expect(stepNamed('permissions', steps).name).toBe('line')
  expect(stepBeside('line', -1, steps)).toBeNull()
})

test('a step of another version begins the set-up anew', () => {
  const steps = stepsFor(['mac'])

  expect(stepNamed('message', steps).name).toBe('message')
  expect(stepNamed('telephone', steps).name).toBe('permissions')
})
