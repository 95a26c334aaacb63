import { expect, test } from 'bun:test'

import { checkAddress, parseTarget, type TargetPolicy } from '../../src/webhooks/targets.ts'

/** Answers of both policies for an address: `-` never, `p` private and allowed, `o` open to both. */
const ADDRESSES: readonly (readonly [string, '-' | 'p' | 'o'])[] = [
  // Unspecified, broadcast, multicast and reserved: no single host.
  ['0.0.0.0', '-'],
  ['0.1.2.3', '-'],
  ['255.255.255.255', '-'],
  ['224.0.0.1', '-'],
  ['239.255.255.250', '-'],
  ['240.0.0.1', '-'],
  ['::', '-'],
  ['ff02::1', '-'],
  ['ff05::2', '-'],
  ['100::1', '-'],
  ['4000::1', '-'],
  // Link-local and metadata services.
  ['169.254.0.1', '-'],
  ['169.254.169.254', '-'],
  ['169.254.170.2', '-'],
  ['100.100.100.200', '-'],
  ['192.0.0.192', '-'],
  ['fe80::1', '-'],
  ['fe80::1%eth0', '-'],
  ['febf::1', '-'],
  ['fd00:ec2::254', '-'],
  ['fd00:0ec2:0000:0000:0000:0000:0000:0254', '-'],
  ['fd20:ce::254', '-'],
  // The same inside IPv6.
  ['::ffff:169.254.169.254', '-'],
  ['::ffff:a9fe:a9fe', '-'],
  ['::ffff:0:169.254.169.254', '-'],
  ['::169.254.169.254', '-'],
  ['64:ff9b::169.254.169.254', '-'],
  ['64:ff9b::a9fe:a9fe', '-'],
  ['64:ff9b:1::169.254.169.254', '-'],
  // A translator of the own network may read the address after 48, 56, 64 or 96 bits.
  ['64:ff9b:1:a9fe:a9:fe00:808:808', '-'],
  ['64:ff9b:1:a9fe:a9:fe00::', '-'],
  ['64:ff9b:1:a9:fe:a9fe:808:808', '-'],
  ['64:ff9b:1:0:a9:fea9:fe00:0', '-'],
  ['64:ff9b:1::', '-'],
  ['2002:a9fe:a9fe::1', '-'],
  ['2001:0:1:1:1:1:5601:5601', '-'],
  ['::ffff:0.0.0.0', '-'],
  ['::ffff:100.100.100.200', '-'],
  // The box itself and its own network.
  ['127.0.0.1', 'p'],
  ['127.255.255.254', 'p'],
  ['10.0.0.1', 'p'],
  ['10.255.255.255', 'p'],
  ['172.16.0.1', 'p'],
  ['172.31.255.255', 'p'],
  ['192.168.1.10', 'p'],
  ['100.64.0.1', 'p'],
  ['198.18.0.1', 'p'],
  ['192.0.2.1', 'p'],
  ['198.51.100.1', 'p'],
  ['203.0.113.1', 'p'],
  ['::1', 'p'],
  ['fc00::1', 'p'],
  ['fd12:3456::1', 'p'],
  ['fec0::1', 'p'],
  ['2001:db8::1', 'p'],
  ['::ffff:127.0.0.1', 'p'],
  ['::ffff:192.168.0.1', 'p'],
  ['64:ff9b::10.0.0.1', 'p'],
  ['64:ff9b:1::10.0.0.1', 'p'],
  ['64:ff9b:1:7f00:0:100:808:808', 'p'],
  ['2002:7f00:1::', 'p'],
  // The open internet.
  ['1.1.1.1', 'o'],
  ['172.15.255.255', 'o'],
  ['172.32.0.1', 'o'],
  ['192.169.0.1', 'o'],
  ['100.63.255.255', 'o'],
  ['100.128.0.1', 'o'],
  ['169.253.255.255', 'o'],
  ['223.255.255.255', 'o'],
  ['2606:4700:4700::1111', 'o'],
  ['::ffff:1.1.1.1', 'o'],
  ['64:ff9b::1.1.1.1', 'o'],
  ['64:ff9b:1::1.1.1.1', 'o'],
  ['64:ff9b:1:808:8:800::', 'o'],
]

