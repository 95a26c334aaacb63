// Phone lines: their settings, and simulated ones that a later start does not ask for.

import { expect, test } from 'bun:test'

import { startScripted } from '../support/scripted-relay.ts'
import { READER, startSpecRelay } from './spec-relay.ts'

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

test('api, lines: simulated lines that this start did not ask for count as none, and can be deleted', async () => {
  const before = await startScripted({ kind: 'simulated' })
  const { body: sent } = await before.send({ to: READER, text: 'hello' })
  await before[Symbol.asyncDispose]()
  const { database, key, clock } = before
  await using relay = await startScripted({ kind: 'simulated', lines: [], database, key, clock })
  const { phone_line_id: id, phone_number } = sent

  const answer = await relay.send({ to: READER, text: 'hello' })
  const left = await relay.lines()
  const deleted = await relay.request('DELETE', `${LINES}/${id}`)

  expect([answer.status, answer.body.error.code]).toEqual([503, 'no_phone_line'])
  expect(left).toMatchObject([{ id, status: 'offline', status_reason: 'not_configured' }])
  expect([deleted.status, deleted.body]).toEqual([200, { id, deleted: true }])
  expect(await relay.lines()).toEqual([])
  // Its messages keep its id and its number.
  expect(await relay.message(sent.id)).toMatchObject({
    phone_line_id: id,
    phone_number,
    from: phone_number,
  })
})
