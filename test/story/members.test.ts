// People who read and answer: from the owner's link to the end of their access.

import { expect, test } from 'bun:test'

import { FULL_CAPABILITIES } from '../../src/lines/driver.ts'
import { outcome, PASSWORD, startDashboard, tokenOf, type Browser } from '../http/dashboard-rig.ts'
import { EventReader } from '../http/event-reader.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const MEMBERS = '/dashboard/api/members'
const SESSION = '/dashboard/session'
const PERSON = '+12025550147'
const DAY = 86_400_000
const WRONG = '401 wrong_password'
const OVER = '403 setup_link_invalid'

/** A shop with a line and a webhook, its owner, and a member who is signed in. */
async function openShop(folder?: string) {
  const clock = new TestClock()
  const driver = new ScriptedDriver()
  driver.add('+12025550801').capabilities = FULL_CAPABILITIES
  const sink = new WebhookSink(clock)
  const relay = await startDashboard({ clock, drivers: [driver], post: sink.post, folder })
  const owner = await relay.claim()
  const anna = await relay.join(owner)
  const [member] = (await owner.get(MEMBERS)).body.data
  const signIn = async (name: string, password = PASSWORD, place = {}) => {
    const browser = relay.browser(place)
    const answer = await browser.post(SESSION, { name, password })
    return { browser, answer: outcome(answer) }
  }
  const send = (from: Browser, more: object = {}) =>
    from.post('/dashboard/api/messages/send', { to: PERSON, text: 'We are open.', ...more })
  return { ...relay, sink, owner, anna, member, signIn, send }
}

test('a member chooses a password by the link, reads, answers, and signs in again by name', async () => {
  await using shop = await openShop()
  await shop.send(shop.owner)

  const state = await shop.anna.state()
  const read = await shop.anna.get('/dashboard/api/conversations')
  const conversation = read.body.data[0].id
  const answered = await shop.anna.post(`/dashboard/api/conversations/${conversation}/messages`, {
    text: 'Until eight.',
  })
  const again = await shop.signIn('  ANNA ')
  const found = await again.browser.get('/dashboard/api/messages?limit=1')

  const author = { id: shop.member.id, name: 'Anna' }
  expect(state).toMatchObject({ state: 'signed_in', member: author, setup_step: null })
  expect(answered.body).toMatchObject({ source: 'dashboard', sent_by: author })
  expect(again.answer).toBe('200')
  expect(found.body.data[0]).toMatchObject({ text: 'Until eight.', sent_by: author })
})

test('the owner signs in as before, without a name or as owner, and no message names the owner', async () => {
  await using shop = await openShop()

  const outcomes = [
    outcome(await shop.browser().post(SESSION, { password: PASSWORD })),
    (await shop.signIn('Owner')).answer,
    (await shop.signIn('')).answer,
  ]
  const { body } = await shop.send(shop.owner)
  const state = await shop.owner.state()

  expect(outcomes).toEqual(['200', '200', '200'])
  expect([body.sent_by, state.member, state.has_members]).toEqual([undefined, undefined, true])
})

test('if there is no member, nothing of the sign-in says that there could be', async () => {
  await using relay = await startDashboard()
  const owner = await relay.claim()

  const states = [await relay.browser().state(), await owner.state()]

  expect(states.map((state) => Object.keys(state))).toEqual(
    states.map(() => ['state', 'elevated_until', 'version', 'setup_step', 'is_local']),
  )
})

test('one refusal for a wrong password, an unknown name, the password of another, and none chosen yet', async () => {
  await using shop = await openShop()
  await shop.owner.post(MEMBERS, { name: 'Ben' })

  const answers = await Promise.all([
    shop.browser().post(SESSION, { name: 'Anna', password: 'wrong horse' }),
    shop.browser().post(SESSION, { name: 'Nobody', password: PASSWORD }),
    shop.browser().post(SESSION, { name: 'Ben', password: PASSWORD }),
  ])

  const said = answers.map(({ body }) => [body.error.code, body.error.message])
  expect(said).toEqual(answers.map(() => ['wrong_password', 'Incorrect name or password.']))
})

