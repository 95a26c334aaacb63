import { expect, test } from 'bun:test'

import {
  EVERYTHING,
  NO_RULES,
  SCOPES,
  hasScope,
  type KeyRules,
  type Permissions,
  type Scope,
} from '../../src/domain/permissions.ts'

const limited = (rules: Partial<KeyRules>): Permissions => ({
  ...EVERYTHING,
  rules: { ...NO_RULES, ...rules },
})

const quietHours = { from: '21:00', to: '07:00' }

/** Every limit of a key, and the scopes that would empty it, which such a key never has. */
const EMPTIED_BY: Readonly<Record<string, readonly [Permissions, readonly Scope[]]>> = {
  lines: [
    { ...EVERYTHING, lineIds: [] },
    ['contacts:write', 'bridges:read', 'bridges:write', 'audit:read'],
  ],
  'an expiry': [{ ...EVERYTHING, expiresAt: 1 as never }, []],
  'recipients that are known': [limited({ recipients: 'known' }), ['lines:write', 'bridges:write']],
  'recipients that replied': [
    limited({ recipients: 'replied_within_24h' }),
    ['lines:write', 'bridges:write'],
  ],
  'a list of recipients': [limited({ recipients: 'list' }), ['lines:write', 'bridges:write']],
  'approval of everything': [limited({ approval: 'always' }), ['approvals:write']],
  'approval of new contacts': [
    limited({ approval: 'new_contacts' }),
    ['lines:write', 'approvals:write', 'bridges:write'],
  ],
  'sends in an hour': [limited({ sendsPerHour: 1 }), []],
  'sends in a day': [limited({ sendsPerDay: 1 }), []],
  'quiet hours': [limited({ quietHours }), []],
}

for (const [limit, [permissions, scopes]] of Object.entries(EMPTIED_BY)) {
  test(`a key limited to ${limit} has every scope but those that would empty the limit`, () => {
    expect(SCOPES.filter((scope) => !hasScope(permissions, scope))).toEqual([...scopes])
  })
}
