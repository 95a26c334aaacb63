// The way in by Shortcuts, and what the line says of itself.

import { expect, test } from 'bun:test'

import type { Json } from '../support/test-relay.ts'
import { FRIEND, NUMBER, ASYNC, eventsIn, startBridged } from './shortcuts-relay.ts'

const MINUTE_MS = 60_000

test('what the iPhone posts is stored and announced before the iPhone gets an answer, once for each id', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const message = { id: 'a', text: 'Is my table ready? 🍝', at: '2026-11-21T10:59:00+01:00' }

  const answers = [await phone.receive(message), await phone.receive(message)]
  const stored = await relay.get('/api/v1/messages')
  await clock.advance(10_000)
  await phone.receive({ ...message, id: 'b' })
  await clock.advance(1_000)

  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [200, { stored: true }],
    [200, { stored: true }],
  ])
  expect(stored.data).toMatchObject([
    {
      direction: 'inbound',
      status: 'received',
      from: FRIEND,
      to: NUMBER,
      text: message.text,
      service: 'iMessage',
      sent_at: '2026-11-21T09:59:00.000Z',
    },
  ])
  expect(eventsIn(box.sink)).toEqual(['message.received', 'message.received'])
})

test('a text of any length comes in, cut to what a message may have, as on a Mac line', async () => {
  await using box = await startBridged()
  const whole = '👍'.repeat(20_000)
  const texts = [whole, `${whole}x`, `${'b'.repeat(20_000)}${'c'.repeat(500_000)}`, 'a\0b\ud83d']

  const answers = await Promise.all(
    texts.map((text, id) => box.phone.receive({ id: `${id}`, text })),
  )

  const { data } = await box.relay.get('/api/v1/messages')
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(data.map(({ text }: Json) => text).toSorted()).toEqual(
    [whole, whole, 'b'.repeat(20_000), 'a\uFFFDb\uFFFD'].toSorted(),
  )
})

test('a time that is ahead of ours, older than a month, none or not there is passed over', async () => {
  await using box = await startBridged()
  const now = new Date(box.clock.now()).toISOString()
  const times = ['2026-11-21T10:11:00Z', '2026-10-21T10:00:00Z', 'yesterday', null]

  const answers = await Promise.all(
    times.map((at, id) => box.phone.receive({ id: `${id}`, text: `${id}`, at })),
  )

  const { data } = await box.relay.get('/api/v1/messages')
  expect(answers.map(({ status }) => status)).toEqual(times.map(() => 200))
  expect(data.map(({ sent_at }: Json) => sent_at)).toEqual(times.map(() => now))
})

test('every sender is heard: a number in any spelling is its person, and anything else is as the iPhone writes it', async () => {
  await using box = await startBridged()
  const senders = {
    '+1 (202) 555-0123': '+12025550123',
    '(202) 555-0122': '+12025550122',
    '1 (202) 555-0121': '+12025550121',
    'tel:+12025550120': '+12025550120',
    '\u202a+1\u00a0202\u2011555\u20110124\u202c': '+12025550124',
    'Mum@Example.com': 'mum@example.com',
    '72345': '72345',
    '12': '12',
    // Seven digits are the number of many.
    '555-0123': '555-0123',
    MyBank: 'MyBank',
    'Ann Miller': 'Ann Miller',
    [`${'Ann '.repeat(100)}!`]: 'Ann '.repeat(64).slice(0, 255),
  }

  const answers = []
  for (const from of Object.keys(senders))
    answers.push(await box.phone.receive({ id: from.slice(0, 200), from }))

  const { data } = await box.relay.get('/api/v1/messages')
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(data.map(({ handle }: Json) => handle).toReversed()).toEqual(Object.values(senders))
})

