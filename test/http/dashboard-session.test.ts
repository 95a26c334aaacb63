// Dashboard sessions on the test clock: how they begin, last and end.

import { expect, test } from 'bun:test'

import { keepSession } from '../../src/http/dashboard-auth.ts'
import { storageFull } from '../../src/storage/sqlite-errors.ts'
import { outcome, PASSWORD, startDashboard, type Browser } from './dashboard-rig.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const KEYS = '/dashboard/api/keys'
const SIGNED_OUT = {
  state: 'signed_out',
  elevated_until: null,
  version: null,
  setup_step: null,
  is_local: true,
}

test('a browser that signs in gets the state, one that does not learns no more than that', async () => {
  await using relay = await startDashboard()
  const fresh = await relay.browser().state()
  const claimed = await relay.claim()

  const inside = await relay.logIn()
  const outside = await relay.browser().state()
  const elsewhere = await relay.browser({ address: '192.168.1.7' }).state()

  expect(fresh).toEqual({ ...SIGNED_OUT, state: 'unclaimed' })
  expect(await inside.state()).toEqual({
    state: 'signed_in',
    elevated_until: '2026-11-21T11:00:00.000Z',
    version: expect.any(String),
    setup_step: 'permissions',
    is_local: true,
  })
  expect(await claimed.state()).toEqual(await inside.state())
  expect(outside).toEqual(SIGNED_OUT)
  expect(elsewhere).toEqual({ ...SIGNED_OUT, is_local: false })
})

test('a wrong password is 401 and sets no cookie', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const browser = relay.browser()

  const answers = [
    await browser.post('/dashboard/session', { password: `${PASSWORD}r` }),
    await browser.post('/dashboard/session', { password: PASSWORD.toUpperCase() }),
    await browser.post('/dashboard/session', { password: '' }),
    await browser.post('/dashboard/session', {}),
  ]

  expect(answers.map(outcome)).toEqual([
    '401 wrong_password',
    '401 wrong_password',
    '400 invalid_request',
    '400 invalid_request',
  ])
  expect(answers.map(({ headers }) => headers.has('set-cookie'))).toEqual(Array(4).fill(false))
})

test('a session ends seven days after its last use, and use puts that off', async () => {
  await using relay = await startDashboard()
  const used = await relay.claim()
  const unused = await relay.logIn()

  for (let day = 0; day < 9; day += 1) {
    relay.clock.doze(DAY)
    await used.get(KEYS)
    if (day === 5) expect(outcome(await unused.ask('HEAD', KEYS))).toBe('200')
  }

  expect(outcome(await used.get(KEYS))).toBe('200')
  expect(outcome(await unused.get(KEYS))).toBe('401 signed_out')
  expect((await used.get('/dashboard/sessions')).body.data).toMatchObject([{ is_current: true }])
})

test('a session ends thirty days after its sign-in, however much it is used', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const days: string[] = []

  for (let day = 1; day <= 30; day += 1) {
    relay.clock.doze(DAY)
    days.push(outcome(await browser.get(KEYS)))
  }

  expect(days).toEqual([...Array<string>(29).fill('200'), '401 signed_out'])
})

test('one session is ended from another browser, at once, and the others stay', async () => {
  await using relay = await startDashboard()
  const here = await relay.claim()
  const [gone, stays] = [await relay.logIn(), await relay.logIn()]
  const listed = async () => (await here.get('/dashboard/sessions')).body.data
  const id = (await gone.get('/dashboard/sessions')).body.data.find(
    ({ is_current }: { readonly is_current: boolean }) => is_current,
  ).id

  const ended = await here.delete(`/dashboard/sessions/${id}`)
  const again = await here.delete(`/dashboard/sessions/${id}`)

  expect([outcome(ended), outcome(again)]).toEqual(['200', '404 not_found'])
  expect([await gone.get(KEYS), await stays.get(KEYS), await here.get(KEYS)].map(outcome)).toEqual([
    '401 signed_out',
    '200',
    '200',
  ])
  expect(await listed()).toHaveLength(2)
})

test('a use after an hour gives the cookie again, and writes once', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const { cookie } = browser
  const cookies: (string | null)[] = []
  const ask = async () => cookies.push((await browser.get(KEYS)).headers.get('set-cookie'))

  await ask()
  relay.clock.doze(HOUR)
  await ask()
  await ask()

  expect(cookies).toEqual([
    null,
    `${cookie}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict`,
    null,
  ])
})

test('a full disk hides nothing from a browser that is signed in', async () => {
  const request = new Request(`http://localhost${KEYS}`)
  const session = {
    tokenSha256: new Uint8Array(32),
    elevatedUntil: null,
    isStale: true,
    memberId: null,
  }
  const keep = () => Promise.reject(storageFull())
  const proxies = { publicUrl: null, isTrustedProxy: () => false }
  const hosts = { hostname: 'relay', isOwnAddress: () => true, ...proxies }

  expect(
    await keepSession({ sessions: { keep }, hosts }, request, {
      peer: { address: null, isControl: false, liftTimeout() {} },
      session,
    }),
  ).toBeNull()
})

test('25 browsers stay signed in: the 26th ends the one seen longest ago', async () => {
  await using relay = await startDashboard()
  const browsers: Browser[] = [await relay.claim()]
  while (browsers.length < 25) {
    await relay.clock.advance(1_000)
    browsers.push(await relay.logIn())
  }
  relay.clock.doze(HOUR)
  await browsers[0]?.get(KEYS)

  browsers.push(await relay.logIn())

  const outcomes = await Promise.all(browsers.map(async (one) => outcome(await one.get(KEYS))))
  expect(outcomes).toEqual(['200', '401 signed_out', ...Array<string>(24).fill('200')])
})

test('log out ends this session, log out everywhere all of them, and the events that each watches', async () => {
  await using relay = await startDashboard()
  const [gone, here, there] = [await relay.claim(), await relay.logIn(), await relay.logIn()]
  const browsers = [gone, here, there]
  const cookies = browsers.map(({ cookie }) => cookie)
  const streams = [here, there].map((browser) => browser.fetch('GET', '/dashboard/events'))
  const texts = (await Promise.all(streams)).map((stream) => stream.text())
  const states = async () => {
    browsers.forEach((browser, index) => (browser.cookie = cookies[index] ?? null))
    const answers = await Promise.all(browsers.map((browser) => browser.get(KEYS)))
    return answers.map(outcome)
  }

  const answer = await gone.delete('/dashboard/session')
  const again = await gone.delete('/dashboard/session')
  const afterOne = await states()
  const everywhere = await here.delete('/dashboard/sessions')

  expect([answer.body, everywhere.body]).toEqual([SIGNED_OUT, SIGNED_OUT])
  expect(answer.headers.get('set-cookie')).toBe(
    'hookline_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
  )
  expect(outcome(again)).toBe('200')
  expect(afterOne).toEqual(['401 signed_out', '200', '200'])
  expect(await Promise.all(texts)).toEqual([expect.any(String), expect.any(String)])
  expect(await states()).toEqual(Array(3).fill('401 signed_out'))
})

test('how far the set-up came is remembered, until it is done', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()

  const onTheWay = await browser.put('/dashboard/setup-step', { step: 'line' })
  const elsewhere = await (await relay.logIn()).state()
  const done = await browser.put('/dashboard/setup-step', { step: null })
  const odd = await browser.put('/dashboard/setup-step', { step: '<script>' })

  expect([onTheWay.body.setup_step, elsewhere.setup_step]).toEqual(['line', 'line'])
  expect(done.body.setup_step).toBeNull()
  expect(outcome(odd)).toBe('400 invalid_request')
})
