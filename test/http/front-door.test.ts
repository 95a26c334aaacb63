// What happens before any route: Host rules, and the life of the relay.

import { expect, test } from 'bun:test'

import { isOurHost } from '../../src/http/hosts.ts'
import { startHttp, type HttpRelay } from './http-relay.ts'

const OURS = [
  'localhost',
  'LOCALHOST:4665',
  'localhost.',
  '127.0.0.1:4665',
  '127.8.9.1',
  '[::1]:4665',
  '192.168.1.5',
  'relay.local:4665',
  'Relay.local',
  'relay.example.com',
]
const NOT_OURS = [
  'evil.example',
  'localhost.evil.example',
  'relay.local.evil.example',
  '192.168.1.6',
  '[::2]',
  'localhost, evil.example',
  'user@localhost',
  '0',
  '',
]
const BEHIND = ['/', '/healthz', '/readyz', '/metrics', '/swagger', '/swagger/json', '/nowhere']

const HOSTS = {
  hostname: 'Relay.local',
  publicUrl: 'https://relay.example.com/x',
  isOwnAddress: (address: string) => address === '192.168.1.5',
}

for (const host of OURS) {
  test(`the Host "${host}" is ours`, () => {
    expect(isOurHost(host, HOSTS)).toBe(true)
  })
}

for (const host of NOT_OURS) {
  test(`the Host "${host}" is not ours: everything but the API is 421`, async () => {
    await using rig = await startHttp()

    const answers = await Promise.all(
      BEHIND.map((path) => rig.call('GET', path, { headers: { host } })),
    )

    for (const answer of answers) {
      expect(answer.status).toBe(421)
      expect(await answer.json()).toEqual({
        error: {
          code: 'misdirected_request',
          message: 'This Host is not one of this relay; the option public url names another one.',
        },
      })
    }
    expect((await rig.call('GET', '/api/v1/keys', { headers: { host } })).status).toBe(200)
  })
}

/** Names that look like an address, which a stranger's name server may lead to this machine. */
const LOOK_ALIKES = [
  '127.a',
  '127.x:4665',
  '127.attacker.example',
  '127.0.0.1.a',
  '127.0.0.1.attacker.example:4665',
  '127.1.2.3.4',
  '127-0-0-1.example',
  '10.0.0.5.a',
  '192.168.1.5.a',
  '::1.a',
  '[::1].a',
  '[::1.a]',
  '0x7f.1.a',
  'localhost.a',
]
const WALLED = [...BEHIND, '/swagger/swagger-ui.css', '/dashboard/session', '/dashboard/events']

for (const host of LOOK_ALIKES) {
  test(`the Host "${host}" looks like an address and is none: 421`, async () => {
    await using relay = await startHttp()

    const answers = await Promise.all(
      WALLED.map((path) => relay.call('GET', path, { headers: { host } })),
    )

    expect(answers.map(({ status }) => status)).toEqual(WALLED.map(() => 421))
  })
}

test('a browser at a path that nobody knows gets a page, a program the JSON as ever', async () => {
  await using rig = await startHttp()
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  const page = await rig.call('GET', '/nope', { headers: browser })
  const program = await rig.call('GET', '/nope', { headers: { accept: '*/*' } })
  const ofApi = await rig.call('GET', '/api/v1/nope', { headers: browser })

  expect(page.status).toBe(404)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none';")
  expect(await page.text()).toContain('<a href="/">Open the dashboard</a>')
  for (const answer of [program, ofApi]) {
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({
      error: { code: 'not_found', message: 'There is no such route.' },
    })
  }
})

for (const url of ['http://a/api/v1/keys', 'http://a:1/api/v1/keys?limit=5']) {
  test(`the API answers under ${url}, however short the host`, async () => {
    await using rig = await startHttp()
    const headers = rig.credentials
    const peer = { address: '127.0.0.1', isControl: false, liftTimeout() {} }

    const answers = await Promise.all([
      rig.http.fetch(new Request(url, { headers }), peer),
      rig.http.fetch(new Request(url), peer),
    ])

    expect(answers.map((answer) => answer.status)).toEqual([200, 401])
  })
}

async function statuses(rig: HttpRelay): Promise<Record<string, number>> {
  const paths = ['/healthz', '/readyz', '/swagger/json', '/swagger', '/api/v1/keys']
  const answers = await Promise.all(paths.map((path) => rig.call('GET', path)))
  return Object.fromEntries(paths.map((path, i) => [path, answers[i]?.status ?? 0]))
}

test('while the relay starts only liveness, readiness and the document of the API answer', async () => {
  await using opening = await startHttp({ phase: 'starting' })
  await using migrated = await startHttp({ phase: 'checking' })
  const shut = { '/healthz': 200, '/swagger/json': 200, '/swagger': 503, '/api/v1/keys': 503 }

  expect(await statuses(opening)).toEqual({ ...shut, '/readyz': 503 })
  expect(await statuses(migrated)).toEqual({ ...shut, '/readyz': 200 })
})

test('while the relay stops it is alive and not ready', async () => {
  const rig = await startHttp()
  await rig[Symbol.asyncDispose]()

  expect(await statuses(rig)).toEqual({
    '/healthz': 200,
    '/readyz': 503,
    '/swagger/json': 200,
    '/swagger': 503,
    '/api/v1/keys': 503,
  })
})

test('a relay that is not up says when to try again', async () => {
  await using rig = await startHttp({ phase: 'starting' })

  const response = await rig.call('GET', '/api/v1/keys')

  expect(response.headers.get('retry-after')).toBe('5')
  expect(await response.json()).toEqual({
    error: {
      code: 'starting',
      message: 'The relay is starting: try again in a few seconds.',
    },
  })
})

const TRANSPORTS: readonly (readonly [
  publicUrl: string | null,
  host: string,
  sent: string | null,
])[] = [
  ['https://relay.example.com', 'relay.example.com', 'max-age=31536000'],
  ['https://relay.example.com', '127.0.0.1:4665', null],
  ['https://relay.example.com:8443', 'relay.example.com:8443', null],
  ['http://relay.example.com', 'relay.example.com', null],
  [null, 'localhost', null],
]

for (const [publicUrl, host, sent] of TRANSPORTS) {
  const words = sent === null ? 'not told' : 'told'
  test(`a browser that asks ${host} is ${words} to stay with HTTPS where the public url is ${publicUrl}`, async () => {
    await using rig = await startHttp({ environment: { HOOKLINE_PUBLIC_URL: publicUrl ?? '' } })

    const answers = await Promise.all(
      ['/healthz', '/swagger', '/nowhere', '/api/v1/keys'].map((path) =>
        rig.call('GET', path, { headers: { host } }),
      ),
    )

    const told = answers.map(({ headers }) => headers.get('strict-transport-security'))
    expect(told).toEqual(answers.map(() => sent))
  })
}

test('no page of another site can load an answer, not even one that is refused', async () => {
  await using rig = await startHttp()
  const paths = [
    '/',
    '/swagger',
    '/swagger/swagger-ui.css',
    '/healthz',
    '/nowhere',
    '/dashboard/session',
  ]

  const answers = await Promise.all(paths.map((path) => rig.call('GET', path)))
  const refused = await rig.call('GET', '/', { headers: { host: 'evil.example' } })

  const policies = [...answers, refused].map(({ headers }) =>
    headers.get('cross-origin-resource-policy'),
  )
  expect(policies).toEqual(policies.map(() => 'same-origin'))
})