for (const place of [{}, { address: '192.168.1.7' }]) {
  test(`a member's right password makes up for no guess at the owner's, from ${place.address ?? 'here'}`, async () => {
    await using shop = await openShop()
    const outcomes: string[] = []

    for (let i = 0; i < 6; i += 1) {
      const guess = await shop.browser(place).post(SESSION, { password: 'wrong horse' })
      outcomes.push(outcome(guess))
      await shop.signIn('Anna', PASSWORD, place)
    }

    expect(outcomes).toEqual([...Array<string>(5).fill(WRONG), '429 rate_limit_exceeded'])
  })
}

test('the audit trail says who: with the name, also once the member is removed', async () => {
  await using shop = await openShop()
  const send_at = new Date(shop.clock.now() + DAY).toISOString()
  const { body } = await shop.send(shop.anna, { send_at })
  await shop.anna.delete(`/dashboard/api/messages/${body.id}`)
  await shop.anna.delete(SESSION)
  await shop.owner.delete(`${MEMBERS}/${shop.member.id}`)

  const trail = await shop.owner.get(`/dashboard/api/audit?actor=member`)
  const about = await shop.owner.get(`/dashboard/api/audit?about=${shop.member.id}`)

  const actor = { kind: 'member', id: shop.member.id, name: 'Anna' }
  expect(trail.body.data.map((entry: Json) => [entry.action, entry.actor])).toEqual([
    ['session.ended', actor],
    ['message.canceled', actor],
    ['password.set', actor],
  ])
  expect(about.body.data.map((entry: Json) => [entry.action, entry.actor.kind])).toEqual([
    ['member.removed', 'dashboard'],
    ['password.set', 'member'],
    ['member.created', 'dashboard'],
  ])
})

test('a member who is removed is signed out at once, on every browser and stream', async () => {
  await using shop = await openShop()
  const other = (await shop.signIn('Anna')).browser
  const page = new EventReader(await other.fetch('GET', '/dashboard/events'))
  await settle()

  const removed = await shop.owner.delete(`${MEMBERS}/${shop.member.id}`)
  await settle()
  const outcomes = [
    outcome(await shop.send(shop.anna)),
    outcome(await other.get('/dashboard/api/conversations')),
    (await shop.signIn('Anna')).answer,
    outcome(await shop.owner.get('/dashboard/api/keys')),
  ]

  expect([removed.body, page.isOver]).toEqual([{ id: shop.member.id, deleted: true }, true])
  expect(outcomes).toEqual(['401 signed_out', '401 signed_out', WRONG, '200'])
  expect((await shop.owner.get(MEMBERS)).body.data).toEqual([])
})

test('a removed name is free again, and the new member has none of the old messages', async () => {
  await using shop = await openShop()
  await shop.send(shop.anna)
  await shop.owner.delete(`${MEMBERS}/${shop.member.id}`)

  const second = await shop.join(shop.owner)
  const { member } = await second.state()
  const [message] = (await second.get('/dashboard/api/messages')).body.data

  expect(member.id).not.toBe(shop.member.id)
  expect(message.sent_by).toEqual({ id: shop.member.id, name: 'Anna' })
})

test('a link works once, for three days, and only the newest one', async () => {
  await using shop = await openShop()
  const password = 'battery staple and more'
  const link = async () => {
    const { body } = await shop.owner.post(`${MEMBERS}/${shop.member.id}/link`, {})
    return tokenOf(body.link.url)
  }
  const use = async (token: string) =>
    outcome(await shop.browser().post('/dashboard/setup', { token, password }))

  const [older, newer] = [await link(), await link()]
  const outcomes = [await use(older), await use(newer), await use(newer)]
  const last = await link()
  shop.clock.doze(3 * DAY)
  outcomes.push(await use(last))

  expect(outcomes).toEqual([OVER, '200', OVER, OVER])
})

