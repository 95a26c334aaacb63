// The wall between the two worlds: cookies and keys, who may ask, and what the owner alone gets.

import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { OPERATIONS, pathOf } from './dashboard-operations.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'

const KEYS = '/dashboard/api/keys'

test('a cookie opens nothing under /api/v1', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()

  const answers = await Promise.all([
    browser.get('/api/v1/keys'),
    browser.post('/api/v1/keys', {}),
    browser.get('/api/v1/settings'),
  ])

  expect(answers.map(outcome)).toEqual(Array(3).fill('401 unauthorized'))
})

/** Reached under another path, or open before the sign-in: these have tests of their own. */
const OPEN = / \/(?:healthz|readyz|metrics|dashboard\/(?:session|setup|downloads\/:ticket))$/

test('nothing of the dashboard opens without a cookie and the page key of its session', async () => {
  await using relay = await startDashboard()
  const { cookie, pageKey } = await relay.claim()
  const other = await relay.logIn()
  const headers = { 'x-api-key': relay.key?.key ?? '', 'x-api-secret': relay.key?.secret ?? '' }
  const strangers = {
    'an API key': { cookie: null, pageKey: null },
    'the page key alone': { cookie: null, pageKey },
    'the cookie alone': { cookie, pageKey: null },
    'an empty page key': { cookie, pageKey: '' },
    'a wrong page key': { cookie, pageKey: 'x'.repeat(43) },
    'the page key of another session': { cookie, pageKey: other.pageKey },
  }
  const places = ['', '/nowhere', '/api/nowhere'].map((path) => `GET /dashboard${path}`)
  const guarded = [...Object.keys(OPERATIONS), ...places].filter((each) => !OPEN.test(each))
  const opened: string[] = []

  for (const [who, what] of Object.entries(strangers)) {
    const browser = relay.browser({ headers })
    browser.continueAs(what)
    for (const operation of guarded) {
      const [method = '', route = ''] = operation.split(' ')
      const body = OPERATIONS[operation]?.[1]
      const answer = await browser.ask(method, pathOf(route), { body })
      if (outcome(answer) !== '401 signed_out') opened.push(`${who}: ${operation}`)
    }
    expect(await browser.state()).toMatchObject({ state: 'signed_out', version: null })
  }

  expect(opened).toEqual([])
  expect(guarded.length).toBeGreaterThan(100)
  expect(await other.state()).toMatchObject({ state: 'signed_in' })
})

test('signed in, /dashboard/api is the API, with the dashboard as the caller', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550101')
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()

  const key = await browser.post(KEYS, { name: 'shop' })
  const sent = await browser.post('/dashboard/api/messages/send', {
    to: '+12025550123',
    text: 'Hello',
  })
  const read = await browser.get('/dashboard/api/messages?limit=1')

  expect([key.status, key.body.name, key.body.created_by]).toEqual([201, 'shop', 'dashboard'])
  expect(sent.body).toMatchObject({ text: 'Hello', source: 'dashboard' })
  expect(read.body).toEqual(await relay.get('/api/v1/messages?limit=1'))
})

test('errors under /dashboard/api are those of the API, and none of its routes is one of the control socket', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()

  const answers = await Promise.all([
    browser.get('/dashboard/api/nowhere'),
    browser.get('/dashboard/api/'),
    browser.delete('/dashboard/api/messages'),
    browser.get('/dashboard/api/messages?limit=0'),
    browser.get('/dashboard/api/messages/msg_unknown'),
    browser.put('/dashboard/nowhere', {}),
    browser.get('/dashboard/setup'),
  ])
  // Of the control socket alone.
  const ofSocket = await Promise.all([
    browser.get('/dashboard/api/options'),
    browser.get('/dashboard/api/about'),
    browser.post('/dashboard/api/setup-link', {}),
    browser.post('/dashboard/api/judgement', {}),
  ])

  expect(answers.map(outcome)).toEqual([
    '404 not_found',
    '404 not_found',
    '405 method_not_allowed',
    '400 invalid_request',
    '404 not_found',
    '404 not_found',
    '405 method_not_allowed',
  ])
  expect(answers[2]?.headers.get('allow')).toBe('GET, HEAD')
  expect(ofSocket.map(outcome)).toEqual(Array(4).fill('404 not_found'))
})

