// What is compressed, and above all what is not.

import { afterAll, expect, test } from 'bun:test'

import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startDashboard } from './dashboard-rig.ts'
import { startHttp } from './http-relay.ts'

const GZIP: Readonly<Record<string, string>> = { 'accept-encoding': 'gzip, deflate, br, zstd' }

const { rig, conversationId } = await startBusy()
afterAll(() => rig[Symbol.asyncDispose]())

/** A relay with 30 keys, and 12 long messages to each of two people. */
async function startBusy() {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  const rig = await startHttp({ drivers: [driver] })
  for (let n = 0; n < 30; n += 1) await rig.post('/api/v1/keys', { name: `Booking system ${n}` })
  for (const to of ['+12025550700', '+12025550701']) {
    for (let n = 0; n < 12; n += 1)
      await rig.send({ to, text: `${n} Your table is ready. `.repeat(20) })
  }
  const [message] = (await rig.get('/api/v1/messages?limit=1')).data
  return { rig, conversationId: String(message.conversation_id) }
}

async function ask(path: string, { isControl = false, headers = GZIP } = {}) {
  const response = await (isControl ? rig.control : rig.call)('GET', path, { headers })
  return {
    encoding: response.headers.get('content-encoding'),
    headers: response.headers,
    bytes: await response.bytes(),
  }
}

test('a long list comes in gzip where the client takes it, and is the same', async () => {
  const zipped = await ask('/api/v1/keys?limit=50')
  const plain = await ask('/api/v1/keys?limit=50', { headers: {} })
  const refused = await ask('/api/v1/keys?limit=50', {
    headers: { 'accept-encoding': 'gzip;q=0' },
  })

  expect([zipped, plain, refused].map(({ encoding }) => encoding)).toEqual(['gzip', null, null])
  expect(zipped.headers.get('vary')).toBe('accept-encoding')
  expect(zipped.headers.get('content-type')).toBe('application/json')
  expect(Bun.gunzipSync(Uint8Array.from(zipped.bytes))).toEqual(Uint8Array.from(plain.bytes))
  expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 2)
})

test('what is of one person, or public, is compressed; what is of several, short, an error or on the socket is not', async () => {
  const encodings = {
    [`/api/v1/messages?conversation_id=${conversationId}`]: 'gzip',
    '/swagger/json': 'gzip',
    '/api/v1/messages': null,
    '/api/v1/messages?direction=outbound': null,
    '/api/v1/conversations': null,
    '/api/v1/phone-lines': null,
    [`/api/v1/keys?limit=${'9'.repeat(5_000)}`]: null,
  }
  const found: Record<string, string | null> = {}

  for (const path of Object.keys(encodings)) found[path] = (await ask(path)).encoding
  const long = await Promise.all(
    ['/api/v1/messages', '/api/v1/conversations'].map((path) => ask(path)),
  )
  const onSocket = await ask('/api/v1/keys?limit=50', { isControl: true })

  expect(found).toEqual(encodings)
  expect(long.every(({ bytes }) => bytes.length > 1_000)).toBe(true)
  expect(onSocket.encoding).toBeNull()
})

test('a secret is never compressed, nor are the events of the dashboard', async () => {
  await using relay = await startDashboard()
  const browser = await relay.claim()
  const name = 'a'.repeat(90)
  const make = () => browser.fetch('POST', '/dashboard/api/keys', { body: { name }, headers: GZIP })

  const [made] = await Promise.all(Array.from({ length: 30 }, make))
  const listed = await browser.fetch('GET', '/dashboard/api/keys?limit=50', { headers: GZIP })
  const events = await browser.fetch('GET', '/dashboard/events', { headers: GZIP })
  await events.body?.cancel()

  const told = [made, listed, events].map((answer) => [
    answer?.status,
    answer?.headers.get('content-encoding'),
  ])
  expect(told).toEqual([
    [201, null],
    [200, 'gzip'],
    [200, null],
  ])
})
