// How the owner gets in: the setup link, and the password that the options set.

import { expect, test } from 'bun:test'

import { openDatabase } from '../../src/storage/database.ts'
import { asOwner } from '../support/control-socket.ts'
import { recordingLog } from '../support/recording-log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { outcome, PASSWORD, startDashboard, tokenOf } from './dashboard-rig.ts'

const KEYS = '/dashboard/api/keys'
const MINUTE = 60_000
const INVALID = '403 setup_link_invalid'

test('the link sets the first password that fits, once, and signs in who uses it', async () => {
  await using relay = await startDashboard()
  const token = await relay.token()
  const early = outcome(await (await relay.logIn()).get(KEYS))
  const use = (password: string, browser = relay.browser()) =>
    browser.post('/dashboard/setup', { token, password })
  const browsers = [relay.browser(), relay.browser(), relay.browser()]

  const unfit = [await use('x'.repeat(11)), await use('x'.repeat(201))]
  // At the same time: one of them gets in.
  const answers = await Promise.all(browsers.map((browser) => use(PASSWORD, browser)))
  const late = await use('other horse')

  expect(early).toBe('401 signed_out')
  expect(unfit.map(outcome)).toEqual(Array(2).fill('400 invalid_request'))
  expect(answers.map(outcome).sort()).toEqual(['200', INVALID, INVALID])
  expect(outcome(late)).toBe(INVALID)
  const [winner] = answers.flatMap((answer, index) =>
    answer.status === 200 ? [{ ...answer, browser: browsers[index] }] : [],
  )
  expect(winner?.body).toMatchObject({ state: 'signed_in', setup_step: 'permissions' })
  expect((await winner?.browser?.get(KEYS))?.status).toBe(200)
  expect(outcome(await (await relay.logIn()).get(KEYS))).toBe('200')
})

test('a link is dead after 30 minutes, after a newer one, and after a restart', async () => {
  const database = openDatabase(':memory:', { version: 'test' })
  const clock = new TestClock()
  const first = await startDashboard({ database, clock })
  const claimWith = async (relay: typeof first, token: string) =>
    outcome(await relay.browser().post('/dashboard/setup', { token, password: PASSWORD }))

  const old = await first.token()
  await clock.advance(30 * MINUTE)
  const expired = await claimWith(first, old)
  const earlier = await first.token()
  const newest = await first.token()
  const replaced = await claimWith(first, earlier)
  await first[Symbol.asyncDispose]()
  await using second = await startDashboard({ database, clock, key: first.key, seed: 2 })
  const fromBefore = await claimWith(second, newest)

  expect([expired, replaced, fromBefore]).toEqual([INVALID, INVALID, INVALID])
  expect(await second.browser().state()).toMatchObject({ state: 'unclaimed' })
})

