import { expect, test } from 'bun:test'

import type { Key } from '../../src/api/keys.ts'
import { creatorWords, firstCall, keyName, keySentence } from '../../src/dashboard/words/keys.ts'
import { expandScopes } from '../../src/domain/permissions.ts'
import { KINDS, conversation, phoneLine } from './samples.ts'

const CREATED = { id: 'key_k', key: 'hl_live_k', secret: 'hl_secret_s' }
const ORIGIN = 'https://relay.example.com'

test('the first call works as it stands by a simulated line that is online', () => {
  const lines = [
    phoneLine({ id: 'line_mac', driver: 'mac' }),
    phoneLine({ id: 'line_down', status: 'offline' }),
    phoneLine({ id: 'line_up' }),
  ]

  const { curl, recipient } = firstCall(CREATED, { lines, kinds: KINDS }, ORIGIN)

  expect(curl).toBe(
    `curl -X POST https://relay.example.com/api/v1/messages/send \\
  -H 'X-API-Key: hl_live_k' \\
  -H 'X-API-Secret: hl_secret_s' \\
  -H 'Idempotency-Key: key_k-hello-1' \\
  -H 'Content-Type: application/json' \\
  -d '{"to":"+12025550123","text":"Hello from Hookline","phone_line_id":"line_up"}'`,
  )
  expect(recipient).toStartWith('Works as is')
})

test('the first call is one that the key may make, and writes to no stranger', () => {
  const lines = [phoneLine({ id: 'line_up' }), phoneLine({ id: 'line_own' })]
  const mac = [phoneLine({ id: 'line_mac', driver: 'mac' })]
  const call = (limits: object, of = lines) =>
    firstCall({ ...CREATED, ...limits }, { lines: of, kinds: KINDS }, ORIGIN)

  const real = call({}, mac)

  expect(real.curl).toContain(
    '"to":"NUMBER","text":"Hello from Hookline","phone_line_id":"line_mac"',
  )
  expect(real.recipient).toContain('Replace NUMBER')
  expect(call({}, []).curl).toContain(`-d '{"to":"NUMBER","text":"Hello from Hookline"}'`)
  expect(call({ scopes: ['messages:read'] }).curl).toStartWith(
    'curl https://relay.example.com/api/v1/messages',
  )
  expect(call({ phone_line_ids: ['line_own'] }).curl).toContain('"phone_line_id":"line_own"')
  expect(call({ conversation_ids: ['conv_a'] }).curl).toContain(
    '/api/v1/conversations/conv_a/messages',
  )
  expect(call({ rules: { recipients: 'known' } }).recipient).toBe(
    'Replace NUMBER with someone the key is allowed to write to.',
  )
})

test('the limits of a key read as one sentence', () => {
  const lines = [phoneLine({ id: 'line_a', label: 'Shop' })]
  const maya = conversation({ id: 'conv_a', contact_name: 'Maya' })
  const none = { allow: [], sends_per_day: null, quiet_hours: null }
  const sentences = [
    {},
    { scopes: expandScopes(['read']), phone_line_ids: ['line_a'] },
    {
      scopes: expandScopes(['read', 'send']),
      rules: { ...none, recipients: 'known', sends_per_hour: 30, approval: 'new_contacts' },
    },
    { scopes: ['health:read', 'audit:read'] },
    { conversation_ids: ['conv_a'], for: 'sms' },
    { conversation_ids: ['conv_b'] },
    { conversation_ids: ['conv_a', 'conv_b'] },
  ].map((limits) => keySentence(limits as unknown as Key, lines, [maya]))

  expect(sentences).toEqual([
    'May do everything',
    'May only read, on Shop',
    'May read and send, to people you have written with, at most 30 messages an hour, with approval for new contacts',
    'May health:read, audit:read',
    'May do everything, in the conversation with Maya, through sms only',
    'May do everything, in 1 conversation',
    'May do everything, in 2 conversations',
  ])
})

test('a key without a name goes by its first characters', () => {
  expect(keyName({ name: 'shop', key_hint: 'hl_live_abc' })).toBe('shop')
  expect(keyName({ name: ' ', key_hint: 'hl_live_abc' })).toBe('hl_live_abc')
  expect(keyName({ name: null, key_hint: 'hl_live_abc' })).toBe('hl_live_abc')
})

test('the creator of a key has a name', () => {
  const key = {
    id: 'key_1',
    name: 'shop',
    key_hint: 'hl_live_abc',
    created_by: 'cli',
    created_at: '2026-11-21T10:00:00.000Z',
    last_used_at: null,
    revoked_at: null,
  }
  const makers = ['cli', 'dashboard', 'key_1', 'key_gone']

  const words = makers.map((created_by) => creatorWords({ ...key, created_by }, [key]))

  expect(words).toEqual(['the command line', 'the dashboard', 'shop', 'another key'])
  expect(creatorWords({ ...key, rotated_by: 'dashboard' }, [key])).toBe('the dashboard')
})
