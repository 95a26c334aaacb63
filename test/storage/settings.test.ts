import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { LockedSettings } from '../../src/domain/setting.ts'
import { createAudit } from '../../src/storage/audit.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { createSettings } from '../../src/storage/settings.ts'
import { Writer } from '../../src/storage/writer.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { TestClock } from '../support/test-clock.ts'

function openSettings(locked: LockedSettings = {}) {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})
  const ids = new LogicalClock(new TestClock(), systemRandom, 0)
  const audit = createAudit({ writer, ids, log: silentLog })
  const tools = { db, writer, ids, audit, locked }
  return { settings: createSettings(tools), tools }
}

test('every setting has a default', () => {
  const { settings } = openSettings()

  expect(settings.list().map(({ name, value, from }) => [name, value, from])).toEqual([
    ['webhook_targets', 'any-private', 'default'],
    ['announce_device_messages', 'false', 'default'],
    ['enforce_automation_pause', 'false', 'default'],
    ['opt_out', 'enforce', 'database'],
    ['open_metrics', 'false', 'default'],
    ['time_zone', 'UTC', 'default'],
    ['message_retention_days', 'forever', 'default'],
    ['attachment_max_mb', '100', 'default'],
    ['attachment_quota_gb', '10', 'default'],
    ['attachment_retention_days', 'as-messages', 'default'],
    ['attachment_wait_seconds', '10', 'default'],
    ['box_lines_max', '10', 'default'],
    ['backups_kept', '7', 'default'],
    ['heartbeat_url', 'none', 'default'],
    ['heartbeat_stops_for', 'none', 'default'],
    ['release_source', 'none', 'default'],
  ])
})

test('a change is in effect once it is durable, after a restart, and until the default is set again', async () => {
  const { settings, tools } = openSettings()

  const changing = settings.set('message_retention_days', '90', COMMAND_LINE)
  const before = settings.get('message_retention_days')
  const answer = await changing

  expect(answer).toEqual({
    name: 'message_retention_days',
    value: '90',
    from: 'database',
    is_locked: false,
  })
  expect([before, settings.get('message_retention_days')]).toEqual([null, 90])
  expect(createSettings(tools).get('message_retention_days')).toBe(90)
  await settings.set('message_retention_days', 'forever', COMMAND_LINE)
  expect(settings.get('message_retention_days')).toBeNull()
})

test('the environment wins over the database and locks the setting', async () => {
  const { settings, tools } = openSettings({ webhook_targets: 'public' })
  tools.db.sqlite.run("INSERT INTO settings VALUES ('webhook_targets', 'any-private', 0)")

  const change = createSettings(tools).set('webhook_targets', 'any-private', COMMAND_LINE)

  await expect(change).rejects.toMatchObject({ code: 'invalid_request' })
  expect(settings.get('webhook_targets')).toBe('public')
  expect(settings.list()[0]).toEqual({
    name: 'webhook_targets',
    value: 'public',
    from: 'environment',
    is_locked: true,
  })
})

test('an unknown name and a value that does not fit are refused', async () => {
  const { settings } = openSettings()

  await expect(settings.set('colour', 'red', COMMAND_LINE)).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(settings.set('__proto__', 'red', COMMAND_LINE)).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(settings.set('backups_kept', '0', COMMAND_LINE)).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'value: must be a whole number from 1 to 365',
  })
})

test('a stored value that this version does not know counts as the default', () => {
  const { tools } = openSettings()
  tools.db.sqlite.run("INSERT INTO settings VALUES ('backups_kept', 'many', 0), ('new', '1', 0)")

  expect(createSettings(tools).get('backups_kept')).toBe(7)
})
