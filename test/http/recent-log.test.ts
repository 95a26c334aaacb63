import { expect, test } from 'bun:test'

import { startDashboard } from './dashboard-rig.ts'

test('the owner reads the newest 500 lines of the log in the page, and where all of them are', async () => {
  await using relay = await startDashboard({ parts: { logPlace: 'The whole log: hookline logs' } })
  const owner = await relay.claim()
  for (let count = 0; count < 520; count += 1) {
    await owner.put('/dashboard/api/settings/backups_kept', { value: String((count % 9) + 1) })
  }

  const { body } = await owner.get('/dashboard/api/log')

  expect([body.data.length, body.place]).toEqual([500, 'The whole log: hookline logs'])
  const { seq, level, message, fields } = body.data.at(-1)
  expect([level, message, fields.action]).toEqual(['info', 'audit', 'setting.changed'])
  expect(seq).toBeGreaterThan(500)
})

test('no key reads the log', async () => {
  await using relay = await startDashboard()

  expect((await relay.request('GET', '/api/v1/log')).status).toBe(404)
})