test('a link has a token that nobody guesses, and no other one sets anything, be there a link or none', async () => {
  await using relay = await startDashboard()
  const browser = relay.browser()
  const use = async (token: string) =>
    outcome(await browser.post('/dashboard/setup', { token, password: PASSWORD }))

  const before = await use('A'.repeat(43))
  const link = await asOwner(relay, 'POST', '/setup-link', { body: {} })
  const after = [await use(''), await use('x'), await use('A'.repeat(43))]

  // 256 bits behind the # of the address, for half an hour.
  expect(link).toEqual({
    url: expect.stringMatching(/^http:\/\/localhost\/#\/setup\/[A-Za-z0-9_-]{43}$/),
    lan_url: null,
    expires_at: '2026-11-21T10:30:00.000Z',
  })
  expect([before, ...after]).toEqual(Array(4).fill(INVALID))
  expect(await browser.state()).toMatchObject({ state: 'unclaimed' })
})

test('a link mends a forgotten password, and ends all sessions', async () => {
  await using relay = await startDashboard()
  const before = await relay.claim()
  await before.put('/dashboard/setup-step', { step: null })
  const link = await asOwner(relay, 'POST', '/setup-link')
  const browser = relay.browser()

  const answer = await browser.post('/dashboard/setup', {
    token: tokenOf(link.url),
    password: 'battery staple',
  })

  expect(answer.body).toMatchObject({ state: 'signed_in', setup_step: null })
  expect(outcome(await before.get(KEYS))).toBe('401 signed_out')
  expect([
    outcome(await relay.browser().post('/dashboard/session', { password: PASSWORD })),
    outcome(await relay.browser().post('/dashboard/session', { password: 'battery staple' })),
  ]).toEqual(['401 wrong_password', '200'])
})

test('the password of the options is set at the start, changed there only, and shown to nobody', async () => {
  const environment = { HOOKLINE_ADMIN_PASSWORD: PASSWORD }
  await using relay = await startDashboard({ environment })
  const browser = await relay.logIn()

  const changed = await browser.post('/dashboard/password', {
    current: PASSWORD,
    password: 'battery staple',
  })
  const link = await asOwner(relay, 'POST', '/setup-link')
  const about = (await browser.get('/dashboard/about')).body

  expect(about.is_password_locked).toBe(true)
  expect(JSON.stringify(about)).not.toContain(PASSWORD)
  expect(await browser.state()).toMatchObject({ state: 'signed_in', setup_step: 'permissions' })
  expect(outcome(changed)).toBe('400 invalid_request')
  expect(link.error.code).toBe('invalid_request')
  expect(link.error.message).toContain('HOOKLINE_ADMIN_PASSWORD')
})

test('a start with the same password ends no session; one with another ends them all', async () => {
  const database = openDatabase(':memory:', { version: 'test' })
  const clock = new TestClock()
  const start = (password: string, seed: number) =>
    startDashboard({ database, clock, seed, environment: { HOOKLINE_ADMIN_PASSWORD: password } })
  const first = await start(PASSWORD, 1)
  const before = await first.logIn()
  await first[Symbol.asyncDispose]()
  const stateAfter = async (password: string, seed: number) => {
    await using relay = await start(password, seed)
    const browser = relay.browser()
    browser.continueAs(before)
    return (await browser.state()).state
  }

  const same = await stateAfter(PASSWORD, 2)
  const other = await stateAfter('battery staple', 3)

  expect([same, other]).toEqual(['signed_in', 'signed_out'])
})

test('neither database nor log has a password, a token or a cookie in it', async () => {
  using folder = new ScratchFolder()
  const database = openDatabase(folder.file('hookline.db'), { version: 'test' })
  const { log, lines } = recordingLog()
  await using relay = await startDashboard({ database, parts: { log } })
  const token = await relay.token()
  const browser = relay.browser({ address: '192.168.1.7' })

  await browser.post('/dashboard/setup', { token, password: PASSWORD })
  await browser.post('/dashboard/session', { password: 'wrong horse' })
  await browser.post('/dashboard/session', { password: PASSWORD })
  await browser.post('/dashboard/password', { current: PASSWORD, password: 'battery staple' })

  const cookie = browser.cookie?.split('=')[1] ?? ''
  const secrets = [
    token,
    cookie,
    browser.pageKey ?? 'none',
    PASSWORD,
    'wrong horse',
    'battery staple',
  ]
  const files = [`${folder.path}/hookline.db`, `${folder.path}/hookline.db-wal`]
  const stored = Buffer.concat(
    await Promise.all(files.map(async (path) => Buffer.from(await Bun.file(path).bytes()))),
  )
  const bytes = secrets.flatMap((secret) => [Buffer.from(secret), Buffer.from(secret, 'base64url')])
  const by = { address: '192.168.1.7' }
  expect(cookie).toHaveLength(43)
  expect(bytes.filter((secret) => stored.includes(secret))).toEqual([])
  expect(stored.includes('$argon2id$')).toBe(true)
  expect(lines.filter(([, message]) => message.startsWith('dashboard'))).toEqual([
    ['warn', 'dashboard password was wrong', by],
  ])
})

test('a password of the options from before 12 were asked for still counts, and is a finding', async () => {
  const environment = { HOOKLINE_ADMIN_PASSWORD: '8 signs.' }
  await using relay = await startDashboard({ environment })

  const answer = await relay.browser().post('/dashboard/session', { password: '8 signs.' })
  const { data } = await relay.get('/api/v1/health')

  expect(outcome(answer)).toBe('200')
  expect(data).toContainEqual(
    expect.objectContaining({ code: 'short_password', severity: 'warning', line_id: null }),
  )
})

test('a password that is set already goes on opening, however short', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const hash = await Bun.password.hash('8 signs.', { algorithm: 'argon2id', memoryCost: 8 })
  relay.db.sqlite.query('UPDATE dashboard_owner SET password_hash = $hash').run({ hash })

  const answer = await relay.browser().post('/dashboard/session', { password: '8 signs.' })

  expect(outcome(answer)).toBe('200')
})