for (const [address, expected] of ADDRESSES) {
  test(`${address} is ${nameOf(expected)}`, () => {
    const kinds = [kindOf(address, 'any-private'), kindOf(address, 'public')]

    expect(kinds).toEqual(EXPECTED[expected])
  })
}

test('every spelling of a loopback or metadata address is the address that it is', () => {
  const spellings = {
    'http://2130706433/': '127.0.0.1',
    'http://0x7f.1/': '127.0.0.1',
    'http://0x7f000001/': '127.0.0.1',
    'http://0177.0.0.1/': '127.0.0.1',
    'http://127.1/': '127.0.0.1',
    'http://127.0.0.1./': '127.0.0.1',
    'http://１２７.0.0.1/': '127.0.0.1',
    'http://①②⑦.0.0.1/': '127.0.0.1',
    'http://%31%32%37.0.0.1/': '127.0.0.1',
    'http://0/': '0.0.0.0',
    'http://0xA9FEA9FE/': '169.254.169.254',
    'http://2852039166/': '169.254.169.254',
    'http://0251.0376.0251.0376/': '169.254.169.254',
    'http://[::ffff:127.0.0.1]/': '::ffff:7f00:1',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]/': '::ffff:a9fe:a9fe',
    'http://[0000::1]/': '::1',
  }

  for (const [url, address] of Object.entries(spellings)) {
    expect([url, targetOf(url)?.address]).toEqual([url, address])
  }
})

test('a name is no address: it is looked up, `localhost.` with its dot too', () => {
  expect(targetOf('http://localhost./')?.address).toBeNull()
  expect(targetOf('http://metadata.google.internal/')?.address).toBeNull()
  expect(targetOf('https://example.com:8443/x?y#z')).toMatchObject({
    hostname: 'example.com',
    port: 8443,
    address: null,
  })
})

test('a url that is not absolute http, or carries a user, or has no port to go to, each get their own error', () => {
  const sentences = [
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    '/hooks',
    'example.com',
    '',
    'http://999.1.1.1/',
    'https://user:pass@example.com/',
    'https://user@example.com/',
    'https://example.com:0/',
  ].map((url) => parseTarget(url))

  expect(sentences.every((told) => typeof told === 'string')).toBeTrue()
})

test("the relay's own listener is never a target, whatever wraps its address", () => {
  const rules = {
    policy: () => 'any-private' as const,
    isOwnListener: (address: string, port: number) => address === '127.0.0.1' && port === 4665,
  }
  const listener = ['127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1']

  const atOwnPort = listener.map((address) => checkAddress(address, at(4665), rules).isAllowed)

  expect(atOwnPort).toEqual([false, false, false])
  expect(checkAddress('127.0.0.1', at(5678), rules).isAllowed).toBe(true)
})

const EXPECTED = {
  '-': ['forbidden', 'forbidden'],
  p: ['private', 'forbidden'],
  o: ['public', 'public'],
}

function nameOf(expected: '-' | 'p' | 'o'): string {
  return { '-': 'never a target', p: 'a private target', o: 'a public target' }[expected]
}

function kindOf(address: string, policy: TargetPolicy): string {
  const checked = checkAddress(address, at(80), {
    policy: () => policy,
    isOwnListener: () => false,
  })
  if (!checked.isAllowed) return 'forbidden'
  return checked.isPrivate ? 'private' : 'public'
}

function targetOf(url: string) {
  const target = parseTarget(url)
  return typeof target === 'string' ? null : target
}

test('of the relay itself, a webhook may go to the address of a test inbox and nowhere else', () => {
  const token = 'a'.repeat(32)
  const rules = { policy: () => 'public' as const, isOwnListener: () => true }
  const isAllowed = (path: string) => checkAddress('127.0.0.1', at(4665, path), rules).isAllowed

  expect(isAllowed(`/test-inbox/${token}`)).toBe(true)
  const others = ['/', '/test-inbox/', `/test-inbox/${token}/..`, `/test-inbox/${token}?a=1`]
  const more = [`/test-inbox/${token}a`, `/x/test-inbox/${token}`, '/api/v1/messages/send']
  expect([...others, ...more].filter(isAllowed)).toEqual([])
})

function at(port: number, path = '/') {
  return { port, url: new URL(`http://127.0.0.1:${port}${path}`) }
}
