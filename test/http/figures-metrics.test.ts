// The figures in /metrics, and the board that draws them.

import { expect, test } from 'bun:test'

import { findGuide } from '../../src/guides/guides.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { startHttp } from './http-relay.ts'

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
