import { expect } from 'bun:test'

import { Receiver } from '../support/receiver.ts'
import { furnish, say } from './furnished.ts'
import { OUTAGE, PERSON, SHOWN_PERSON } from './stage.ts'
import { story } from './story.ts'

story(
  'a failing webhook is found, diagnosed, fixed and delivered to again',
  async ({ stage, api, lines: [line] }) => {
    let isMended = false
    using receiver = new Receiver(() =>
      isMended ? new Response('ok') : new Response('no such table: bookings', { status: 500 }),
    )
    const watched = await stage.page()
    const { page } = watched

    await watched.show('webhooks')
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
    await watched.button('Continue').click()
    await watched.button('Add webhook').click()
    receiver.secret = await watched.field('Secret').innerText()
    await watched.button('Done').click()
    await say(api, PERSON, 'Your table is ready.', line)
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
  },
)

story(
  'a URL needs no scheme; events of all lines come if none is chosen',
  async ({ stage, api, lines: [line] }) => {
    const watched = await stage.page()
    const { page } = watched
    const webhooks = async () =>
      (await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/webhooks')).data

    await watched.show('webhooks')
    await page.getByRole('textbox', { name: 'URL' }).fill('shop.example.com/hooks')
    await watched.button('Continue').click()
    const field = page.getByRole('dialog').getByLabel('URL')
    const completed = await field.inputValue()
    await field.fill('localhost:8080/hooks')
    await watched.reads('Events will be sent to http://localhost:8080/hooks')
    await page.getByRole('dialog').getByLabel('+1 202 555 0101').check()
    await watched.button('Add webhook').click()
    await watched.button('Done').click()
    const limited = await webhooks()
    await watched.show(`webhooks/${limited[0]?.id}/settings`)
    await page.getByLabel('+1 202 555 0101').uncheck()
    await watched.button('Save').click()
    await watched.reads('Saved.')
    const open = await webhooks()
    await watched.show('webhooks')
    await page.getByRole('button', { name: /^Pause localhost:8080/ }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    const paused = await webhooks()
    await page.getByRole('button', { name: /^Resume localhost:8080/ }).click()
    await page.getByText('Active', { exact: true }).waitFor()

    expect(paused).toMatchObject([{ is_active: false }])
    expect(completed).toBe('https://shop.example.com/hooks')
    expect(limited).toMatchObject([
      {
        url: 'http://localhost:8080/hooks',
        events: [
          'message.received',
          'message.sent',
          'message.delivered',
          'message.read',
          'message.failed',
        ],
        phone_line_ids: [line],
      },
    ])
    expect(open).toEqual([expect.not.objectContaining({ phone_line_ids: expect.anything() })])
  },
)

story(
  'without an endpoint, the test inbox shows what arrives, until a restart',
  async ({ stage, api, lines: [line] }) => {
    const watched = await stage.page()
    const { page } = watched

    await watched.show('webhooks')
    await watched.button('Use the test inbox').click()
    await watched.button('Add webhook').click()
    await watched.button('Done').click()
    await watched.reads('Nothing has arrived yet')
    await say(api, PERSON, 'Your table is ready.', line)
    const row = page.locator('summary', { hasText: 'message.sent' })
    await row.getByText('Signature verified').waitFor()
    await row.focus()
    await page.keyboard.press('Enter')
    await watched.reads('"text": "Your table is ready."')
    stage.excuse(OUTAGE)
    // The request that is open was lost with the relay's memory.
    stage.excuse(/status of 404/)
    await stage.stopRelay()
    await stage.startRelay()
    await watched.reads('Nothing has arrived yet')
    await say(api, PERSON, 'Another one.', line)
    await row.getByText('Signature verified').waitFor()

    const { data } = await api.ask<{ data: { url: string }[] }>('GET', '/api/v1/webhooks')
    expect(data.map(({ url }) => url.startsWith(`${stage.url}/test-inbox/`))).toEqual([true])
  },
)

story(
  'deliveries are filtered by person, as the address says, and one is retried',
  async ({ stage, ...relay }) => {
    using furniture = await furnish(relay)
    const watched = await stage.page()
    const { page } = watched
    const rows = page.locator('a[aria-expanded]')

    await watched.show(`webhooks/${furniture.failingWebhookId}`)
    await rows.nth(9).waitFor()
    await page.getByText('More filters').focus()
    await page.keyboard.press('Enter')
    await watched.field('Number or email').fill(PERSON.replace('+1', '+1 '))
    await page.waitForURL(/handle=/)
    await rows.nth(3).waitFor({ state: 'detached' })
    await rows.getByText(SHOWN_PERSON).nth(2).waitFor()
    const people = await rows.locator('.person-text').allInnerTexts()
    await watched.field('Event').selectOption('message.read')
    await page.waitForURL(/event=message\.read/)
    await rows.nth(1).waitFor({ state: 'detached' })
    await rows.first().getByText('Attempt').waitFor()
    await page.reload()
    await rows.first().waitFor()
    await watched.button('Retry now').click()
    await watched.reads('Sending again.')

    expect(new Set(people)).toEqual(new Set([SHOWN_PERSON]))
    expect(await rows.count()).toBe(1)
  },
)

story(
  'a webhook is added in the form of another API, with the events of it',
  async ({ stage, api }) => {
    const watched = await stage.page()
    const { page } = watched
    const dialog = page.getByRole('dialog')
    const sent = dialog.getByRole('checkbox', { name: /^message.sent/ })

    await watched.show('webhooks')
    await page.getByRole('textbox', { name: 'URL' }).fill('http://localhost:8080/hooks')
    await watched.button('Continue').click()
    await watched.reads("Hookline's own form, with all events.")
    await dialog.getByLabel('Format').selectOption('signal-cli')
    await watched.reads('received messages only')
    await sent.check()
    stage.excuse(/status of 400/)
    await watched.button('Add webhook').click()
    await watched.reads('in the format signal-cli')
    await sent.uncheck()
    await watched.button('Add webhook').click()
    await watched.button('Done').click()
    const { data } = await api.ask<{ data: readonly object[] }>('GET', '/api/v1/webhooks')

    expect(data).toMatchObject([{ format: 'signal-cli', events: ['message.received'] }])
  },
)
