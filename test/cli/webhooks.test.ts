// The commands for webhooks, beside a stand-in for the relay.

import { expect, test } from 'bun:test'

import { hookline } from '../support/executable.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay, runBeside as run } from './fake-relay.ts'

test('a webhook added without a scheme is shown with the one that it gets', async () => {
  const { stdout } = await run(['webhooks', 'add', 'localhost:8080/hooks'], {
    id: 'wh_a',
    url: 'http://localhost:8080/hooks',
  })

  expect(stdout).toStartWith('Adding http://localhost:8080/hooks\n')
})

test('webhooks retry puts failed deliveries back, and tries a pending one at once', async () => {
  using folder = new ScratchFolder()
  using relay = new FakeRelay(folder.path, ({ path }) => {
    if (path.endsWith('retry-failed')) return Response.json({ retried: 2 })
    if (path.includes('deliveries?')) return Response.json({ data: [{ id: 'dlv_a' }] })
    return Response.json({ id: 'dlv_a', event: 'message.sent' })
  })

  const { stdout } = await hookline(['webhooks', 'retry', 'wh_a'], {
    HOOKLINE_DATA_DIR: folder.path,
  })

  expect(stdout).toStartWith(
    '2 failed deliveries pending again.\nTrying dlv_a (message.sent) now.\n',
  )
  expect(relay.asked.map(({ method, path }) => `${method} ${path.slice(7)}`)).toEqual([
    'POST /webhooks/wh_a/retry-failed',
    'GET /webhooks/wh_a/deliveries?status=pending&limit=1',
    'POST /webhook-deliveries/dlv_a/redeliver',
  ])
})

test('webhooks are listed with the state that the dashboard shows', async () => {
  const webhook = { id: 'wh_a', url: 'http://a/b', events: ['message.read'], is_active: true }
  const working = { ...webhook, disabled_reason: null }
  const data = [
    working,
    { ...working, is_failing: true },
    { ...working, is_active: false },
    { ...webhook, is_active: false, disabled_reason: 'gone' },
  ]

  const { stdout } = await run(['webhooks', 'list'], { data })

  const states = stdout
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/)[1])
  expect(states).toEqual(['active', 'failing', 'paused', 'stopped (gone)'])
})

test('a webhook is limited to lines, to others, and to none', async () => {
  const webhook = { id: 'wh_a', url: 'https://a.example/', is_active: true, disabled_reason: null }
  const bodies = []
  for (const args of [
    ['add', webhook.url, '--events', 'message.read', '--lines', 'line_a, line_b'],
    ['set', 'wh_a', '--lines', 'line_b'],
    ['set', 'wh_a', '--lines', ''],
  ]) {
    const { asked } = await run(['webhooks', ...args], webhook)
    bodies.push(asked.at(-1)?.body)
  }
  const shown = { ...webhook, events: [], phone_line_ids: ['line_a', 'line_b'], data: [] }
  const { stdout } = await run(['webhooks', 'show', 'wh_a'], shown)

  expect(bodies).toEqual([
    { url: webhook.url, events: ['message.read'], phone_line_ids: ['line_a', 'line_b'] },
    { phone_line_ids: ['line_b'] },
    { phone_line_ids: null },
  ])
  expect(stdout).toContain('line_a, line_b')
})

const HTTP_URLS: readonly (readonly [url: string, isTold: boolean])[] = [
  ['http://receiver.example/hook', true],
  ['http://192.168.1.5:5678/hook', true],
  ['https://receiver.example/hook', false],
  ['http://127.0.0.1:8080/hook', false],
]

for (const [url, isTold] of HTTP_URLS) {
  test(`that events can be read in transit is ${isTold ? '' : 'not '}told of ${url}`, async () => {
    const { stdout } = await run(['webhooks', 'add', url], { id: 'wh_a', url })

    expect(stdout.includes('Use https outside your own network')).toBe(isTold)
  })
}
