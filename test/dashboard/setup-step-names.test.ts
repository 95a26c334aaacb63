import { expect, test } from 'bun:test'

import { SETUP_STEPS, stepBeside, stepNamed } from '../../src/dashboard/pages/setup-step-names.ts'
import { openAccess } from '../access/access-rig.ts'

test('the set-up begins with the step that the relay remembers first', async () => {
  const { access, claim } = openAccess()
  await claim('correct horse')

  expect(access.setupStep()).toBe(SETUP_STEPS[0].name)
})

test('each step leads to the next, and the last one to the end', () => {
  const names = SETUP_STEPS.map(({ name }) => name)

  expect(names.map((name) => stepBeside(name, 1))).toEqual(['line', 'message', 'key', null])
  expect(names.map((name) => stepBeside(name, -1))).toEqual([
    null,
    'permissions',
    'line',
    'message',
  ])
})

test('a step of another version begins the set-up anew', () => {
  expect(stepNamed('message').name).toBe('message')
  expect(stepNamed('telephone').name).toBe('permissions')
})
