import { expect } from 'bun:test'

import { Receiver } from '../support/receiver.ts'
import { story } from './browser.ts'
import { furnish, lineIds, say } from './furnished.ts'
import { PERSON, SHOWN_PERSON, Stage } from './stage.ts'

story('a failing webhook is found, diagnosed, fixed and delivered to again', async () => {
  await using stage = await Stage.open()
  let isMended = false
  using receiver = new Receiver(() =>
    isMended ? new Response('ok') : new Response('no such table: bookings', { status: 500 }),
  )
  const [first] = await lineIds(await stage.api())
  const watched = await stage.page()
  const { page } = watched

  await watched.show('webhooks')
  await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await watched.button('Continue').click()
  await watched.button('Add webhook').click()
  receiver.secret = await page.getByLabel('Secret', { exact: true }).innerText()
  await watched.button('Done').click()
  await say(await stage.api(), PERSON, 'Your table is ready.', first)
  await watched.show('webhooks')
  await watched.link(receiver.url.replace('http://', '')).click()
  const row = page.locator('a[aria-expanded]', { hasText: 'message.sent' })
  await row.getByText('Your endpoint failed (500)').waitFor()
  await row.click()
  await watched.reads('no such table: bookings')
  isMended = true
  await watched.button('Redeliver').click()
  await row.getByText('Delivered').waitFor()
  await watched.reads('requested by you')
  const traces = await watched.traces()

  expect(
    receiver.received.some(({ event, isSigned }) => event === 'message.sent' && isSigned),
  ).toBe(true)
  expect(traces).not.toContain(receiver.secret)
  expect(watched.faults).toEqual([])
})

story('a webhook URL needs no scheme, and failures are among the events of a new one', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const watched = await stage.page()
  const { page } = watched

  await watched.show('webhooks')
  await page.getByRole('textbox', { name: 'URL' }).fill('shop.example.com/hooks')
  await watched.button('Continue').click()
  const field = page.getByRole('dialog').getByLabel('URL')
  const completed = await field.inputValue()
  await field.fill('localhost:8080/hooks')
  await watched.reads('Events will be sent to http://localhost:8080/hooks')
  await watched.button('Add webhook').click()
  await watched.button('Done').waitFor()

  const { data } = await api.ask<{ data: unknown[] }>('GET', '/api/v1/webhooks')
  expect(completed).toBe('https://shop.example.com/hooks')
  expect(data).toMatchObject([
    {
      url: 'http://localhost:8080/hooks',
      events: [
        'message.received',
        'message.sent',
        'message.delivered',
        'message.read',
        'message.failed',
      ],
    },
  ])
  expect(watched.faults).toEqual([])
})

story(
  'without an endpoint, the test inbox shows what arrives, until the relay is restarted',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const watched = await stage.page({ bypassCSP: true })
    const { page } = watched

    await watched.show('webhooks')
    await watched.button('Use the test inbox').click()
    await watched.button('Add webhook').click()
    await watched.button('Done').click()
    await watched.reads('Nothing has arrived yet')
    await say(api, PERSON, 'Your table is ready.', first)
    const row = page.locator('summary', { hasText: 'message.sent' })
    await row.getByText('Signature verified').waitFor()
    await row.focus()
    await page.keyboard.press('Enter')
    await watched.reads('"text": "Your table is ready."')
    const faults = [...watched.faults, ...(await watched.accessibilityFaults('all'))]
    await stage.stopRelay()
    await stage.startRelay()
    await watched.reads('Nothing has arrived yet')
    await say(await stage.api(), PERSON, 'Another one.', first)
    await row.getByText('Signature verified').waitFor()

    const { data } = await api.ask<{ data: { url: string }[] }>('GET', '/api/v1/webhooks')
    expect(data.map(({ url }) => url.startsWith(`${stage.url}/test-inbox/`))).toEqual([true])
    expect(faults).toEqual([])
  },
)

story(
  'deliveries are filtered by person with the filter in the address, and one is retried',
  async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    const watched = await stage.page({ bypassCSP: true })
    const { page } = watched
    const rows = page.locator('a[aria-expanded]')

    await watched.show(`webhooks/${furniture.failingWebhookId}`)
    await rows.nth(9).waitFor()
    await page.getByText('More filters').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Number or email').fill(PERSON.replace('+1', '+1 '))
    await page.waitForURL(/handle=/)
    await rows.nth(3).waitFor({ state: 'detached' })
    await rows.getByText(SHOWN_PERSON).nth(2).waitFor()
    const unfit = await watched.accessibilityFaults('all')
    const people = await rows.locator('.person-text').allInnerTexts()
    await page.getByLabel('Event').selectOption('message.read')
    await page.waitForURL(/event=message\.read/)
    await rows.nth(1).waitFor({ state: 'detached' })
    await rows.first().getByText('Attempt').waitFor()
    await page.reload()
    await rows.first().waitFor()
    await watched.button('Retry now').click()
    await watched.reads('Sending again.')

    expect(new Set(people)).toEqual(new Set([SHOWN_PERSON]))
    expect(await rows.count()).toBe(1)
    expect([...watched.faults, ...unfit]).toEqual([])
  },
)

story(
  'a webhook gets the events of the lines that are chosen, and of all where none is',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    const watched = await stage.page()
    const { page } = watched
    const webhook = async () => {
      type Webhooks = { data: { id: string; phone_line_ids?: string[] }[] }
      const { data } = await api.ask<Webhooks>('GET', '/api/v1/webhooks')
      return data[0]
    }

    await watched.show('webhooks')
    await page.getByRole('textbox', { name: 'URL' }).fill('https://shop.example/hooks')
    await watched.button('Continue').click()
    await page.getByRole('dialog').getByLabel('+1 202 555 0101').check()
    await watched.button('Add webhook').click()
    await watched.button('Done').click()
    const limited = await webhook()
    await watched.show(`webhooks/${limited?.id}/settings`)
    await page.getByLabel('+1 202 555 0101').uncheck()
    await watched.button('Save').click()
    await watched.reads('Saved.')

    const open = await webhook()
    expect([limited?.phone_line_ids, open?.phone_line_ids]).toEqual([[first], undefined])
    expect(watched.faults).toEqual([])
  },
)