test('a message from a name is kept under the name, and counted once in the health catalogue', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box

  for (const id of ['1', '1', '2', '3', '4']) {
    const from = { 2: 'R2-D2', 3: '72345', 4: '\u200e \u200f' }[id] ?? 'Aunt Polly'
    const { status, body } = await phone.receive({ id, from })
    expect([status, body.error?.code]).toEqual(
      id === '4' ? [422, 'invalid_sender'] : [200, undefined],
    )
  }
  await clock.advance(1_000)

  const { data: stored } = await relay.get('/api/v1/messages')
  const { data: findings } = await relay.get('/api/v1/health')
  const finding = findings.find(({ code }: { code: string }) => code === 'sender_is_a_name')
  expect(stored.map(({ from }: Json) => from)).toEqual(['72345', 'R2-D2', 'Aunt Polly'])
  expect(eventsIn(box.sink)).toEqual(stored.map(() => 'message.received'))
  expect(finding).toMatchObject({
    severity: 'warning',
    line_id: (await box.line()).id,
    why: "Messages in the last 30 days that came with a contact's name instead of a number: 2.",
    fix: expect.stringContaining('delete the contact there'),
  })
  expect(JSON.stringify(findings)).not.toContain('Polly')
})

test('a line is online while a shortcut asks, and 15 minutes after the last time it says what to do', async () => {
  await using box = await startBridged()
  const { relay, clock } = box
  const before = await box.line()

  await box.idles()
  const online = await box.line()
  await clock.advance(15 * MINUTE_MS - 26_000)
  const still = await box.line()
  await clock.advance(2_000)
  const silent = await box.line()

  const { data: findings } = await relay.get('/api/v1/health')
  expect(before).toMatchObject({ status: 'offline', status_reason: 'shortcut_silent' })
  expect(online).toMatchObject({
    driver: 'shortcuts',
    status: 'online',
    imessage_active: true,
    capabilities: {
      new_contacts: true,
      choose_service: false,
      delivered: false,
      read: false,
      guid: false,
      attachments: false,
    },
  })
  expect([still.status, silent.status]).toEqual(['online', 'offline'])
  expect(silent.status_hint).toStartWith('Start the sending shortcut')
  expect(
    findings.map(({ code, depends_on }: Record<string, unknown>) => [code, depends_on]),
  ).toEqual([
    ['shortcut_silent', null],
    ['line_offline', 'shortcut_silent'],
  ])
})

test('a line that falls silent, and one that is disabled, receives all the same and keeps what is to be sent', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const { id } = await box.line()
  await box.idles()
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)

  const received = await phone.receive({})
  await clock.advance(30 * MINUTE_MS)
  const silent = await relay.message(sent.body.id)
  await relay.patch(`/api/v1/phone-lines/${id}`, { is_enabled: false })
  const asked = phone.next()
  await clock.advance(25_000)
  const receivedToo = await phone.receive({ id: '2' })
  await relay.patch(`/api/v1/phone-lines/${id}`, { is_enabled: true })
  const again = phone.next()
  await clock.advance(1_000)

  expect([received.status, receivedToo.status]).toEqual([200, 200])
  expect(silent).toMatchObject({ status: 'queued', queued_reason: 'line_offline' })
  expect((await asked).body).toEqual({ message: null })
  expect((await again).body.message.id).toBe(sent.body.id)
})

test('a line that is switched off while a message waits for the shortcut keeps it', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  await box.idles()
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await clock.advance(100)
  await relay.patch(`/api/v1/phone-lines/${(await box.line()).id}`, { is_enabled: false })

  const asked = phone.next()
  await clock.advance(25_000)

  expect((await asked).body).toEqual({ message: null })
  expect((await relay.message(sent.body.id)).status).toBe('queued')
})

test('a full disk stores nothing and says so; the same message is stored later', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  relay.fillDisk()

  const refused = await phone.receive({ text: 'x'.repeat(15_000) })
  relay.freeDisk()
  await clock.advance(10_000)
  const stored = await phone.receive({ text: 'x'.repeat(15_000) })

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect(stored.status).toBe(200)
  expect((await relay.get('/api/v1/messages')).data.length).toBe(1)
})
