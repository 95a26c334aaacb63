import { expect, test } from 'bun:test'

import { ACTIONS, actionWords, changeWords } from '../../src/dashboard/words/activity.ts'
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

test('an entry is told in sentences, with its changes', () => {
  const refused = { ...ENTRY, action: 'password.refused', count: 3 } as const

  expect(actionWords(ENTRY, () => null)).toBe('Setting backups_kept changed')
  expect(changeWords(ENTRY)).toEqual(['Value: 7 → 9'])
  expect(actionWords(refused, () => null)).toBe('Wrong password entered 3 times')
})
