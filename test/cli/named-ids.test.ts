// Names, numbers and short ids in place of ids, and the tables that show them.

import { expect, test } from 'bun:test'

import { laidOut, table } from '../../src/cli/table.ts'
import { expandScopes } from '../../src/domain/permissions.ts'
import { type Asked, runBeside } from './fake-relay.ts'
import { IN_PIPE } from './recorded-output.ts'

const FRONT = 'line_01m8k2q8rkfxn8t2w9r4day27n'
const BACK = 'line_01m8k2q8rkfxn8t2w9r4dbx38p'
const SLACK = 'wh_01m8k2q8rkfxn8t2w9r4day27n'
const LINES = [
  { id: FRONT, label: 'Front desk', phone_number: '+12025550101' },
  { id: BACK, label: 'Back office', phone_number: '+12025550102' },
]
const BERLIN = 'site_01m8k2q8rkfxn8t2w9r4day27n'
const SITES = [{ id: BERLIN, name: 'Berlin', time_zone: 'Europe/Berlin', phone_line_ids: [] }]
const KEYS = [
  { id: 'key_01m8k2q8rkfxn8t2w9r4day271', name: 'Shop', key_hint: 'hl_live_a', revoked_at: null },
  { id: 'key_01m8k2q8rkfxn8t2w9r4day272', name: 'shop', key_hint: 'hl_live_b', revoked_at: null },
]
const PEOPLE = [
  { handle: '+12025550123', name: 'Zoë Weiß' },
  { handle: '+12025550124', name: 'Zoë Weiß-Kjær' },
]

function answerTo({ path, method }: Asked): unknown {
  if (path.startsWith('/api/v1/phone-lines') && method === 'GET') return { data: LINES }
  if (path.startsWith('/api/v1/sites')) return { data: SITES }
  if (path.startsWith('/api/v1/keys')) return { data: KEYS, has_more: false, next_cursor: null }
  if (path.startsWith('/api/v1/webhooks?')) {
    const webhook = { id: SLACK, description: 'Slack bridge', url: 'https://slack.example/x' }
    return { data: [webhook], has_more: false, next_cursor: null }
  }
  if (path.startsWith('/api/v1/search')) {
    return { people: PEOPLE, conversations: [], messages: [], is_complete: true }
  }
  return { id: 'msg_1', status: 'queued', queued_reason: null, error: null, events: [], url: 'x' }
}

/** The last request of a command: its method, path and body. */
async function lastOf(line: string): Promise<Asked | undefined> {
  const { asked, stderr } = await runBeside(line, answerTo)
  expect(stderr).not.toContain('hookline:')
  return asked.findLast(({ method }) => method !== 'GET')
}

const CALLS: readonly (readonly [line: string, path: string])[] = [
  ['webhooks pause "slack BRIDGE"', `/api/v1/webhooks/${SLACK}`],
  ['webhooks pause wh_…ay27n', `/api/v1/webhooks/${SLACK}`],
  ['webhooks pause wh_..ay27n', `/api/v1/webhooks/${SLACK}`],
  ['webhooks pause ay27n', `/api/v1/webhooks/${SLACK}`],
  ['lines set "Front desk" --daily-contact-limit 3', `/api/v1/phone-lines/${FRONT}`],
  ['lines set "+1 202-555-0102" --daily-contact-limit 3', `/api/v1/phone-lines/${BACK}`],
]

for (const [line, path] of CALLS) {
  test(`${line}: the id is found`, async () => {
    expect(await lastOf(line)).toMatchObject({ path })
  })
}

test('a list of names in an option becomes a list of ids', async () => {
  const made = await lastOf(`keys create Till --lines "front desk, ${BACK}"`)

  expect(made?.body).toEqual({ name: 'Till', phone_line_ids: [FRONT, BACK] })
})

test('keys create takes every limit, and keys add still does', async () => {
  const limits = '--scopes read --per-hour 3 --approval always'
  const [created, added] = [
    await lastOf(`keys create Bot ${limits}`),
    await lastOf(`keys add Bot ${limits}`),
  ]

  expect(created?.body).toEqual(added?.body)
  expect(created?.body).toMatchObject({ scopes: ['read'], rules: { sends_per_hour: 3 } })
})

test('a name is found beyond the longest page', async () => {
  const answer = ({ path, method }: Asked) => {
    if (method !== 'GET') return {}
    return path.includes('cursor=second')
      ? { data: KEYS.slice(0, 1), has_more: false, next_cursor: null }
      : { data: [{ ...KEYS[1], name: 'Till' }], has_more: true, next_cursor: 'second' }
  }

  const { asked } = await runBeside('keys rotate shop', answer)

  expect(asked.at(-1)?.path).toBe(`/api/v1/keys/${KEYS[0]?.id}/rotate`)
})

