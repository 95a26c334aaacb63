// What happens before any route: Host rules, and the life of the relay.

import { expect, test } from 'bun:test'

import { isOurHost, requiresTls } from '../../src/http/hosts.ts'
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
  // Names that look like an address, which a stranger's name server may lead to this machine.
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
const BEHIND = [
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/swagger',
  '/swagger/json',
  '/swagger/swagger-ui.css',
  '/dashboard/session',
  '/dashboard/events',
  '/dashboard/api/keys',
  '/nowhere',
]

const HOSTS = {
  isTrustedProxy: () => false,
  hostname: 'Relay.local',
  publicUrl: 'https://relay.example.com/x',
  isOwnAddress: (address: string) => address === '192.168.1.5',
}

test('a Host is ours by a name of this machine, an address of it, or the public url', () => {
  expect(OURS.filter((host) => !isOurHost(host, HOSTS))).toEqual([])
})

test('under a Host that is not ours everything but the API is 421', async () => {
  await using rig = await startHttp()
  const ask = (host: string, path: string) => rig.call('GET', path, { headers: { host } })

  for (const host of NOT_OURS) {
    const answers = await Promise.all(BEHIND.map((path) => ask(host, path)))
    const api = await ask(host, '/api/v1/keys')

    expect([host, ...answers.map(({ status }) => status)]).toEqual([host, ...BEHIND.map(() => 421)])
    expect(await answers[0]?.json()).toMatchObject({
      error: {
        code: 'misdirected_request',
        message: 'This Host is not one of this relay; the option public url names another one.',
      },
    })
    expect([host, api.status]).toEqual([host, 200])
  }
})

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
    expect(await answer.json()).toMatchObject({
      error: { code: 'not_found', message: 'There is no such route.' },
    })
  }
})

test('the API answers however short the host in the address is', async () => {
  await using rig = await startHttp()
  const peer = { address: '127.0.0.1', isControl: false, liftTimeout() {} }
  const ask = async (url: string, headers: Readonly<Record<string, string>>) =>
    (await rig.http.fetch(new Request(url, { headers }), peer)).status

  for (const url of ['http://a/api/v1/keys', 'http://a:1/api/v1/keys?limit=5']) {
    expect([await ask(url, rig.credentials), await ask(url, {})]).toEqual([200, 401])
  }
})

async function statuses(rig: HttpRelay): Promise<Record<string, number>> {
  const paths = ['/healthz', '/readyz', '/swagger/json', '/swagger', '/api/v1/keys']
  const answers = await Promise.all(paths.map((path) => rig.call('GET', path)))
  return Object.fromEntries(paths.map((path, i) => [path, answers[i]?.status ?? 0]))
}

test('while the relay starts or stops only liveness, readiness and the document of the API answer', async () => {
  await using opening = await startHttp({ phase: 'starting' })
  await using migrated = await startHttp({ phase: 'checking' })
  const stopped = await startHttp()
  await stopped[Symbol.asyncDispose]()

  const refused = await opening.call('GET', '/api/v1/keys')

  const shut = { '/healthz': 200, '/swagger/json': 200, '/swagger': 503, '/api/v1/keys': 503 }
  expect(await statuses(opening)).toEqual({ ...shut, '/readyz': 503 })
  expect(await statuses(migrated)).toEqual({ ...shut, '/readyz': 200 })
  expect(await statuses(stopped)).toEqual({ ...shut, '/readyz': 503 })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await refused.json()).toMatchObject({
    error: { code: 'starting', message: 'The relay is starting: try again in a few seconds.' },
  })
})

const HTTPS = 'https://relay.example.com'

test('a browser is asked to stay with HTTPS by every answer of an https public url without a port', async () => {
  await using rig = await startHttp({ environment: { HOOKLINE_PUBLIC_URL: HTTPS } })
  const askedAs = async (host: string) => {
    const answers = await Promise.all(
      ['/healthz', '/swagger', '/nowhere', '/api/v1/keys'].map((path) =>
        rig.call('GET', path, { headers: { host } }),
      ),
    )
    return answers.map(({ headers }) => headers.get('strict-transport-security'))
  }
  const others = [
    [`${HTTPS}:8443`, 'relay.example.com:8443'],
    ['http://relay.example.com', 'relay.example.com'],
    [null, 'localhost'],
  ] as const

  expect(await askedAs('relay.example.com')).toEqual(Array(4).fill('max-age=31536000'))
  expect(await askedAs('127.0.0.1:4665')).toEqual(Array(4).fill(null))
  expect(
    others.filter(([publicUrl, host]) => requiresTls({ publicUrl }, new Headers({ host }))),
  ).toEqual([])
})

test('no page of another site can load an answer, not even one that is refused', async () => {
  await using rig = await startHttp()
  const paths = ['/', '/swagger', '/swagger/swagger-ui.css', '/healthz', '/nowhere']

  const answers = await Promise.all([
    ...[...paths, '/dashboard/session'].map((path) => rig.call('GET', path)),
    rig.call('GET', '/', { headers: { host: 'evil.example' } }),
  ])

  expect(answers.map(({ headers }) => headers.get('cross-origin-resource-policy'))).toEqual(
    Array(7).fill('same-origin'),
  )
})
