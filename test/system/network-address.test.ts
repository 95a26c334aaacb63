import { expect, test } from 'bun:test'

import {
  cachedLookup,
  isOwnAddress,
  networkOf,
  systemLookup,
} from '../../src/system/network-address.ts'
import { TestClock } from '../support/test-clock.ts'

test('the system resolves localhost to loopback, and no name that cannot be one', async () => {
  const found = await systemLookup('localhost')
  // A label has 63 letters at most: no server is asked.
  const unknown = await systemLookup(`${'a'.repeat(64)}.invalid`)

  expect(found).toMatchObject({ answer: 'addresses' })
  expect(unknown.answer).not.toBe('addresses')
})

test('a name is asked once in five seconds, and a failure is not remembered', async () => {
  const clock = new TestClock()
  const asked: string[] = []
  const lookup = cachedLookup(async (name) => {
    asked.push(name)
    if (name === 'gone.example') return { answer: 'no_such_name' }
    return { answer: 'addresses', addresses: ['192.0.2.1'] }
  }, clock)

  for (const name of ['a.example', 'a.example', 'gone.example', 'gone.example']) await lookup(name)
  await clock.advance(5_000)
  await lookup('a.example')

  expect(asked).toEqual(['a.example', 'gone.example', 'gone.example', 'a.example'])
})

test('loopback is of this machine; a documentation address, and a name that looks like one, are not', () => {
  const own = ['127.0.0.1', '127.9.9.9', '::1']
  const others = ['192.0.2.1', '2001:db8::1']
  const names = ['127.a', '127.0.0.1.a', '127.1', '127.0.0.256', '::1.a', '', 'localhost']

  expect([...own, ...others, ...names].filter(isOwnAddress)).toEqual(own)
})

const NETWORKS = {
  '203.0.113.7': '203.0.113.7',
  '::ffff:203.0.113.7': '203.0.113.7',
  '::FFFF:cb00:7107': '203.0.113.7',
  '2001:db8:1:2::3': '2001:db8:1:2::/64',
  '2001:0DB8:0001:0002:ffff:0:0:1': '2001:db8:1:2::/64',
  '2001:db8::1': '2001:db8:0:0::/64',
  '2001:db8:1:2:3:4:5::': '2001:db8:1:2::/64',
  'fe80::1%eth0': 'fe80:0:0:0::/64',
  '::1': '0:0:0:0::/64',
  'no address': 'no address',
}

test('an IPv4 address is a network, and of IPv6 the first 64 bits', () => {
  const found = Object.keys(NETWORKS).map((address) => [address, networkOf(address)])

  expect(Object.fromEntries(found)).toEqual(NETWORKS)
})
