import { expect, test } from 'bun:test'

import { momentWords } from '../../src/dashboard/time-words.ts'
import {
  ACTIONS,
  actionWords,
  changeWords,
  lineWords,
  placeOf,
} from '../../src/dashboard/words/activity.ts'
import { AUDIT_ACTIONS } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { isoTime } from '../../src/system/iso-time.ts'
import { TEST_START } from '../support/test-clock.ts'

const at = isoTime(timestamp(TEST_START))
const ENTRY = {
  id: 'aud_a',
  at,
  action: 'setting.changed',
  actor: { kind: 'key', id: 'key_a' },
  address: null,
  request_id: null,
  about: { kind: 'setting', id: 'backups_kept' },
  before: { value: '7' },
  after: { value: '9' },
  count: 1,
  last_at: at,
} as const

test('every action has a sentence', () => {
  expect([...ACTIONS].toSorted()).toEqual([...AUDIT_ACTIONS].toSorted())
})

test('an entry is reported in sentences, with its changes', () => {
  const refused = { ...ENTRY, action: 'password.refused', count: 3 } as const

  expect(actionWords(ENTRY, () => null)).toBe('Setting backups kept changed')
  expect(changeWords(ENTRY, () => null)).toEqual(['Value: 7 → 9'])
  expect(actionWords(refused, () => null)).toBe('Wrong password entered 3 times')
})

test('changes name things, times are local, and a deleted thing keeps the name that it had', () => {
  const named = new Map([
    ['line_a', 'Front desk'],
    ['line_b', 'Workshop'],
    ['wh_a', 'shop.example/hook'],
  ])
  const nameOf = (id: string | null) => named.get(id ?? '') ?? null
  const changed = {
    ...ENTRY,
    action: 'webhook.changed',
    about: { kind: 'webhook', id: 'wh_a' },
    before: { phone_line_ids: ['line_a'], is_active: true },
    after: { phone_line_ids: ['line_a', 'line_b'], is_active: false },
  } as const
  const gone = {
    ...ENTRY,
    action: 'key.revoked',
    about: { kind: 'key', id: 'key_gone' },
    before: { name: 'Booking system' },
    after: null,
  } as const
  const rules = '{"recipients":["+12025550111"],"approval":"always"}'
  const limited = { ...gone, before: null, after: { rules, expires_at: at } }

  expect(actionWords(changed, nameOf)).toBe('Webhook shop.example/hook changed')
  expect(changeWords(changed, nameOf)).toEqual([
    'Phone lines: Front desk → Front desk, Workshop',
    'Active: yes → no',
  ])
  expect(actionWords(gone, nameOf)).toBe('Key Booking system revoked')
  expect(changeWords(limited, nameOf)).toEqual([
    'Rules: Recipients +12025550111, Approval always',
    `Expires at: ${momentWords(at)}`,
  ])
})

test('a line of the log has names and local times', () => {
  const fields = { webhook: 'wh_a', since: TEST_START, count: 3 }
  const line = lineWords(
    { seq: 1, time: at, level: 'warn', message: 'a webhook fails', fields },
    (id) => (id === 'wh_a' ? 'shop.example/hook' : null),
  )

  expect(line).toContain('warn a webhook fails webhook="shop.example/hook" since=')
  expect(line).toEndWith('count=3')
  expect(line).not.toContain(String(TEST_START))
  expect(line).not.toContain(at)
})

test('every action but those of attachments leads to its thing, or to the list of a deleted one', () => {
  const without = ACTIONS.filter((action) => placeOf(action, 'id_a') === null)

  expect(without).toEqual(['attachment.deleted', 'attachment.linked'])
  expect(placeOf('message.denied', 'msg_a')).toBe('#/messages/msg_a')
  expect(placeOf('webhook.deleted', 'wh_a')).toBe('#/webhooks')
  expect(placeOf('member.changed', 'mem_a')).toBe('#/settings/members')
})
