// The gallery: a program gets its key and its values, a test is sent, and its first call is seen at once.

import { expect } from 'bun:test'

import { problemsAt, fits, isReadableByNight, isUsable } from './pages.ts'
import { COMPUTER, PHONE, TOUCH } from './stage.ts'
import { story } from './story.ts'

const OWNER = '+12025550123'

story(
  'Uptime Kuma is connected from its tile to its first call, and no secret stays',
  async ({ stage }) => {
    const watched = await stage.page()
    const { page } = watched

    await watched.show('connect')
    await page.getByRole('link', { name: 'Uptime Kuma' }).click()
    await page.getByRole('textbox', { name: 'Numbers that it may text' }).fill('(202) 555-0123')
    await watched.button('Create key').click()
    const server = await watched.field('Server URL').innerText()
    const apiKey = await watched.field('API Key').innerText()
    const recipients = await watched.field('Recipients').innerText()
    await watched.reads('Waiting for its first call')
    await watched.button('Send a test').click()
    await watched.reads(`Sent to ${OWNER}.`)
    const call = (to: string) =>
      fetch(`${server}/api/v1/sms/send`, {
        method: 'POST',
        headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ to, body: '[down] the shop' }),
      })
    const statuses = [(await call('+12025550177')).status, (await call(recipients)).status]
    await watched.reads('Uptime Kuma is connected')
    await page.getByRole('link', { name: 'Connect' }).first().click()
    await page.getByRole('link', { name: 'Grafana' }).waitFor()
    const traces = await watched.traces()
    await watched.show('keys')
    await watched.reads('through sms only')

    expect(server).toBe(`${stage.url}/compat/sms`)
    expect(recipients).toBe(OWNER)
    expect(statuses).toEqual([403, 200])
    expect(apiKey.split(':').filter((part) => traces.includes(part))).toEqual([])
  },
)

story('a number of the country is understood, however late its rules come', async ({ stage }) => {
  const watched = await stage.page()
  const letGo = await watched.hold('**/assets/handle*')

  await watched.page.goto('/#/connect/apprise')
  const numbers = watched.page.getByRole('textbox', { name: 'Numbers that it may text' })
  const isThere = numbers.waitFor({ timeout: 1_000 }).then(
    () => true,
    () => false,
  )
  if (!(await isThere)) letGo()
  await numbers.fill('(202) 555-0123')
  await watched.button('Create key').click()

  expect(await watched.field('URL').innerText()).toContain(OWNER)
})

story('the address that the program reaches is in all its values', async ({ stage }) => {
  const watched = await stage.page()
  const { page } = watched

  await watched.show('connect/home-assistant')
  await page.getByRole('textbox', { name: 'Numbers that it may text' }).fill(OWNER)
  await page.getByRole('textbox', { name: 'Address of the relay' }).fill('http://10.0.0.5:4665/')
  await watched.button('Create key').click()
  const yaml = await watched.field('configuration.yaml').innerText()

  expect(yaml).toMatch(
    /url: "http:\/\/hl_live_[^:]+:hl_secret_[^@]+@10\.0\.0\.5:4665\/compat\/signal-cli"/,
  )
  expect(yaml).toContain('number: "+12025550101"')
})

story(
  'a program without a number gets no key, and a wrong number is said beside its field',
  async ({ stage, api }) => {
    const watched = await stage.page()
    const { page } = watched
    stage.excuse(/status of 400/)
    const count = async () =>
      (await api.ask<{ data: unknown[] }>('GET', '/api/v1/keys')).data.length
    const before = await count()

    await watched.show('connect/apprise')
    const disabled = await watched.button('Create key').getAttribute('aria-disabled')
    const numbers = page.getByRole('textbox', { name: 'Numbers that it may text' })
    await numbers.fill('12')
    await watched.button('Create key').click()
    await page.locator('.field-error').waitFor()

    expect(disabled).toBe('true')
    expect(await count()).toBe(before)
  },
)

const NAMES = ['gallery', 'program', 'values'] as const
const PRESSED = [
  'role=textbox[name="Numbers that it may text"]',
  `=${OWNER}`,
  'role=button[name="Create key"]',
]
const PLACES = [
  { name: NAMES[0], hash: 'connect', step: null, press: [] },
  { name: NAMES[1], hash: 'connect/authentik', step: null, press: [] },
  { name: NAMES[2], hash: 'connect/apprise', step: null, press: PRESSED },
]

story('the gallery fits a phone and a computer, and everybody can use it', async ({ stage }) => {
  const phone = await stage.page({ viewport: PHONE, ...TOUCH })
  const computer = await stage.page({ viewport: COMPUTER })

  expect(await problemsAt(phone, PLACES, [fits, isUsable, isReadableByNight])).toEqual([])
  expect(await problemsAt(computer, PLACES, [fits, isUsable])).toEqual([])
})
