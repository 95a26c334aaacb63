import { expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

test('the metrics show what waits, and which lines take messages', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  await using relay = await startRelay({ drivers: [driver] })
  await relay.send({ to: '+12025550700', text: 'hello' })

  const waiting = await metricsOf(relay)
  await device.goOnline()
  await relay.clock.advance(1_000)
  const sent = await metricsOf(relay)

  expect(waiting).toContain('hookline_messages{status="queued"} 1\n')
  expect(waiting).toMatch(/hookline_line_ready\{line="line_[a-z0-9]+",driver="mac"\} 0\n/)
  expect(sent).toContain('hookline_messages{status="queued"} 0\n')
  expect(sent).toMatch(/hookline_line_ready\{line="line_[a-z0-9]+",driver="mac"\} 1\n/)
})

async function metricsOf(relay: Awaited<ReturnType<typeof startRelay>>): Promise<string> {
  const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
  const headers = { host: 'localhost' }
  const request = new Request('http://localhost/metrics', { headers })
  return (await relay.app.http.fetch(request, peer)).text()
}
