import { expect, test } from 'bun:test'

import { href, parseHash } from '../../src/dashboard/address.ts'

test('an address names a page, a thing on it, and what the page filters by', () => {
  expect(parseHash('#/webhooks/wh_1/dlv_2?status=exhausted')).toEqual({
    page: 'webhooks',
    path: ['wh_1', 'dlv_2'],
    query: { status: 'exhausted' },
  })
})

test('no address is the home page', () => {
  const home = { page: 'home', path: [], query: {} } as const

  expect(['', '#', '#/', '#/home'].map(parseHash)).toEqual([home, home, home, home])
})

test('an address that names no page is not taken for another one', () => {
  expect(['#/nonsense/x?y=z', '#/HOME'].map((hash) => parseHash(hash).page)).toEqual([null, null])
})

test('a link is read as it was made, whatever its parts hold', () => {
  const path = ['a/b', '50%', '?x#y', 'ü']
  const query = { handle: '+12025550147', text: 'a&b=c' }

  expect(parseHash(href('lines', path, query))).toEqual({ page: 'lines', path, query })
})

test('values that are empty are not in a link', () => {
  expect(href('home')).toBe('#/')
  expect(href('conversations', [], { line: null, handle: '' })).toBe('#/conversations')
})

test('a stray percent sign in an address breaks nothing', () => {
  expect(parseHash('#/lines/100%').path).toEqual(['100%'])
})
