// Home and the list of messages: charts that are read by hand, and what the owner does about what they show.

import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'

import type { HomePictures } from '../../src/api/stats.ts'
import { eventually } from '../support/relay-process.ts'
import { story } from './browser.ts'
import { furnish, lineIds, say } from './furnished.ts'
import { COMPUTER, PHONE, PERSON, Stage } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

const SCREENSHOTS = `${import.meta.dir}/screenshots`
const WIDE = { width: 3_840, height: 2_160 }
const START = Date.parse('2026-11-21T10:00:00Z')
const iso = (time: number) => new Date(time).toISOString()

/** Figures of two busy weeks, with an outage of the first line. */
function busyWeeks(lines: readonly string[]): HomePictures {
  const latency = { send_p50_ms: 1_000, send_p95_ms: 5_000 }
  return {
    time_zone: 'UTC',
    days: Array.from({ length: 14 }, (_, at) => {
      const failed = at === 12 ? 3 : 0
      const figures = { sent: 20 + at * 3, received: 40 - at * 2, failed, uncertain: 0 }
      const own = lines.map((phone_line_id) => ({ phone_line_id, ...figures, new_contacts: at }))
      const day = iso(START - (13 - at) * 86_400_000).slice(0, 10)
      return { day, ...figures, ...latency, new_contacts: at, lines: own }
    }),
    uptime: lines.map((phone_line_id, line) => ({
      phone_line_id,
      cells: Array.from({ length: 90 }, (_, at) => {
        const from = START - (90 - at) * 28_800_000
        const isOut = line === 0 && at === 60
        const known = isOut ? 0.25 : 1
        const online_share = at < 20 ? null : known
        const reasons = isOut ? [{ reason: 'device_absent', seconds: 21_600 }] : []
        return { from: iso(from), to: iso(from + 28_800_000), online_share, reasons }
      }),
    })),
    queue: Array.from({ length: 288 }, (_, at) => ({
      at: iso(START - (287 - at) * 300_000),
      messages: at > 100 && at < 130 ? 130 - at : 0,
      deliveries: at % 40,
    })),
    webhooks: [
      {
        webhook_id: 'wh_a',
        from: iso(START - 86_400_000),
        cells: Array.from({ length: 48 }, (_, at) => ({ ok: at, failed: at === 30 ? 9 : 0 })),
        p50_ms: 50,
        p95_ms: 250,
        causes: [],
      },
    ],
  }
}

async function showBusyWeeks({ page }: WatchedPage, lines: readonly string[]): Promise<void> {
  await page.route('**/dashboard/pictures/home', (route) =>
    route.fulfill({ json: busyWeeks(lines) }),
  )
}

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

for (const [size, viewport] of Object.entries({ phone: PHONE, computer: COMPUTER, wide: WIDE })) {
  story(`Home with two busy weeks fits, and everybody can use it: ${size}`, async () => {
    await using stage = await Stage.open()
    using furniture = await furnish(stage)
    const lines = await lineIds(furniture.api)
    const watched = await stage.page({ viewport, bypassCSP: true })
    await showBusyWeeks(watched, lines)
    mkdirSync(SCREENSHOTS, { recursive: true })
    const problems: string[] = []

    for (const place of ['home', 'lines', `lines/${lines[0]}`, 'messages?status=failed']) {
      await watched.show(place)
      problems.push(...(await watched.overflow()).parts)
      for (const colorScheme of ['light', 'dark'] as const) {
        await watched.page.emulateMedia({ colorScheme })
        problems.push(
          ...(await watched.accessibilityFaults(colorScheme === 'light' ? 'all' : 'contrast')),
        )
        const name = place.split(/[?]/)[0]?.replace(/\/.*/, '-one')
        await watched.photograph(`${SCREENSHOTS}/figures-${name}-${size}-${colorScheme}.png`)
      }
    }

    expect(problems).toEqual([])
    expect(watched.faults).toEqual([])
  })
}

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
    await page.getByRole('dialog').getByText('Accepted').waitFor()
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
    expect(detail).toContain('message.failed')
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
