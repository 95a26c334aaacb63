// Phone lines: their settings, and simulated ones that a later start does not ask for.

import { expect, test } from 'bun:test'

import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { seededRandom, startRelay } from '../support/test-relay.ts'
import { credentials, LINE_NUMBER, READER, startSpecRelay } from './spec-relay.ts'

const LINES = '/api/v1/phone-lines'

test('api, lines: a line that is in use cannot be deleted, and a limit out of range is refused', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  const path = `${LINES}/${line.id}`

  const deleted = await relay.request('DELETE', path)
  const limits = [-1, 100_001, 1.5, '50', null]
  const patched = await Promise.all(
    limits.map(async (limit) => (await relay.patch(path, { daily_contact_limit: limit })).status),
  )

  expect([deleted.status, deleted.body.error.code]).toEqual([409, 'phone_line_in_use'])
  expect(patched).toEqual(limits.map(() => 400))
  expect(await relay.lines()).toEqual([line])
})

test('api, lines: a full line is passed over, and only when all are full it is 429', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  await relay.limit(1)
  const [first, second] = await relay.lines()

  const answers = [
    await relay.send({ to: '+15551001001', text: 'hello' }),
    await relay.send({ to: '+15551001002', text: 'hello' }),
    await relay.send({ to: '+15551001003', text: 'hello' }),
    await relay.send({ to: '+15551001001', text: 'known' }),
  ]

  expect(
    answers.map(({ status, body }) => [
      status,
      body.phone_line_id ?? body.error.details.phone_line_id,
    ]),
  ).toEqual([
    [200, first.id],
    [200, second.id],
    [429, first.id],
    [200, first.id],
  ])
  expect(answers[2]?.headers.get('Retry-After')).toBe(String(14 * 3_600))
})

test('api, lines: simulated lines that this start did not ask for count as none', async () => {
  using folder = new ScratchFolder()
  const { before, after, headers } = await startTwice(folder)
  await using relay = after

  const answer = await relay.send({ to: READER, text: 'hello' }, headers)
  const { body } = await relay.request('GET', LINES, undefined, headers)

  expect([answer.status, answer.body.error.code]).toEqual([503, 'no_phone_line'])
  expect(body.data).toMatchObject([
    { id: before.phone_line_id, status: 'offline', status_reason: 'not_configured' },
  ])
})

test('api, lines: one of them can be deleted, and its messages keep its id and number', async () => {
  using folder = new ScratchFolder()
  const { before, after, headers } = await startTwice(folder)
  await using relay = after

  const deleted = await relay.request(
    'DELETE',
    `${LINES}/${before.phone_line_id}`,
    undefined,
    headers,
  )

  expect([deleted.status, deleted.body]).toEqual([200, { id: before.phone_line_id, deleted: true }])
  const read = async (path: string) => (await relay.request('GET', path, undefined, headers)).body
  expect((await read(LINES)).data).toEqual([])
  expect(await read(`/api/v1/messages/${before.id}`)).toMatchObject({
    phone_line_id: before.phone_line_id,
    phone_number: LINE_NUMBER,
    from: LINE_NUMBER,
  })
})

/** A start with one simulated line that sends a message, and then one without any. */
async function startTwice(folder: ScratchFolder) {
  const clock = new TestClock()
  const ledgerPath = folder.file('simulated.db')
  const tools = { clock, random: seededRandom(2) }
  const driversFor = (lineCount: number) => [
    createSimulatedDriver({ lineCount, delayMs: 400, ledgerPath }, tools),
  ]
  const first = await startRelay({ drivers: driversFor(1), clock })
  const { body: before } = await first.send({ to: READER, text: 'hello' })
  await first[Symbol.asyncDispose]()

  const { database } = first
  const after = await startRelay({ drivers: driversFor(0), clock, database })
  return { before, after, headers: credentials(first.key) }
}
