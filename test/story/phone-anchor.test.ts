// The iPhone that holds the number of a Mac line: what the relay tells of it, and that it tells only.

import { expect, test } from 'bun:test'

import { MuxRig, NUMBER, secretsOfPairing, UDID } from '../support/iphone/fake-phones.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'

const WAIT_MS_MAX = 4_000

/** The findings about phones, as soon as there are some: their sockets are real. */
async function anchorFindings(relay: TestRelay): Promise<readonly Record<string, unknown>[]> {
  const until = performance.now() + WAIT_MS_MAX
  for (;;) {
    const { data } = await relay.get('/api/v1/health')
    const found = data.filter(({ code }: { code: string }) => code.startsWith('anchor_'))
    if (found.length > 0 || performance.now() > until) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function startWith(number: string, mux: MuxRig): Promise<TestRelay> {
  const driver = new ScriptedDriver('mac')
  driver.add(number)
  const environment = { HOOKLINE_IPHONE: 'on', USBMUXD_SOCKET_ADDRESS: `UNIX:${mux.path}` }
  return startRelay({ drivers: [driver], environment })
}

test('an iPhone with another number than the Mac line is told, and the line goes on', async () => {
  await using mux = await MuxRig.start()
  mux.mux.attach(await mux.phone(UDID))
  await using relay = await startWith('+12025550801', mux)

  const found = await anchorFindings(relay)

  const [line] = await relay.lines()
  expect(found.map(({ code, line_id }) => [code, line_id])).toEqual([
    ['anchor_number_mismatch', line.id],
  ])
  expect(line.status).toBe('online')
})

test('of an iPhone that holds the number and is gone the relay says so', async () => {
  await using mux = await MuxRig.start()
  const phone = await mux.phone(UDID, { values: { ProductVersion: '14.8' } })
  const deviceId = mux.mux.attach(phone)
  await using relay = await startWith(NUMBER, mux)
  const before = await anchorFindings(relay)

  mux.mux.detach(deviceId)
  const until = performance.now() + WAIT_MS_MAX
  let after = before
  while (after[0]?.['code'] !== 'anchor_absent' && performance.now() < until) {
    await relay.clock.advance(1_000)
    after = await anchorFindings(relay)
  }

  expect(before.map(({ code }) => code)).toEqual(['anchor_ios_too_old'])
  expect(after.map(({ code }) => code)).toEqual(['anchor_absent'])
})

test('nothing of a pairing is in what the relay tells or keeps', async () => {
  await using mux = await MuxRig.start()
  mux.mux.attach(await mux.phone(UDID))
  await using relay = await startWith('+12025550801', mux)
  const found = await anchorFindings(relay)

  const kept = Buffer.from(relay.db.sqlite.serialize()).toString('latin1')
  const told = JSON.stringify(found)

  expect(found.length).toBe(1)
  expect(secretsOfPairing().filter((secret) => (kept + told).includes(secret))).toEqual([])
})
