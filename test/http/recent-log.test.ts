import { expect, test } from 'bun:test'

import { RecentLines, silentLog } from '../../src/system/log.ts'
import { TestClock } from '../support/test-clock.ts'
import { startDashboard } from './dashboard-rig.ts'

test('of the log the newest 500 lines are kept', () => {
  const recent = new RecentLines(silentLog, new TestClock())

  for (let count = 1; count <= 520; count += 1) recent.log.info('changed', { count })

  const { data } = recent.read()
  expect(data.length).toBe(500)
  expect([data[0], data.at(-1)]).toMatchObject([
    { seq: 21, level: 'info', message: 'changed', fields: { count: 21 } },
    { seq: 520, level: 'info', message: 'changed', fields: { count: 520 } },
  ])
})

test('the owner reads the newest lines of the log in the page, and where all of them are; no key does', async () => {
  await using relay = await startDashboard({ parts: { logPlace: 'The whole log: hookline logs' } })
  const owner = await relay.claim()
  await owner.put('/dashboard/api/settings/backups_kept', { value: '3' })

  const { body } = await owner.get('/dashboard/api/log')
  const byKey = await relay.request('GET', '/api/v1/log')

  expect(body.place).toBe('The whole log: hookline logs')
  const { level, message, fields } = body.data.at(-1)
  expect([level, message, fields.action]).toEqual(['info', 'audit', 'setting.changed'])
  expect(byKey.status).toBe(404)
})
