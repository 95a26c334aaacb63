// From a cause to a text, an event and a POST, on the test clock.

import { expect, test } from 'bun:test'

import type { Json } from '../support/test-relay.ts'
import { MINUTE, startAlerts } from './alerts-stage.ts'

test('a line that is off for five minutes is reported by text, event and POST, and so is its end', async () => {
  await using at = await startAlerts()
  await at.phone()
  await at.ntfy()
  await at.hook()
  await at.device.goOffline()

  await at.passes(4 * MINUTE)
  const early = [at.texts(), at.posts(), at.heard()]
  await at.passes(2 * MINUTE)
  const raised = { texts: at.texts(), posts: at.posts(), events: at.heard() }
  await at.device.goOnline()
  await at.passes(2 * MINUTE)

  expect(early).toEqual([[], [], []])
  expect(raised.texts).toEqual([
    {
      by: '+12025550802',
      text: 'Hookline: 1 problem\nThe line +12025550801 is offline (for 5 minutes). As of 10:05 (UTC).',
    },
  ])
  expect(raised.posts).toEqual([
    {
      topic: 'my-alerts',
      title: 'Hookline: 1 problem',
      message: 'The line +12025550801 is offline (for 5 minutes). As of 10:05 (UTC).',
      priority: 4,
      tags: ['warning'],
      hookline_notice_id: expect.stringMatching(/^ntc_/),
    },
  ])
  expect(raised.events).toMatchObject([
    { event: 'alert.raised', phone_line_id: at.line.id, alert: { cause: 'line_off' } },
  ])
  expect(at.texts()[1]?.text).toBe(
    'Hookline: 1 over\nOver: The line +12025550801 is offline (after 6 minutes). As of 10:06 (UTC).',
  )
  expect(at.posts()[1]).toMatchObject({ priority: 3, tags: ['white_check_mark'] })
  const night = (await at.get('/api/v1/timeline')).data
  expect(
    night.flatMap(({ kind, text }: Json) => (kind.startsWith('alert.') ? [text] : [])),
  ).toEqual([
    'Over after 6 minutes: The line +12025550801 is offline.',
    'An alert was raised: The line +12025550801 is offline.',
  ])
  expect(at.heard()[1]).toMatchObject({ event: 'alert.resolved', alert: { lasted_seconds: 359 } })
  expect(
    (await at.alerts()).map(({ notices }) =>
      notices.map(({ status }: { status: string }) => status),
    ),
  ).toEqual([['done', 'done', 'done', 'done']])
})