const ELSEWHERE: readonly (readonly [
  who: string,
  headers: Readonly<Record<string, string | null>>,
])[] = [
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['a sibling of the host', { 'sec-fetch-site': 'same-site' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['two at once', { 'sec-fetch-site': 'same-origin, cross-site' }],
  ['nobody who says so', { 'sec-fetch-site': null }],
  ['another origin', { 'sec-fetch-site': null, origin: 'http://evil.example' }],
  ['a sibling origin', { 'sec-fetch-site': null, origin: 'http://other.localhost' }],
  ['another port of the host', { 'sec-fetch-site': null, origin: 'http://localhost:8080' }],
  ['an origin that is hidden', { 'sec-fetch-site': null, origin: 'null' }],
  ['one that knows the origin', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }],
]

test('a change that no page of this relay asks for is 403, and changes nothing', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()

  for (const [who, headers] of ELSEWHERE) {
    const answers = [
      await browser.ask('POST', KEYS, { body: {}, headers }),
      await browser.ask('PUT', '/dashboard/setup-step', { body: { step: 'key' }, headers }),
      await browser.ask('DELETE', '/dashboard/sessions', { headers }),
      await browser.ask('POST', '/dashboard/session', { body: { password: 'x' }, headers }),
    ]
    expect([who, ...answers.map(outcome)]).toEqual([who, ...Array<string>(4).fill('403 forbidden')])
  }
  expect(await browser.state()).toMatchObject({ state: 'signed_in', setup_step: 'permissions' })
  expect((await browser.get(KEYS)).body.data).toHaveLength(1)
})

test('without Sec-Fetch-Site, an Origin that is the Host may change things, and reading needs neither', async () => {
  await using relay = await startDashboard()
  const headers = { 'sec-fetch-site': null }
  const browser = await relay.claim({ host: '127.0.0.1:4665' })

  const changed = await browser.ask('POST', KEYS, {
    body: {},
    headers: { ...headers, origin: 'http://127.0.0.1:4665' },
  })
  const read = await browser.ask('GET', KEYS, { headers })

  expect([changed, read].map(outcome)).toEqual(['201', '200'])
})

test('a relay that stops or starts says so to a browser that is signed in', async () => {
  const relay = await startDashboard()
  const browser = await relay.claim()
  const stopping = relay[Symbol.asyncDispose]()

  const answer = await browser.get(KEYS)
  await stopping

  expect(outcome(answer)).toBe('503 stopping')
})

test('the owner reads and changes settings, and sees no URL with a key in it', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const value = 'https://monitor.example/push/s3cr3t'

  const changed = await browser.put('/dashboard/api/settings/heartbeat_url', { value })
  const listed = await browser.get('/dashboard/api/settings')

  const shown = { name: 'heartbeat_url', value: 'https://monitor.example/…' }
  expect(changed.body).toMatchObject(shown)
  expect(listed.body.data).toContainEqual(expect.objectContaining(shown))
  expect(JSON.stringify(listed.body)).not.toContain('s3cr3t')
})

test('the owner makes a backup, and downloads one that is listed, but names no file of the machine', async () => {
  using folder = new ScratchFolder()
  const name = 'hookline-2026-11-21T03-00-00Z.db'
  await Bun.write(folder.file(`backups/${name}`), 'the database')
  await Bun.write(folder.file('secret.key'), 'the key')
  await using relay = await startDashboard({ folder: folder.path })
  const browser = await relay.claim()
  const ask = (path: string) => browser.fetch('GET', `/dashboard/api/backups${path}`)

  const made = await browser.post('/dashboard/api/backup', {})
  const named = await browser.post('/dashboard/api/backup', { to: '/x' })
  const listed = await browser.get('/dashboard/api/backups')
  const taken = await ask(`/${name}`)
  const others = await Promise.all([ask('/secret.key'), ask('/..%2Fsecret.key'), ask('/..')])

  expect([made.status, named.status]).toEqual([200, 400])
  expect(listed.body.data).toMatchObject([{ name, kind: 'daily', size_bytes: 12 }])
  expect(await taken.text()).toBe('the database')
  expect(taken.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
  expect(taken.headers.get('cache-control')).toBe('no-store')
  expect(others.map((answer) => answer.status)).toEqual([404, 404, 404])
})
