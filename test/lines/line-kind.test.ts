// A fifth kind of line by one folder and one row: whatever lists kinds lists it too.

import { expect, test } from 'bun:test'

import { serveCommand } from '../../src/cli/serve.ts'
import { optionsOf } from '../../src/config.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { startRelay, type Json } from '../support/test-relay.ts'
import { LOOPBACK_KIND } from './loopback-kind.ts'

const KINDS = [...LINE_KINDS, LOOPBACK_KIND]

function startLoop() {
  const environment = { HOOKLINE_LOOPBACK_NUMBER: '+12025550155' }
  return startRelay({ drivers: 'own', environment, parts: { kinds: KINDS } })
}

test('the option of a new kind is a flag of serve', () => {
  const flags = serveCommand(optionsOf(KINDS)).options ?? []

  expect(flags.find(({ name }) => name === 'loopback-number')).toEqual({
    name: 'loopback-number',
    value: 'NUMBER',
    sentence: 'The number of a line that answers itself.',
  })
})

test('a line of a new kind is listed, sends and receives', async () => {
  await using relay = await startLoop()
  await relay.clock.advance(10_000)

  const sent = await relay.send({ to: '+12025550123', text: 'hello' })
  await relay.clock.advance(1_000)

  expect(await relay.lines()).toMatchObject([{ driver: 'loopback', status: 'online' }])
  expect(sent.status).toBe(200)
  const { data } = await relay.get('/api/v1/messages')
  expect(data.map(({ direction }: Json) => direction).sort()).toEqual(['inbound', 'outbound'])
})

test("the API's document names a new kind, and the health catalogue has its findings", async () => {
  await using relay = await startLoop()

  const headers = { host: 'localhost' }
  const { body } = await relay.request('GET', '/swagger/json', undefined, headers)
  const document = JSON.stringify(body)
  const { data: findings } = await relay.get('/api/v1/health')

  expect(document).toContain('"enum":["mac","iphone","shortcuts","simulated","loopback"]')
  expect(findings).toContainEqual(expect.objectContaining({ code: 'loop_open' }))
})