test('a new link replaces the password once it is used, and signs the member out elsewhere', async () => {
  await using shop = await openShop()
  const { body } = await shop.owner.post(`${MEMBERS}/${shop.member.id}/link`, {})
  const token = tokenOf(body.link.url)

  const short = await shop.browser().post('/dashboard/setup', { token, password: 'short' })
  const before = await shop.anna.get('/dashboard/unread')
  const password = 'battery staple and more'
  const used = await shop.browser().post('/dashboard/setup', { token, password })
  const outcomes = [short, before, used, await shop.anna.get('/dashboard/unread')].map(outcome)

  expect(outcomes).toEqual(['400 invalid_request', '200', '200', '401 signed_out'])
  expect((await shop.signIn('Anna')).answer).toBe(WRONG)
  expect((await shop.signIn('Anna', password)).answer).toBe('200')
  // The owner's password is another one.
  expect(outcome(await shop.browser().post(SESSION, { password: PASSWORD }))).toBe('200')
})

const NAMES = [
  ['anna', '409 name_taken'],
  ['ＡＮＮＡ', '409 name_taken'],
  ['An\u200Bna', '409 name_taken'],
  ['Owner', '409 name_taken'],
  ['', '400 invalid_request'],
  [' \n ', '400 invalid_request'],
  ['\u200F', '400 invalid_request'],
  ['x'.repeat(81), '400 invalid_request'],
  ['x'.repeat(80), '201'],
  ['دانا', '201'],
  ['O’Neill & <b>Sons</b>', '201'],
] as const

test('a name that is free and no longer than 80 characters makes a member, who signs in by it', async () => {
  await using shop = await openShop()

  for (const [name, expected] of NAMES) {
    const answer = await shop.owner.post(MEMBERS, { name })

    expect([name, outcome(answer)]).toEqual([name, expected])
    if (expected !== '201') continue
    const { url } = answer.body.link
    expect(new URLSearchParams(url.split('?')[1]).get('name')).toBe(name)
    await shop.browser().post('/dashboard/setup', { token: tokenOf(url), password: PASSWORD })
    expect((await shop.signIn(name)).answer).toBe('200')
  }
})

test('a member takes back only what they scheduled themselves, and sends no file from an address', async () => {
  using folder = new ScratchFolder()
  await using shop = await openShop(folder.path)
  const send_at = new Date(shop.clock.now() + DAY).toISOString()
  const ids = [await shop.send(shop.owner, { send_at }), await shop.send(shop.anna, { send_at })]

  const canceled = await Promise.all(
    ids.map(({ body }) => shop.anna.delete(`/dashboard/api/messages/${body.id}`)),
  )
  const fetched = await shop.send(shop.anna, { attachments: [{ url: 'http://127.0.0.1/x.png' }] })
  const uploaded = await shop.anna.upload('/dashboard/api/attachments?filename=menu.txt', 'soup')
  const attached = await shop.send(shop.anna, { attachments: [{ id: uploaded.body.id }] })

  expect(canceled.map(({ status, body }) => [status, body.error.code])).toEqual([
    [403, 'forbidden'],
    [200, 'canceled'],
  ])
  expect([fetched, uploaded].map(outcome)).toEqual(['403 forbidden', '201'])
  expect(attached.body).toMatchObject({ attachments: [{ filename: 'menu.txt' }] })
})

