// Sections 2.2, 3.1, 4.3 and 8: phone lines, their states and settings, and the limit that each has.

import { expect, test } from 'bun:test'

import { startScripted } from '../support/scripted-relay.ts'
import { ISO_TIME, LINE_NUMBER, READER, startSpecRelay } from './spec-relay.ts'

const LINES = '/api/v1/phone-lines'

test('spec 2.2, 4.3: a listed line has the specified properties in their types, and its defaults', async () => {
  await using relay = await startSpecRelay()

  const { status, body } = await relay.request('GET', LINES)

  expect(status).toBe(200)
  expect(body).toEqual({
    data: [
      {
        id: expect.stringMatching(/^line_[0-9a-z]{26}$/),
        phone_number: LINE_NUMBER,
        label: null,
        status: 'online',
        imessage_active: true,
        daily_contact_limit: 50,
        driver: 'simulated',
        status_reason: null,
        status_hint: null,
        new_contacts_today: 0,
        is_enabled: true,
        relay_sms: false,
        relay_groups: false,
        capabilities: {
          new_contacts: true,
          choose_service: true,
          delivered: true,
          read: true,
          guid: true,
          attachments: true,
          receives_attachments: true,
          groups: 'reply',
          reactions: 'receive',
          replies: 'receive',
          edits: 'receive',
        },
        not_relayed: [],
        created_at: expect.stringMatching(ISO_TIME),
      },
    ],
    has_more: false,
    next_cursor: null,
  })
})

test('spec 2.2: each line has its own id and number', async () => {
  await using relay = await startSpecRelay({ lines: 3 })

  const lines = await relay.lines()

  expect(lines.map((line) => line.phone_number)).toEqual([
    '+12025550101',
    '+12025550102',
    '+12025550103',
  ])
  expect(new Set(lines.map((line) => line.id)).size).toBe(3)
})

test('spec 2.2: the label and the other settings can be changed, and the answer is the line as it is now', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()
  const changes = { label: 'Desk', daily_contact_limit: 7, is_enabled: false, relay_sms: true }

  const changed = await relay.patch(`${LINES}/${line.id}`, changes)
  const [listed] = await relay.lines()
  const unnamed = await relay.patch(`${LINES}/${line.id}`, { label: null })

  expect([changed.status, changed.body]).toEqual([200, { ...line, ...changes }])
  expect(listed).toEqual(changed.body)
  expect([unnamed.status, unnamed.body]).toEqual([200, { ...listed, label: null }])
})

test('spec 2.2, 3.1: a line whose device goes away is offline, and online when it is back', async () => {
  await using relay = await startScripted()
  const states: unknown[] = []
  const look = async () => {
    const [line] = await relay.lines()
    states.push([line.status, line.imessage_active, line.status_reason, line.status_hint])
  }

  await look()
  await relay.device.goOffline('unplugged')
  await look()
  await relay.device.goOnline()
  await look()

  expect(states).toEqual([
    ['online', true, null, null],
    ['offline', false, 'unplugged', 'Plug it in.'],
    ['online', true, null, null],
  ])
})

test('spec 3.1: an online line both sends and receives', async () => {
  await using relay = await startScripted()

  const sent = await relay.send({ to: READER, text: 'out' })
  await relay.device.receive({ guid: 'in-1', text: 'in' })

  expect(sent.status).toBe(200)
  const { data } = await relay.get('/api/v1/messages')
  expect(data.map(({ direction, text }: never) => [direction, text])).toEqual([
    ['inbound', 'in'],
    ['outbound', 'out'],
  ])
})

test('spec 3.1: what is for an offline line is routed to another one, or queued until it is back', async () => {
  await using relay = await startScripted({ lines: ['offline', 'online'] })
  const { device: first } = relay
  const [offline, online] = await relay.lines()

  const routed = await relay.send({ to: READER, text: 'any line' })
  const queued = await relay.send({ to: READER, text: 'this line', phone_line_id: offline?.id })
  await first.goOnline()
  await relay.clock.advance(1_000)

  expect([routed.status, routed.body.phone_line_id]).toEqual([200, online?.id])
  expect([queued.status, queued.body.status, queued.body.queued_reason]).toEqual([
    202,
    'queued',
    'line_offline',
  ])
  expect(await relay.message(queued.body.id)).toMatchObject({
    status: 'sent',
    phone_line_id: offline?.id,
  })
})

test('spec 2.2, 8: a line takes 50 new contacts a day, and each line has its own limit', async () => {
  await using relay = await startSpecRelay({ lines: 2 })
  const [first, second] = await relay.lines()
  const send = (number: number, lineId: string) =>
    relay.send({ to: `+1555100${1_000 + number}`, text: 'hello', phone_line_id: lineId })

  const statuses: number[] = []
  for (let i = 0; i < 51; i += 1) statuses.push((await send(i, first.id)).status)
  const known = await send(0, first.id)
  const elsewhere = await send(50, second.id)
  relay.clock.doze(14 * 3_600_000)
  await relay.clock.advance(0)
  const tomorrow = await send(50, first.id)

  expect(statuses).toEqual([...Array(50).fill(200), 429])
  expect([known.status, elsewhere.status, tomorrow.status]).toEqual([200, 200, 200])
  const used = (await relay.lines()).map((line) => line.new_contacts_today)
  expect(used).toEqual([1, 0])
})

test('spec 8: the limit is a field of the line, and it is what the line keeps to', async () => {
  await using relay = await startSpecRelay()
  const [line] = await relay.lines()

  const patched = await relay.patch(`${LINES}/${line.id}`, { daily_contact_limit: 1 })
  const first = await relay.send({ to: '+15551001001', text: 'hello' })
  const second = await relay.send({ to: '+15551001002', text: 'hello' })

  expect(patched.body.daily_contact_limit).toBe(1)
  expect([first.status, second.status]).toEqual([200, 429])
  expect(second.body.error).toMatchObject({
    code: 'rate_limit_exceeded',
    message: expect.any(String),
    details: {
      limit: 'daily_contacts',
      phone_line_id: line.id,
      daily_limit: 1,
      used: 1,
      resets_at: '2026-11-22T00:00:00.000Z',
    },
  })
})

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
