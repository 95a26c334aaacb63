// What the command line asks of a relay that runs: a stand-in at the socket notes it.

import { expect, test } from 'bun:test'

import { runBeside as run } from './fake-relay.ts'

/** The fields of an answer that some command reads. */
const ANSWER = {
  data: [],
  url: 'http://127.0.0.1/hooks',
  path: '/tmp/b.db',
  handle: '+12025550147',
  value: '3',
  problem: null,
  fix: null,
  phone_number: '+1',
}

const REQUESTS: readonly (readonly [line: string, asks: string, body?: object])[] = [
  ['keys create --name a', 'POST /keys', { name: 'a' }],
  [
    'keys add Shop --scopes read,send --lines line_a --expires 2027-01-01T00:00:00Z --per-hour 30 --recipients known --allow +12025550123 --approval new_contacts --quiet-hours 21:00-08:00',
    'POST /keys',
    {
      name: 'Shop',
      scopes: ['read', 'send'],
      phone_line_ids: ['line_a'],
      expires_at: '2027-01-01T00:00:00.000Z',
      rules: {
        recipients: 'known',
        allow: ['+12025550123'],
        sends_per_hour: 30,
        approval: 'new_contacts',
        quiet_hours: { from: '21:00', to: '08:00' },
      },
    },
  ],
  [
    'lines set line_a --quiet-hours 21:00-08:00',
    'PATCH /phone-lines/line_a',
    { quiet_hours: { from: '21:00', to: '08:00' } },
  ],
  ['lines set line_a --quiet-hours off', 'PATCH /phone-lines/line_a', { quiet_hours: null }],
  ['upgrade --check', 'POST /update-check'],
  ['logs', 'GET /log'],
  ['keys list', 'GET /keys?limit=200'],
  ['keys revoke key_a', 'DELETE /keys/key_a'],
  ['bridges list', 'GET /bridges?limit=200'],
  ['bridges add +12025550147', 'POST /bridges', { phone_number: '+12025550147' }],
  [
    'bridges add +12025550147 --label Shop',
    'POST /bridges',
    { phone_number: '+12025550147', label: 'Shop' },
  ],
  ['bridges token brg_a', 'POST /bridges/brg_a/token'],
  ['bridges remove brg_a', 'DELETE /bridges/brg_a'],
  ['lines', 'GET /phone-lines'],
  ['lines --json', 'GET /phone-lines'],
  [
    'lines set line_a --daily-contact-limit 7 --enabled false --label ""',
    'PATCH /phone-lines/line_a',
    { label: '', daily_contact_limit: 7, is_enabled: false },
  ],
  ['lines adopt line_old line_new', 'POST /phone-lines/line_new/adopt', { from: 'line_old' }],
  [
    'send +12025550147 hi --line line_a',
    'POST /messages/send',
    { to: '+12025550147', text: 'hi', phone_line_id: 'line_a' },
  ],
  ['opt-outs', 'GET /opt-outs?limit=50'],
  ['opt-outs add +12025550147', 'PUT /opt-outs/%2B12025550147', { phone_line_id: null }],
  [
    'opt-outs add +12025550147 --line line_a',
    'PUT /opt-outs/%2B12025550147',
    { phone_line_id: 'line_a' },
  ],
  ['opt-outs remove +12025550147', 'DELETE /opt-outs/%2B12025550147'],
  [
    'opt-outs remove +12025550147 --line line_a',
    'DELETE /opt-outs/%2B12025550147?phone_line_id=line_a',
  ],
  ['contacts list --tag vip --query an', 'GET /contacts?limit=50&q=an&tag=vip'],
  [
    'send +12025550147 hi --service SMS',
    'POST /messages/send',
    { to: '+12025550147', text: 'hi', service: 'SMS' },
  ],
  ['send conv_a hi', 'POST /conversations/conv_a/messages', { text: 'hi' }],
  ['lines set line_a --relay-groups true', 'PATCH /phone-lines/line_a', { relay_groups: true }],
  ['conversations', 'GET /conversations?type=all&limit=50'],
  [
    'conversations list --type group --line line_a --limit 5',
    'GET /conversations?type=group&limit=5&phone_line_id=line_a',
  ],
  ['messages resolve msg_a sent', 'POST /messages/msg_a/resolve', { status: 'sent' }],
  ['webhooks list', 'GET /webhooks?limit=200'],
  [
    'webhooks add http://a/b --events "message.read, message.sent"',
    'POST /webhooks',
    { url: 'http://a/b', events: ['message.read', 'message.sent'] },
  ],
  [
    'webhooks add shop.example.com/hooks --events message.read',
    'POST /webhooks',
    { url: 'https://shop.example.com/hooks', events: ['message.read'] },
  ],
  ['webhooks pause wh_a', 'PUT /webhooks/wh_a', { is_active: false }],
  ['webhooks resume wh_a', 'PUT /webhooks/wh_a', { is_active: true }],
  ['webhooks remove wh_a', 'DELETE /webhooks/wh_a'],
  [
    'webhooks set wh_a --url a.example/b --events "message.read, message.sent"',
    'PUT /webhooks/wh_a',
    { url: 'https://a.example/b', events: ['message.read', 'message.sent'] },
  ],
  [
    'webhooks set wh_a --description "" --attachment-links true',
    'PUT /webhooks/wh_a',
    { description: null, attachment_links: true },
  ],
  ['messages', 'GET /messages?type=all&contact_names=true&limit=50'],
  [
    'messages list --status failed --line line_a --with +12025550147 --limit 5',
    'GET /messages?type=all&contact_names=true&limit=5&status=failed&phone_line_id=line_a&handle=%2B12025550147',
  ],
  [
    'messages list --since 2026-11-21T10:00:00Z',
    'GET /messages?type=all&contact_names=true&limit=50&created_after=2026-11-21T10%3A00%3A00.000Z',
  ],
  ['stats --days 3', 'GET /stats?days=3'],
  ['webhooks test wh_a', 'POST /webhooks/wh_a/test'],
  [
    'webhooks deliveries wh_a --status pending --limit 5',
    'GET /webhooks/wh_a/deliveries?status=pending&limit=5',
  ],
  ['webhooks redeliver dlv_a', 'POST /webhook-deliveries/dlv_a/redeliver'],
  [
    'webhooks replay wh_a --since 2026-11-21T10:00:00Z',
    'POST /webhooks/wh_a/replay',
    { since: '2026-11-21T10:00:00Z' },
  ],
  [
    'webhooks replay wh_a --since T --include-earlier --line line_a',
    'POST /webhooks/wh_a/replay',
    { since: 'T', include_earlier: true, phone_line_id: 'line_a' },
  ],
  [
    'webhooks retry-failed wh_a --dry-run --event "message.read, message.sent"',
    'POST /webhooks/wh_a/retry-failed',
    { dry_run: true, events: ['message.read', 'message.sent'] },
  ],
  ['webhooks retry-failed wh_a', 'POST /webhooks/wh_a/retry-failed', {}],
  ['webhooks stop-replay wh_a', 'DELETE /webhooks/wh_a/replay'],
  ['webhooks rotate-secret wh_a', 'POST /webhooks/wh_a/rotate-secret'],
  ['config set backups_kept 3', 'PUT /settings/backups_kept', { value: '3' }],
  ['backup --to /tmp/b.db', 'POST /backup', { to: '/tmp/b.db' }],
  ['backup', 'POST /backup', {}],
]

