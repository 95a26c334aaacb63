// The commands for webhooks, beside a stand-in for the relay.

import { expect, test } from 'bun:test'

import { runBeside as run, type Asked } from './fake-relay.ts'

test('a webhook added without a scheme is shown with the one that it gets', async () => {
  const added = { id: 'wh_a', url: 'http://localhost:8080/hooks' }

  const { stdout } = await run('webhooks add localhost:8080/hooks', added)

  expect(stdout).toStartWith('Adding http://localhost:8080/hooks\n')
})

test('webhooks retry puts failed deliveries back, and tries a pending one at once', async () => {
  const { stdout, asked } = await run('webhooks retry wh_a', ({ path }: Asked) => {
    if (path.endsWith('retry-failed')) return { retried: 2 }
    if (path.includes('deliveries?')) return { data: [{ id: 'dlv_a' }] }
    return { id: 'dlv_a', event: 'message.sent' }
  })

  expect(stdout).toStartWith(
    '2 failed deliveries pending again.\nTrying dlv_a (message.sent) now.\n',
  )
  expect(asked.map(({ method, path }) => `${method} ${path.slice(7)}`)).toEqual([
    'POST /webhooks/wh_a/retry-failed',
    'GET /webhooks/wh_a/deliveries?status=pending&limit=1',
    'POST /webhook-deliveries/dlv_a/redeliver',
  ])
})

test('webhooks are listed with the state that the dashboard shows', async () => {
  const webhook = {
    id: 'wh_a',
    url: 'http://a/b',
    description: null,
    events: ['message.read'],
    is_active: true,
  }
  const working = { ...webhook, disabled_reason: null }
  const data = [
    working,
    { ...working, is_failing: true },
    { ...working, is_active: false },
    { ...webhook, is_active: false, disabled_reason: 'gone' },
  ]

  const { stdout } = await run('webhooks list', { data })

  const [, ...rows] = stdout.trim().split('\n')
  expect(rows.map((line) => line.split(/ {2,}/)[1])).toEqual([
    'active',
    'failing',
    'paused',
    'stopped (gone)',
  ])
})

test('a webhook that is resumed says what it missed, and the command that sends it', async () => {
  const webhook = {
    id: 'wh_a',
    url: 'https://a.example/',
    is_active: true,
    disabled_reason: null,
    paused_at: '2026-11-21T10:00:00.000Z',
  }
  const resumed = async (fields: object) =>
    (await run('webhooks resume wh_a', { ...webhook, ...fields })).stdout.split('\n').slice(1, -1)

  const missed = await resumed({ events_while_paused: 3 })
  const nothing = await resumed({ events_while_paused: 0 })
  const notPaused = await resumed({})

  expect(missed).toEqual([
    '3 events came while it was paused.',
    'Send them: hookline webhooks replay wh_a --since 2026-11-21T10:00:00.000Z',
  ])
  expect([nothing, notPaused]).toEqual([['0 events came while it was paused.'], []])
})

test('a webhook is limited to lines, to others, and to none', async () => {
  const webhook = { id: 'wh_a', url: 'https://a.example/', is_active: true, disabled_reason: null }
  const lines = [
    `webhooks add ${webhook.url} --events message.read --lines "line_a, line_b"`,
    'webhooks set wh_a --lines line_b',
    'webhooks set wh_a --lines ""',
  ]
  const shown = { ...webhook, events: [], phone_line_ids: ['line_a', 'line_b'], data: [] }

  const runs = await Promise.all(lines.map((line) => run(line, webhook)))
  const { stdout } = await run('webhooks show wh_a', shown)

  expect(runs.map(({ asked }) => asked.at(-1)?.body)).toEqual([
    { url: webhook.url, events: ['message.read'], phone_line_ids: ['line_a', 'line_b'] },
    { phone_line_ids: ['line_b'] },
    { phone_line_ids: null },
  ])
  expect(stdout).toContain('line_a, line_b')
})

test.each([
  ['http://receiver.example/hook', true],
  ['http://192.168.1.5:5678/hook', true],
  ['https://receiver.example/hook', false],
  ['http://127.0.0.1:8080/hook', false],
])('a warning says that events can be read in transit at %s: %p', async (url, isTold) => {
  const { stdout } = await run(`webhooks add ${url}`, { id: 'wh_a', url })

  expect(stdout.includes('Use https outside your own network')).toBe(isTold)
})
