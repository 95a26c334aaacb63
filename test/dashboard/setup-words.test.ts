import { expect, test } from 'bun:test'

import { passwordProblem, strengthWords } from '../../src/dashboard/words/password.ts'
import {
  SETUP_STEPS,
  stepBeside,
  stepNamed,
  stepsFor,
} from '../../src/dashboard/words/setup-steps.ts'
import { isPasswordLength } from '../../src/domain/value-kind.ts'
import { openAccess } from '../access/access-rig.ts'
import { KINDS } from './samples.ts'

test('setup starts with the step that the relay remembers first', async () => {
  const { access, claim } = openAccess()
  await claim('correct horse')

  expect(access.setupStep()).toBe(SETUP_STEPS[0].name)
})

test('each step leads to the next, and the last one to the end', () => {
  const steps = stepsFor({ drivers: ['mac', 'simulated'], kinds: KINDS })
  const names = steps.map(({ name }) => name)

  expect(names.map((name) => stepBeside(name, 1, steps))).toEqual([
    'line',
    'message',
    'alerts',
    'key',
    null,
  ])
  expect(names.map((name) => stepBeside(name, -1, steps))).toEqual([
    null,
    'permissions',
    'line',
    'message',
    'alerts',
  ])
})

test('where no Mac asks for permissions, setup starts with the line', () => {
  const steps = stepsFor({ drivers: ['simulated'], kinds: KINDS })

  expect(steps.map(({ name }) => name)).toEqual(['line', 'message', 'alerts', 'key'])
  expect(stepNamed('permissions', steps).name).toBe('line')
  expect(stepBeside('line', -1, steps)).toBeNull()
})

test('a step of another version starts setup over', () => {
  const steps = stepsFor({ drivers: ['mac'], kinds: KINDS })

  expect(stepNamed('message', steps).name).toBe('message')
  expect(stepNamed('telephone', steps).name).toBe('permissions')
})

test('how good a password is, is a matter of its length', () => {
  const lengths = [0, 1, 11, 12, 15, 16, 19, 20, 200]

  expect(lengths.map((length) => strengthWords('x'.repeat(length)))).toEqual([
    'At least 12 characters. A few words in a row work well.',
    'Too short: 11 more needed.',
    'Too short: 1 more needed.',
    'Fair. Longer is harder to guess.',
    'Fair. Longer is harder to guess.',
    'Good.',
    'Good.',
    'Very good.',
    'Very good.',
  ])
})

test('a password is refused beside its field before the relay would refuse it', () => {
  expect(
    ['12345678901', '123456789012', 'x'.repeat(200), 'x'.repeat(201)].map(passwordProblem),
  ).toEqual(['Use at least 12 characters.', null, null, 'Use at most 200 characters.'])
})

test('the page and the relay agree on what a password is', () => {
  const passwords = [
    'é'.repeat(11),
    '😀'.repeat(11),
    '😀'.repeat(12),
    'a'.repeat(200),
    '😀'.repeat(201),
  ]

  expect(passwords.map((password) => passwordProblem(password) === null)).toEqual(
    passwords.map(isPasswordLength),
  )
})