for (const [line, asks, body = null] of REQUESTS) {
  test(`hookline ${line} asks ${asks}`, async () => {
    const { asked, exitCode, stderr } = await run(line, ANSWER)

    expect(stderr).toBe('')
    const [method = '', path = ''] = asks.split(' ')
    expect(asked).toEqual([{ method, path: `/api/v1${path}`, body }])
    expect(exitCode).toBe(0)
  })
}

for (const [line, or] of [
  ['alerts add +12025550147 --quiet-hours 7-22', ''],
  ['alerts add +12025550147 --quiet-hours 22:00', ''],
  ['keys create --name a --quiet-hours 24:00-07:00', ''],
  ['lines set line_a --quiet-hours 99:00-07:00', ', or off'],
] as const) {
  test(`hookline ${line} asks nothing, and says what quiet hours are`, async () => {
    const { asked, exitCode, stderr } = await run(line, ANSWER)

    expect([exitCode, asked]).toEqual([2, []])
    expect(stderr).toContain(`--quiet-hours must be two times of day, such as 21:00-08:00${or}.`)
  })
}

test('--json prints the answer as it came', async () => {
  const body = {
    data: [{ id: 'wh_a', url: 'https://a.example', description: null, events: [] }],
    has_more: false,
    next_cursor: null,
  }

  const { stdout } = await run('webhooks list --json', body)

  expect(JSON.parse(stdout)).toEqual(body)
})

