// Operations of the dashboard that ask for the password again after an hour.

import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { OPERATIONS, pathOf, ROUTES, TABLE } from './dashboard-operations.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'

const HOUR = 3_600_000
const NEEDED = '403 password_needed'

test('every change of the dashboard is in the table, and nothing that is none of its operations', () => {
  const changes = ROUTES.filter((route) => !route.startsWith('GET '))

  expect(changes.filter((route) => !(route in TABLE))).toEqual([])
  expect(Object.keys(TABLE).filter((operation) => !ROUTES.includes(operation))).toEqual([])
})

test('each operation asks for the password again after an hour, or does not, as the table says', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  relay.clock.doze(HOUR)
  const table = Object.entries(OPERATIONS).filter(([, [word]]) => word !== 'depends')
  const found: [operation: string, word: string][] = []

  for (const [operation, [, body]] of table) {
    const [method = '', route = ''] = operation.split(' ')
    const answer = await browser.fetch(method, pathOf(route), { body })
    const text = answer.ok ? '' : await answer.text()
    await answer.body?.cancel().catch(() => {})
    found.push([operation, text.includes('"code":"password_needed"') ? 'asks' : 'free'])
    if (browser.cookie === null) {
      browser.continueAs(await relay.logIn())
      relay.clock.doze(HOUR)
    }
  }

  const expected = table.map(([operation, [word]]) => [operation, word] as const)
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
})

test('all settings last, so each asks', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const { data } = (await browser.get('/dashboard/api/settings')).body
  relay.clock.doze(HOUR)

  for (const { name } of data) {
    const answer = await browser.put(`/dashboard/api/settings/${name}`, { value: '1' })

    expect(`${name} ${outcome(answer)}`).toBe(`${name} ${NEEDED}`)
  }
})

const MOVES: readonly (readonly [what: string, changes: object, expected: string])[] = [
  ['another address', { url: 'https://attacker.example/' }, NEEDED],
  ['another path', { url: 'https://shop.example.com/other' }, NEEDED],
  [
    'another address beside what stays',
    { url: 'https://a.example/', events: ['message.sent'] },
    NEEDED,
  ],
  ['the same address', { url: 'https://shop.example.com/hooks' }, '200'],
  ['other events', { events: ['message.sent'] }, '200'],
  ['what is active already', { is_active: true }, '200'],
  ['a pause', { is_active: false }, '200'],
  ['nothing', {}, '400 invalid_request'],
  ['what is active no more', { is_active: true }, NEEDED],
]

test('a change of a webhook asks for the password after an hour if something new would get its events', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const settings = { url: 'https://shop.example.com/hooks', events: ['message.received'] }
  const { id } = (await browser.post('/dashboard/api/webhooks', settings)).body
  const path = `/dashboard/api/webhooks/${id}`
  relay.clock.doze(HOUR)

  for (const [what, changes, expected] of MOVES) {
    expect([what, outcome(await browser.put(path, changes))]).toEqual([what, expected])
  }
  expect((await browser.get(path)).body.url).toBe(settings.url)
})

const LINE_CHANGES: readonly (readonly [what: string, changes: object, expected: string])[] = [
  ['more new contacts', { daily_contact_limit: 51 }, NEEDED],
  ['as many new contacts', { daily_contact_limit: 50 }, '200'],
  ['fewer new contacts', { daily_contact_limit: 0 }, '200'],
  ['SMS too', { relay_sms: true }, NEEDED],
  ['no SMS', { relay_sms: false }, '200'],
  ['groups too', { relay_groups: true }, NEEDED],
  ['a label', { label: 'shop' }, '200'],
  ['off', { is_enabled: false }, '200'],
]

test('a change of a line asks for the password after an hour if it sends more than before', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550101')
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  const [line] = (await browser.get('/dashboard/api/phone-lines')).body.data
  const path = `/dashboard/api/phone-lines/${line.id}`
  relay.clock.doze(HOUR)

  for (const [what, changes, expected] of LINE_CHANGES) {
    const answer = await browser.ask('PATCH', path, { body: changes })

    expect([what, outcome(answer)]).toEqual([what, expected])
  }
})
