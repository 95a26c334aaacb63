import { expect, test } from 'bun:test'

import { fieldError, otherFailure } from '../../src/dashboard/field-error.ts'
import type { Failure } from '../../src/dashboard/request.ts'

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
  expect(otherFailure(REFUSED, ['url', 'events'])).toBeNull()
})

test('a refusal that is about no field of the form is told as a whole', () => {
  const full: Failure = { ...REFUSED, code: 'storage_full', details: {} }

  expect(fieldError(full, 'url')).toBeNull()
  expect(otherFailure(full, ['url'])).toBe(full)
  expect(otherFailure(REFUSED, ['description'])).toBe(REFUSED)
})

test('where nothing failed there is nothing to tell', () => {
  expect(fieldError(null, 'url')).toBeNull()
  expect(otherFailure(null, ['url'])).toBeNull()
})