test('keys create --like takes the limits of a key by its name, except for those that are given', async () => {
  const limited = {
    ...KEYS[0],
    name: 'Agent',
    scopes: expandScopes(['read', 'send', 'webhooks:read']),
    conversation_ids: ['conv_a'],
    rules: { recipients: 'known', allow: [], sends_per_hour: 30, approval: 'always' },
  }
  const answer = (asked: Asked) => {
    const page = { data: [limited], has_more: false, next_cursor: null }
    return asked.path.startsWith('/api/v1/keys?') ? page : answerTo(asked)
  }

  const { asked } = await runBeside('keys create Two --like agent --per-hour 5', answer)
  const unknown = await runBeside('keys create Two --like nobody', answer)

  expect(asked.findLast(({ method }) => method === 'POST')?.body).toEqual({
    name: 'Two',
    scopes: ['read', 'send', 'webhooks:read'],
    conversation_ids: ['conv_a'],
    rules: { ...limited.rules, sends_per_hour: 5 },
  })
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('There is no key nobody. hookline keys lists all.'),
  ])
})

test('a name of several things is refused with the choices, and nothing is changed', async () => {
  const { asked, stderr, exitCode } = await runBeside('keys revoke SHOP', answerTo)

  expect(exitCode).toBe(2)
  for (const { id, name } of KEYS) expect(stderr).toContain(`${id}  ${name}`)
  expect(asked.filter(({ method }) => method !== 'GET')).toEqual([])
})

test('an id asks for no list, and an unknown name is left to the relay', async () => {
  const byId = await runBeside(`webhooks pause ${SLACK}`, answerTo)
  const unknown = await runBeside('webhooks pause Teams', answerTo)

  expect(byId.asked.filter(({ path }) => path.startsWith('/api/v1/webhooks?'))).toEqual([])
  expect(unknown.asked.at(-1)?.path).toBe('/api/v1/webhooks/Teams')
})

test('send takes the name of a contact, and no beginning of one', async () => {
  const sent = await lastOf('send "zoe weiss" Hello')
  const begun = await runBeside('send Zoe Hello', answerTo)

  expect(sent?.body).toMatchObject({ to: '+12025550123', text: 'Hello' })
  expect(begun.exitCode).toBe(2)
  expect(begun.asked.filter(({ method }) => method !== 'GET')).toEqual([])
})

test('at 80 columns ids are short, columns of little use are dropped, and the widest shrink', () => {
  const head = ['ID', 'NAME', 'KEY', 'CREATED', 'LAST USED', 'STATE', 'LIMITS']
  const rows = KEYS.map(({ id, name }) => [
    id,
    `${name} of the beach`,
    'hl_live_p0mY2d',
    '2026-11-21 09:41',
    '3 min ago',
    '',
    'read,send · 1 line · replied_within_24h · 30/h',
  ])
  const [top, first] = laidOut([table(head, rows, ['KEY', 'CREATED'])], { ...IN_PIPE, columns: 80 })

  expect(top).toBe('ID          NAME               LAST USED  STATE  LIMITS')
  expect(first).toBe(
    'key_…ay271  Shop of the beach  3 min ago  -      read,send · 1 line · replied_w…',
  )
})

test('ids that end alike stay whole', () => {
  const rows = [
    ['wh_01m8k2q8rkfxn8t2w9r4day27n', 'x'.repeat(60)],
    ['wh_01m8k2q8rkfxn8t2w9r4aay27n', 'y'.repeat(60)],
  ]

  const [, first] = laidOut([table(['ID', 'URL'], rows)], { ...IN_PIPE, columns: 80 })

  expect(first).toStartWith('wh_01m8k2q8rkfxn8t2w9r4day27n  xxx')
})

const FILTERED: readonly (readonly [line: string, path: string])[] = [
  ['messages --site berlin', '/api/v1/messages'],
  ['conversations --site BERLIN', '/api/v1/conversations'],
  ['search walnut --site Berlin', '/api/v1/search'],
  ['stats --site Berlin', '/api/v1/stats'],
  ['night --site Berlin', '/api/v1/timeline'],
]

for (const [line, path] of FILTERED) {
  test(`${line}: only what the lines of that site have`, async () => {
    const { asked } = await runBeside(line, answerTo)

    const called = asked.filter((one) => one.path.startsWith(`${path}?`))
    expect(called).toEqual([expect.objectContaining({ path: expect.stringContaining(BERLIN) })])
  })
}

test('a filter by a line or a site that does not exist is refused, and not answered with an empty list', async () => {
  for (const [line, thing] of [
    ['night --site Munich', 'site'],
    ['messages --site Munich', 'site'],
    ['night --line Munich', 'line'],
    ['stats --site Munich', 'site'],
  ]) {
    const { asked, stdout, stderr, exitCode } = await runBeside(`${line}`, answerTo)

    expect([line, stdout, exitCode]).toEqual([line, '', 2])
    expect(stderr).toContain(`there is no ${thing} "Munich"`)
    expect(asked.every(({ path }) => !path.includes('Munich'))).toBe(true)
  }
})
