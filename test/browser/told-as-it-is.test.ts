// What the page says after an act is what became of it.

import { expect } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { Receiver } from '../support/receiver.ts'
import { showBusyWeeks } from './busy-weeks.ts'
import { say } from './furnished.ts'
import { PERSON } from './stage.ts'
import { openThread, story } from './story.ts'

/** Of the simulated network: on SMS only, and on nothing at all. */
const ON_SMS = '+12025550192'
const NOWHERE = '+12025550189'

story(
  'resuming a webhook says how many events came while it was paused, and sends them if asked',
  async ({ stage, api, lines: [line] }) => {
    using receiver = new Receiver()
    const body = { url: receiver.url, events: ['message.sent'] }
    const { id } = await api.ask<{ id: string }>('POST', '/api/v1/webhooks', body)
    const watched = await stage.page()
    const { page } = watched
    const pauseAnd = async (texts: readonly string[]) => {
      await watched.button('Pause').click()
      await watched.reads('This webhook is paused')
      for (const text of texts) {
        const said = await say(api, PERSON, text, line)
        const read = () => api.ask<{ sent_at: string | null }>('GET', `/api/v1/messages/${said.id}`)
        await eventually('it was sent', async () => (await read()).sent_at)
      }
      await watched.button('Resume').click()
    }

    await watched.show(`webhooks/${id}`)
    await pauseAnd([])
    await watched.reads('Webhook resumed.')
    await pauseAnd(['One.'])
    await page.getByRole('dialog', { name: '1 event came while it was paused' }).waitFor()
    await watched.button("Don't send").click()
    await pauseAnd(['Two.', 'Three.'])
    await page.getByRole('dialog', { name: '2 events came while it was paused' }).waitFor()
    await watched.keepPicture('resume')
    await watched.button('Send 2 events').click()
    await watched.reads('Sending 2 events.')
    await eventually('two events arrived', () => receiver.received[1] ?? null)

    const texts = receiver.received.map(({ message }) => message.text)
    expect(texts.toSorted()).toEqual(['Three.', 'Two.'])
  },
)

story(
  'a number without iMessage is offered SMS, and a message that fails again is never reported as sent',
  async (scene) => {
    const { stage, watched, thread } = {
      stage: scene.stage,
      ...(await openThread(scene, { to: ON_SMS })),
    }
    const sms = watched.bubble('Your table is ready.').nth(1)
    await watched.button('Send as SMS').dblclick()
    await sms.getByText('SMS', { exact: true }).waitFor()
    const link = watched.page.getByRole('link', { name: /^Sent again as SMS · / })
    await link.click()
    await sms.and(watched.page.locator(':focus')).waitFor()
    const notices = await watched.page.locator('.notice').count()
    const { conversation_id: nowhere } = await say(
      scene.api,
      NOWHERE,
      'Are you there?',
      scene.lines[0],
    )

    await watched.show(`conversations/${nowhere}`)
    await watched.button('Send as SMS').click()
    const failed = thread.getByText('Failed', { exact: true })
    await failed.nth(1).waitFor()
    await link.waitFor()
    await watched.show('messages?status=failed')
    await link.nth(1).waitFor()
    const offered = await watched.page.getByRole('button', { name: /^Send (again|as SMS)/ }).count()
    await watched.show(`conversations/${nowhere}`)

    expect([notices, offered]).toEqual([1, 1])
    expect(await failed.count()).toBe(2)
    expect(stage.faults).toEqual([])
  },
)

story('an uptime strip says from when it counts, and what its gray part is', async (scene) => {
  const watched = await scene.stage.page({ locale: 'en-US', timezoneId: 'UTC' })
  await showBusyWeeks(watched, scene.lines)
  await watched.show('home')
  // The year is said once it has passed.
  const name = /^Uptime of \+1 202 555 0102: 100% online since Oct 29(, 2026)? \(gray: no data\)$/
  const strip = watched.page.getByRole('group', { name })
  await strip.waitFor()

  const seen = await watched.page
    .getByText(/^100% online since Oct 29.* \(gray: no data\)$/)
    .count()

  expect([await strip.count(), seen]).toEqual([1, 1])
})