test('lines names the one that has no new contacts left for today', async () => {
  const state = { status: 'online', is_enabled: true, phone_number: '' }
  const line = { id: 'line_a', daily_contact_limit: 50, ...state }
  const lines = [
    { ...line, new_contacts_today: 49 },
    { ...line, new_contacts_today: 7_185 },
    { ...line, new_contacts_today: 50, is_enabled: false },
    { ...line, new_contacts_today: 50, status: 'offline', status_hint: 'Plug it in.' },
    { ...line, new_contacts_today: 0, daily_contact_limit: 0 },
  ]

  const { stdout } = await run('lines', { data: lines })

  const rows = stdout.trim().split('\n').slice(1)
  expect(rows.map((row) => row.replace(/^line_a[ -]*/, '').replaceAll(/ {2,}/g, ' | '))).toEqual([
    'online | -',
    'online, limit reached | New contacts are possible again at midnight UTC.',
    'disabled | -',
    'offline | Plug it in.',
    'online | -',
  ])
})

test('a refusal of the relay is reported in its own words, with an exit code of its own for what is not allowed', async () => {
  const body = { error: { code: 'invalid_recipient', message: 'to: write it as +12025550147' } }

  const refused = await run('send 12 hi', body, 400)
  const barred = await run('keys list', { error: { code: 'unauthorized', message: 'no' } }, 401)

  expect(refused).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: 'hookline: to: write it as +12025550147\n',
  })
  expect(barred.exitCode).toBe(4)
})

test('a send that failed ends with 1, a queued one with 0', async () => {
  const failed = { id: 'msg_a', status: 'failed', error: { code: 'x', message: 'No.' } }
  const queued = { id: 'msg_a', status: 'queued', queued_reason: 'line_offline', error: null }

  const runs = [await run('send +1 a', failed), await run('send +1 a', queued, 202)]

  expect(runs.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
    [1, 'failed  msg_a  No.\n'],
    [0, 'queued  msg_a  line_offline\n'],
  ])
})

test('send --wait delivered looks again until it is', async () => {
  const statuses = ['sending', 'sent', 'delivered', 'read']

  const { exitCode, stdout, asked } = await run('send +12025550147 hi --wait delivered', () => {
    return { id: 'msg_a', status: statuses.shift() }
  })

  expect([exitCode, stdout]).toEqual([0, 'delivered  msg_a\n'])
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/v1/messages/send',
    'GET /api/v1/messages/msg_a',
    'GET /api/v1/messages/msg_a',
  ])
})

test('every send has an idempotency key of its own', async () => {
  const sent = { id: 'msg_a', status: 'sent' }

  const runs = [await run('send +12025550147 hi', sent), await run('send +12025550147 hi', sent)]

  const keys = runs.map(({ headers }) => headers[0]?.get('idempotency-key'))
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(new Set(keys).size).toBe(2)
})

