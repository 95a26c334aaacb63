// Home and the list of messages: charts that are read by hand, and what the owner does about what they show.

import { expect } from 'bun:test'

import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { busyWeeks, showBusyWeeks } from './busy-weeks.ts'
import { furnish, lineIds, say } from './furnished.ts'
import { PERSON, Stage } from './stage.ts'

const WIDE = { width: 3_840, height: 2_160 }

story('the charts of Home are read by arrow keys, and a day leads to its messages', async () => {
  await using stage = await Stage.open()
  const lines = await lineIds(await stage.api())
  const watched = await stage.page()
  const { page } = watched
  await showBusyWeeks(watched, lines)

  await watched.show('home')
  const chart = page.getByRole('group', { name: 'Messages, last 14 days' })
  await chart.locator('[tabindex="0"]').focus()
  await page.keyboard.press('ArrowLeft')
  const value = await page.evaluate<string>('document.activeElement.getAttribute("aria-label")')
  await watched.reads('Nov 20: 56 sent, 16 received, 3 failed')
  await page.keyboard.press('Enter')
  await watched.heading('Messages').waitFor()
  const { hash } = new URL(page.url())
  const strip = busyWeeks(lines).uptime[0]?.cells[60]

  expect(value).toBe('Nov 20: 56 sent, 16 received, 3 failed')
  expect(hash).toBe('#/messages?day=2026-11-20')
  expect(strip?.online_share).toBe(0.25)
  expect(watched.faults).toEqual([])
})

story(
  'a German browser shows English words, with the day before the month and 24 hours',
  async () => {
    await using stage = await Stage.open()
    const api = await stage.api()
    const [line] = await lineIds(api)
    await say(api, PERSON, 'Your table is ready.', line)
    const watched = await stage.page({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })

    await watched.show('home')
    const sent = watched.page.locator('.recent .ago').first()

    expect(await sent.innerText()).toMatch(/^(now|\d+ min\. ago)$/)
    expect(await sent.getAttribute('data-absolute')).toMatch(
      /^\w+, \d+ \w+ 20\d\d at \d\d:\d\d:\d\d$/,
    )
    expect(watched.faults).toEqual([])
  },
)

story('Home with two busy weeks fits a very wide screen, and everybody can use it', async () => {
  await using stage = await Stage.open()
  using furniture = await furnish(stage)
  const watched = await stage.page({ viewport: WIDE })
  await showBusyWeeks(watched, await lineIds(furniture.api))
  const problems: string[] = []

  for (const place of ['home', 'lines', 'conversations']) {
    await watched.show(place)
    problems.push(...(await watched.overflow()).parts)
    problems.push(...(await watched.accessibilityFaults('all')))
    await watched.whole(() => watched.keepPicture(`${place}-wide`))
  }

  expect(problems).toEqual([])
  expect(watched.faults).toEqual([])
})

story(
  'what failed is found from Home, looked into, and sent again only after a question',
  async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    const { api } = furniture
    const watched = await stage.page()
    const { page } = watched
    const messages = async (status: string) =>
      (await api.ask<{ data: unknown[] }>('GET', `/api/v1/messages?status=${status}`)).data.length
    await eventually('one failed and one is uncertain', async () =>
      (await messages('failed')) === 1 && (await messages('uncertain')) === 1 ? true : null,
    )

    await watched.show('home')
    await page.getByRole('link', { name: '1 failed', exact: true }).click()
    await watched.heading('Messages').waitFor()
    await watched.button('Send again…').click()
    await watched.button('Cancel').click()
    const afterCancel = await messages('failed')
    await page.getByRole('link', { name: /192/ }).click()
    await page.getByRole('dialog').getByText('message.failed').first().waitFor()
    const detail = await page.getByRole('dialog').innerText()
    await watched.button('Done').click()
    await watched.button('Send again…').click()
    await watched.button('Send again').click()
    await watched.reads('Sent again as a new message.')
    await eventually('it failed again', async () =>
      (await messages('failed')) === 2 ? true : null,
    )
    await page.getByLabel('Status').selectOption('uncertain')
    await watched.button('Mark as sent').click()
    await watched.reads('No messages match')
    const { hash } = new URL(page.url())

    expect(afterCancel).toBe(1)
    expect(detail).toMatch(/Accepted[^]+Failed[^]+after /)
    expect(hash).toBe('#/messages?status=uncertain&days=7')
    expect(await messages('uncertain')).toBe(0)
    expect(watched.faults).toEqual([])
  },
)

story('an issue is snoozed for a day, and shown again', async () => {
  await using stage = await Stage.open()
  const api = await stage.api()
  const [line] = await lineIds(api)
  await api.ask('PATCH', `/api/v1/phone-lines/${line}`, { daily_contact_limit: 1 })
  await say(api, PERSON, 'Your table is ready.', line)
  const watched = await stage.page()

  await watched.show('home')
  await watched.reads('1 issue needs attention')
  await watched.button('Snooze…').click()
  await watched.button('Snooze').click()
  await watched.reads('Everything works')
  await watched.page.getByText('1 snoozed issue').click()
  await watched.reads(/^Snoozed until /)
  await watched.button('Show now').click()
  await watched.reads('1 issue needs attention')

  expect(watched.faults).toEqual([])
})
