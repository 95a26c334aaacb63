import { expect, test } from 'bun:test'

import { OF_PASSWORD, fieldError, type Failure } from '../../src/dashboard/api.ts'

const REFUSED: Failure = {
  code: 'invalid_request',
  message: 'url: must be absolute',
  status: 400,
  details: { issues: [{ path: 'url', message: 'must be absolute' }] },
  retryAfterSeconds: null,
}

test('a refusal is told beside the field that it names, and nowhere else', () => {
  expect(fieldError(REFUSED, 'url')).toBe('It must be absolute.')
  expect(fieldError(REFUSED, 'events')).toBeNull()
  expect(fieldError(REFUSED, 'events', 'url')).toBe('It must be absolute.')
})

test('a refusal that is about no field of the form is told beside none', () => {
  const full: Failure = { ...REFUSED, code: 'storage_full', details: {} }

  expect(fieldError(full, 'url')).toBeNull()
})

test('a refusal of the password speaks for itself, beside the field in which that is typed', () => {
  const wrong: Failure = { ...REFUSED, code: 'wrong_password', message: 'No.', details: {} }

  expect(fieldError(wrong, 'current', ...OF_PASSWORD)).toBe('No.')
  expect(fieldError(wrong, 'current')).toBeNull()
})

test('where nothing failed there is nothing to tell', () => {
  expect(fieldError(null, 'url')).toBeNull()
})
