// Operations of the dashboard that ask for the password again after an hour.

import { expect, test } from 'bun:test'

import { dashboardRoutes } from '../../src/http/routes.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { OPERATIONS, pathOf } from './dashboard-operations.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'
import { NO_TOOLS } from './http-relay.ts'

const HOUR = 3_600_000
const NEEDED = '403 password_needed'

test('every operation of the dashboard is in the table', () => {
  const { routes } = dashboardRoutes(NO_TOOLS, new AbortController().signal)

  const operations = routes.map(({ method, path }) => `${method} ${path}`)

  expect(operations.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted())
})

test('each operation asks for the password again after an hour, or does not, as the table says', async () => {
  await using relay = await startDashboard()
  await relay.claim()
  const table = Object.entries(OPERATIONS).filter(([, [word]]) => word !== 'depends')
  const found: [operation: string, word: string][] = []

  for (const [operation, [, body]] of table) {
    const browser = await relay.logIn()
    relay.clock.doze(HOUR)
    const [method = '', route = ''] = operation.split(' ')
    const answer = await browser.fetch(method, pathOf(route), { body })
    const text = answer.ok ? '' : await answer.text()
    await answer.body?.cancel().catch(() => {})
    found.push([operation, text.includes('"code":"password_needed"') ? 'asks' : 'free'])
  }

  const expected = table.map(([operation, [word]]) => [operation, word] as const)
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
}, 180_000)

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
]

for (const [what, changes, expected] of MOVES) {
  test(`a change of a webhook to ${what} after an hour is ${expected}`, async () => {
    await using relay = await startDashboard()
    const browser = await relay.claim()
    const settings = { url: 'https://shop.example.com/hooks', events: ['message.received'] }
    const { id } = (await browser.post('/dashboard/api/webhooks', settings)).body
    relay.clock.doze(HOUR)

    const answer = await browser.put(`/dashboard/api/webhooks/${id}`, changes)

    expect(outcome(answer)).toBe(expected)
    const { url } = (await browser.get(`/dashboard/api/webhooks/${id}`)).body
    expect(url).toBe(settings.url)
  })
}

test('a webhook that was paused is not active again without the password', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const settings = { url: 'https://shop.example.com/hooks', events: ['message.received'] }
  const { id } = (await browser.post('/dashboard/api/webhooks', settings)).body
  await browser.put(`/dashboard/api/webhooks/${id}`, { is_active: false })
  relay.clock.doze(HOUR)

  const answer = await browser.put(`/dashboard/api/webhooks/${id}`, { is_active: true })

  expect(outcome(answer)).toBe(NEEDED)
})

const LINE_CHANGES: readonly (readonly [what: string, changes: object, expected: string])[] = [
  ['more new contacts', { daily_contact_limit: 51 }, NEEDED],
  ['as many new contacts', { daily_contact_limit: 50 }, '200'],
  ['fewer new contacts', { daily_contact_limit: 0 }, '200'],
  ['SMS too', { relay_sms: true }, NEEDED],
  ['no SMS', { relay_sms: false }, '200'],
  ['a label', { label: 'shop' }, '200'],
  ['off', { is_enabled: false }, '200'],
]

for (const [what, changes, expected] of LINE_CHANGES) {
  test(`a change of a line to ${what} after an hour is ${expected}`, async () => {
    const driver = new ScriptedDriver()
    driver.add('+12025550101')
    await using relay = await startDashboard({ drivers: [driver] })
    const browser = await relay.claim()
    const [line] = (await browser.get('/dashboard/api/phone-lines')).body.data
    relay.clock.doze(HOUR)

    const answer = await browser.ask('PATCH', `/dashboard/api/phone-lines/${line.id}`, {
      body: changes,
    })

    expect(outcome(answer)).toBe(expected)
  })
}