test('tail names the known events if one is misspelled', async () => {
  const { exitCode, stderr } = await run('tail --event message.red', {})

  expect(exitCode).toBe(2)
  expect(stderr).toStartWith('hookline: Unknown event message.red. Events: message.received,')
})

test('a restore is refused while a relay runs, and says how to stop it', async () => {
  const { exitCode, stderr, asked } = await run(['restore', import.meta.path], {})

  expect([exitCode, stderr, asked]).toEqual([
    1,
    'hookline: A relay is running. Stop it first: hookline down, or Ctrl-C.\n',
    [],
  ])
})

test('a change of nothing is a usage error, and so is a word that is no choice', async () => {
  const lines = [
    'lines set line_a',
    'webhooks set wh_a',
    'webhooks set wh_a --attachment-links maybe',
    'messages list --status sunk',
    'messages list --since yesterday',
    'stats --days 0',
  ]

  const runs = await Promise.all(lines.map((line) => run(line, {})))

  expect(runs.map(({ exitCode, asked }) => [exitCode, asked])).toEqual(lines.map(() => [2, []]))
})

test('with --json a refusal has the shape of the API on standard error, details included', async () => {
  const error = {
    code: 'invalid_request',
    message: 'url: no',
    details: { issues: [{ path: 'url' }] },
  }

  const refused = await run('webhooks show wh_a --json', { error }, 400)
  const misspelt = await run('webhooks puase wh_a --json', {})

  expect([refused.exitCode, refused.stdout, JSON.parse(refused.stderr)]).toEqual([1, '', { error }])
  expect([misspelt.exitCode, JSON.parse(misspelt.stderr).error.code]).toEqual([2, 'usage'])
  expect(misspelt.stderr).toContain('Did you mean \\"hookline webhooks pause\\"?')
})

test('deliveries are listed with the last answer, and with no next try that is over', async () => {
  const delivery = { id: 'dlv_a', event: 'message.read', status: 'pending', attempt_count: 2 }
  const later = '2999-01-01T00:00:00.000Z'
  const data = [
    { ...delivery, last_status_code: 500, next_attempt_at: '2020-01-01T00:00:00.000Z' },
    { ...delivery, last_error: 'connection_refused', next_attempt_at: later },
  ]

  const { stdout } = await run('webhooks deliveries wh_a', { data })

  const [, first, second] = stdout.split('\n')
  expect(first).toMatch(/ 500 .* pending$/)
  expect(second).toContain(`connection_refused`)
  expect(second).toEndWith(later)
})

test('completions get the ids that a command takes, with names that cannot steer the terminal', async () => {
  const list = {
    data: [
      {
        id: 'x_a',
        name: null,
        key_hint: 'hl_',
        label: 'Shop',
        phone_number: '+1',
        description: '',
        url: 'u\t\u001B[2J',
        handle: '+1',
        status: 'failed',
        event: 'message.sent',
        revoked_at: null,
      },
      {
        id: 'x_b',
        name: 'old',
        description: null,
        url: 'http://b',
        phone_number: '+2',
        handle: '+2',
        revoked_at: 'then',
      },
    ],
  }
  const idsOf = async (kind: string) =>
    (await run(`completion-ids ${kind}`, list)).stdout.split('\n')[0]

  expect(
    await Promise.all(
      ['keys', 'bridges', 'lines', 'webhooks', 'messages', 'conversations', 'deliveries'].map(
        idsOf,
      ),
    ),
  ).toEqual([
    'x_a\thl_',
    'x_a\tShop',
    'x_a\tShop',
    'x_a\tu [2J',
    'x_a\tfailed +1',
    'x_a\t+1',
    'x_a\tmessage.sent to u [2J',
  ])
  expect((await run('completion-ids keys', list)).stdout).not.toContain('x_b')
  expect((await run('completion-ids keys', {}, 500)).exitCode).toBe(0)
})
