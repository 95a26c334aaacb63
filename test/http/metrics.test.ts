// Who may read the metrics, the figures in them, and the board that draws those.

import { expect, test } from 'bun:test'
import { hostname } from 'node:os'

import { findGuide } from '../../src/guides/guides.ts'
import { localName } from '../../src/http/hosts.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { startHttp, type More } from './http-relay.ts'

/** A relay without a public url, which strangers ask without a key. */
const ALONE = { HOOKLINE_PUBLIC_URL: '', HOOKLINE_TRUSTED_PROXIES: '' }
const NO_KEY = { 'x-api-key': '', 'x-api-secret': '' }

const OUTSIDERS: Readonly<Record<string, More>> = {
  'another machine': { address: '192.168.1.9' },
  'a Host that is no loopback name': { headers: { host: localName(hostname()) } },
  'a proxy on this machine': { headers: { 'x-forwarded-for': '198.51.100.7' } },
  'a proxy that says so by Forwarded': { headers: { forwarded: 'for=198.51.100.7' } },
  'a proxy that says so by Via': { headers: { via: '1.1 shop' } },
  'a proxy that tells the scheme only': { headers: { 'x-forwarded-proto': 'https' } },
  'a tunnel': { headers: { 'cf-connecting-ip': '198.51.100.7' } },
  'a wrong key': { address: '192.168.1.9', headers: { 'x-api-key': 'hl_live_wrong' } },
}

test.each([
  ['whoever is not proven to be on this machine', {}, OUTSIDERS],
  ['a trusted proxy that says nothing', { HOOKLINE_TRUSTED_PROXIES: '127.0.0.1' }, { proxy: {} }],
  ['this machine behind a public url', { HOOKLINE_PUBLIC_URL: 'https://shop.example' }, { it: {} }],
] as const)(
  'the metrics do not answer %s, unless the setting opens them',
  async (_who, environment, asking: Readonly<Record<string, More>>) => {
    await using rig = await startHttp({ environment: { ...ALONE, ...environment } })
    const ask = async ([who, { headers, ...more }]: [string, More]) => {
      const response = await rig.call('GET', '/metrics', {
        ...more,
        headers: { ...NO_KEY, ...headers },
      })
      return [who, response.status]
    }
    const names = Object.keys(asking)

    const closed = await Promise.all(Object.entries(asking).map(ask))
    await rig.control('PUT', '/api/v1/settings/open_metrics', { body: { value: 'on' } })
    const open = await Promise.all(Object.entries(asking).map(ask))

    expect(closed).toEqual(names.map((who) => [who, 404]))
    expect(open).toEqual(names.map((who) => [who, 200]))
  },
)

test('the metrics answer this machine, a key and the control socket in the text format of Prometheus', async () => {
  await using rig = await startHttp({ environment: ALONE })
  await rig.call('GET', '/healthz')

  const response = await rig.call('GET', '/metrics', { address: '::1', headers: NO_KEY })
  const byKey = await rig.call('GET', '/metrics', { address: '192.168.1.9' })
  const onSocket = await rig.control('GET', '/metrics')

  expect([response, byKey, onSocket].map(({ status }) => status)).toEqual([200, 200, 200])
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await response.text()).toContain('hookline_http_responses_total{status="200"} 1\n')
})

async function busyRelay() {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const relay = await startHttp({ drivers: [driver], post: sink.post, clock })
  const hook = { url: 'https://shop.example/hook', events: ['message.sent'] }
  await relay.post('/api/v1/webhooks', hook)
  await relay.send({ to: '+12025550701', text: 'hello' })
  await device.receive({ guid: 'in-1' })
  await relay.clock.advance(1_000)
  return relay
}

test('messages, sendings, deliveries, lines and contacts are counted by line and webhook', async () => {
  await using relay = await busyRelay()
  const [line] = await relay.lines()
  const { data } = await asOwner(relay, 'GET', '/webhooks')

  const text = await relay.metrics()

  for (const sample of [
    `hookline_line_messages_total{line="${line.id}",status="sent"} 1`,
    `hookline_line_messages_total{line="${line.id}",status="received"} 1`,
    `hookline_line_messages_total{line="${line.id}",status="failed"} 0`,
    `hookline_line_send_seconds_bucket{line="${line.id}",le="1"} 1`,
    `hookline_line_send_seconds_bucket{line="${line.id}",le="+Inf"} 1`,
    `hookline_line_up{line="${line.id}"} 1`,
    `hookline_line_new_contacts{line="${line.id}"} 1`,
    `hookline_line_new_contacts_limit{line="${line.id}"} 50`,
    `hookline_webhook_results_total{webhook="${data[0].id}",outcome="delivered"} 1`,
    `hookline_webhook_delivery_seconds_count{webhook="${data[0].id}"} 1`,
  ]) {
    expect(text).toContain(`${sample}\n`)
  }
  // A counter never falls, although a message that was sent can still fail.
  relay.db.sqlite.run("UPDATE messages SET status = 'failed' WHERE status = 'sent'")
  expect(await relay.metrics()).toContain(`${line.id}",status="sent"} 1\n`)
})

test('every figure of the Grafana board, and of its guide, is in the metrics', async () => {
  await using relay = await busyRelay()
  const guide = findGuide('grafana')?.text ?? ''
  const board = JSON.parse(/```json\n([^]*?)```/.exec(guide)?.[1] ?? '')
  const names = [...guide.matchAll(/hookline_[a-z_]+/g)].map(([name]) =>
    name.replace(/_bucket$/, ''),
  )

  const text = await relay.metrics()

  expect(board.panels).toHaveLength(8)
  expect([...new Set(names)].filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([])
})