test("the page of a member hears of messages and people, and of nothing that is the owner's", async () => {
  await using shop = await openShop()
  const pages = [shop.anna, shop.owner].map(async (browser) => {
    return new EventReader(await browser.fetch('GET', '/dashboard/events'))
  })
  const [ofMember, ofOwner] = (await Promise.all(pages)) as [EventReader, EventReader]
  await settle()
  for (const page of [ofMember, ofOwner]) page.take()

  await shop.owner.post('/dashboard/api/keys', { name: 'secret plans' })
  await shop.owner.put('/dashboard/api/settings/open_metrics', { value: 'true' })
  await shop.owner.post('/dashboard/api/backup', {})
  await shop.clock.advance(1_000)
  const unheard = ofMember.takeText()
  const heard = kindsOf(ofOwner)
  await shop.send(shop.owner)
  await shop.owner.put(`/dashboard/api/contacts/${PERSON}`, { name: 'Carla' })
  await shop.clock.advance(1_000)

  expect(unheard.replaceAll(': still here\n\n', '')).toBe('')
  expect(heard).toEqual(expect.arrayContaining(['backup', 'key', 'setting']))
  expect(kindsOf(ofMember)).toEqual(['contact', 'conversation', 'line', 'message'])
})

test('a webhook gets the same fields for the message of a member as for that of the owner', async () => {
  await using shop = await openShop()
  const url = 'https://shop.example.com/hooks'
  await shop.owner.post('/dashboard/api/webhooks', { url, events: ['message.sent'] })

  for (const browser of [shop.owner, shop.anna]) {
    const sending = shop.send(browser)
    await shop.clock.advance(5_000)
    await sending
  }
  await shop.clock.advance(5_000)

  const [first, second] = shop.sink.posts.map(({ body }) => keysOf(JSON.parse(body)))
  expect(first).toBeDefined()
  expect(second).toEqual(first ?? [])
})

test('the 26th browser of a member ends one of theirs, and none of the owner', async () => {
  await using shop = await openShop()
  for (let i = 0; i < 25; i += 1) {
    await shop.clock.advance(1_000)
    await shop.signIn('Anna')
  }

  const outcomes = [await shop.anna.get('/dashboard/unread'), await shop.owner.get(MEMBERS)]
  const sessions = (await shop.owner.get('/dashboard/sessions')).body.data

  expect(outcomes.map(outcome)).toEqual(['401 signed_out', '200'])
  const names = sessions.map(({ member_name = 'owner' }: Json) => member_name)
  expect(names.toSorted()).toEqual([...Array<string>(25).fill('Anna'), 'owner'])
})

test('the owner sees who is there: without a password, signed in, and signed out', async () => {
  await using shop = await openShop()
  await shop.owner.post(MEMBERS, { name: 'Ben' })
  const seen = async () =>
    (await shop.owner.get(MEMBERS)).body.data.map((one: Json) => [
      one.name,
      one.has_password,
      one.link_expires_at === null,
      one.last_seen_at === null,
    ])

  const before = await seen()
  await shop.anna.delete(SESSION)
  shop.clock.doze(3 * DAY)

  expect(before).toEqual([
    ['Anna', true, true, false],
    ['Ben', false, false, true],
  ])
  expect((await shop.signIn('Anna')).answer).toBe('200')
  const owner = await shop.logIn()
  const [, ben] = (await owner.get(MEMBERS)).body.data
  expect(ben).toMatchObject({ name: 'Ben', link_expires_at: null, last_seen_at: null })
})

test('an owner without a password makes no members, for nobody could end them in the page', async () => {
  await using relay = await startDashboard()
  const peer = { address: null, isControl: true, liftTimeout() {} }
  const request = new Request('http://localhost/api/v1/members', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Anna' }),
  })

  const answer = await relay.app.http.fetch(request, peer)

  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('hookline setup-link'),
  ])
})

test('neither a password nor a link can be read from the database', async () => {
  await using shop = await openShop()
  const { body } = await shop.owner.post(`${MEMBERS}/${shop.member.id}/link`, {})

  const rows = JSON.stringify(shop.db.sqlite.query('SELECT * FROM dashboard_members').all())

  expect(rows).not.toContain(PASSWORD)
  expect(rows).not.toContain(tokenOf(body.link.url))
})

function kindsOf(page: EventReader): readonly string[] {
  return [...new Set(page.takeKinds())].toSorted()
}

/** The names of all fields, those within others too. */
function keysOf(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)])
}
