// The way out by Shortcuts: a message is handed to one call of `next`, once, and `done` says what became
// of it, however late.

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync } from 'node:fs'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { recordingLog } from '../support/recording-log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startRelay } from '../support/test-relay.ts'
import { ASYNC, FRIEND, eventsIn, phoneOf, startBridged } from './shortcuts-relay.ts'

const LONG = `${'0123456789'.repeat(499)} 👩‍👩‍👧‍👦 "quoted" \\n`

test('a shortcut that asks gets what there is to send, and its word makes it sent', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const sent = await relay.send({ to: FRIEND, text: LONG }, ASYNC)

  const asked = phone.next()
  await clock.advance(100)
  const given = await asked
  const during = await relay.message(sent.body.id)
  const noted = await phone.done(given.body.message.id)
  await clock.advance(1_000)

  const message = await relay.message(sent.body.id)
  expect(given.body).toEqual({ message: { id: sent.body.id, to: FRIEND, text: LONG } })
  expect(during.status).toBe('sending')
  expect([noted.status, noted.body]).toEqual([200, { noted: true }])
  expect(message).toMatchObject({ status: 'sent', platform_guid: null, error: null })
  expect(eventsIn(box.sink)).toEqual(['message.sent'])
})

test('a caller who waits is answered as soon as the shortcut is done', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const asked = phone.next()
  await clock.advance(100)

  const sending = relay.send({ to: FRIEND, text: 'hello' })
  await clock.advance(100)
  const given = await asked
  await phone.done(given.body.message.id)

  expect((await sending).body).toMatchObject({ id: given.body.message.id, status: 'sent' })
})

test('a shortcut that asks while there is nothing waits for 25 seconds, and gets what comes meanwhile', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const state = { isAnswered: false }

  const first = phone.next().finally(() => {
    state.isAnswered = true
  })
  await clock.advance(24_900)
  const isEarly = state.isAnswered
  await clock.advance(200)
  const second = phone.next()
  await clock.advance(10_000)
  await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await clock.advance(100)

  expect(isEarly).toBe(false)
  expect((await first).body).toEqual({ message: null })
  expect((await second).body.message.text).toBe('hello')
})

test('a call that the iPhone gave up gets nothing; the next one does', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const gone = new AbortController()
  const lost = phone.next(gone.signal).catch(() => null)
  await clock.advance(1_000)

  gone.abort()
  await clock.advance(100)
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await clock.advance(100)
  const during = await relay.message(sent.body.id)
  const asked = phone.next()
  await clock.advance(100)

  expect((await lost)?.body ?? { message: null }).toEqual({ message: null })
  expect(during.status).toBe('queued')
  expect((await asked).body.message.id).toBe(sent.body.id)
})

test('calls at once never get the same message', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const calls = Array.from({ length: 5 }, () => phone.next())
  await clock.advance(100)

  const texts = ['one', 'two', 'three']
  for (const [i, text] of texts.entries()) {
    await relay.send({ to: `+1555000222${i}`, text }, ASYNC)
  }
  await clock.advance(30_000)

  const given = (await Promise.all(calls)).map(({ body }) => body.message?.text ?? '')
  expect(new Set(given)).toEqual(new Set(['', ...texts]))
  expect(given.length).toBe(5)
})

test('calls that pile up are let go, the oldest first', async () => {
  await using box = await startBridged()
  const { phone, clock } = box
  const isAnswered: boolean[] = []

  const calls = Array.from({ length: 12 }, (_, i) =>
    phone.next().finally(() => {
      isAnswered[i] = true
    }),
  )
  await clock.advance(1_000)
  const early = [...isAnswered]
  await clock.advance(25_000)

  expect(early).toEqual([true, true])
  expect((await Promise.all(calls)).map(({ body }) => body)).toEqual(
    calls.map(() => ({ message: null })),
  )
})

test('what the iPhone could not send has failed, and the log says why without the text, in 200 characters', async () => {
  const { log, lines } = recordingLog()
  await using box = await startBridged({ parts: { log } })
  const { relay, phone, clock } = box
  const text = 'The secret word is rosebud.'
  const sent = await relay.send({ to: FRIEND, text }, ASYNC)
  await box.takes()
  const other = await relay.send({ to: '+15550002222', text: 'hello' }, ASYNC)
  await box.takes()

  const error = `Could not send to +1 (555) 000-1111 or ${FRIEND}: "The secret word is rose…" ${'x'.repeat(900)}`
  const noted = await phone.done(sent.body.id, { sent: false, error })
  const after = await phone.done(sent.body.id)
  const again = await phone.done(sent.body.id, { sent: false })
  await phone.done(other.body.id, { sent: false, error: 'x'.repeat(5_000) })
  await clock.advance(1_000)

  const told = lines.filter(([, message]) => message === 'iPhone refused a message')
  const line_id = expect.any(String) as unknown as string // Matches any text.
  const changed = lines.filter(([, message]) => message === 'iPhone changed its report')
  expect([noted.status, after.status, again.status]).toEqual([200, 200, 200])
  expect(changed).toEqual([
    ['warn', 'iPhone changed its report', { line_id, message_id: sent.body.id, first: 'not_sent' }],
  ])
  expect(await relay.message(sent.body.id)).toMatchObject({
    status: 'failed',
    error: {
      code: 'refused_by_phone',
      message: 'The shortcut on the iPhone could not send the message.',
    },
  })
  expect(eventsIn(box.sink)).toEqual(['message.failed', 'message.failed'])
  expect(told.map(([level, , fields]) => [level, fields])).toEqual([
    ['warn', { line_id, message_id: sent.body.id, error: 'Could not send to … or …: "…' }],
    ['warn', { line_id, message_id: other.body.id, error: 'x'.repeat(200) }],
  ])
})

test('what nobody reports within five minutes is uncertain, never handed out again, and settled late', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  const id = await box.takes()

  await clock.advance(299_000)
  const before = await relay.message(id)
  await clock.advance(2_000)
  const after = await relay.message(id)
  const again = phone.next()
  await clock.advance(25_000)
  const late = await phone.done(id)
  const twice = await phone.done(id)

  expect(before.status).toBe('sending')
  expect(after).toMatchObject({ status: 'uncertain', error: { code: 'outcome_unknown' } })
  expect(after.error.message).toContain('not confirmed')
  expect((await again).body).toEqual({ message: null })
  expect([late.status, twice.status]).toEqual([200, 200])
  expect(await relay.message(sent.body.id)).toMatchObject({ status: 'sent', error: null })
})

test('a report of a message that was never given is 404', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const queued = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)

  const answers = [await phone.done('msg_unknown'), await phone.done(queued.body.id)]
  await clock.advance(1_000)

  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
    [404, 'not_found'],
    [404, 'not_found'],
  ])
  expect((await relay.message(queued.body.id)).status).toBe('queued')
})

test('a restart between handing out and the report leaves it uncertain until the report comes', async () => {
  using folder = new ScratchFolder()
  const open = (name: string) => openDatabase(folder.file(name), { version: 'test' })
  const first = open('a.db')
  const before = await startBridged({ database: first, onClose: () => closeDatabase(first.db) })
  const sent = await before.relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await before.takes()
  copyFileSync(folder.file('a.db'), folder.file('b.db'))
  if (existsSync(folder.file('a.db-wal')))
    copyFileSync(folder.file('a.db-wal'), folder.file('b.db-wal'))

  const { key } = before.relay
  await using relay = await startRelay({ clock: before.clock, database: open('b.db'), key })
  const phone = phoneOf(relay, before.bridge.token)
  const uncertain = await relay.message(sent.body.id)
  const noted = await phone.done(sent.body.id)

  expect(uncertain.status).toBe('uncertain')
  expect(noted.status).toBe(200)
  expect(await relay.message(sent.body.id)).toMatchObject({ status: 'sent', error: null })
})

test('an orderly stop lets go of who waits at once, and a message that is out stays uncertain', async () => {
  const box = await startBridged()
  const { relay, phone, clock } = box
  const sent = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await box.takes()
  const waiting = phone.next()
  await clock.advance(100)

  const stopping = relay.app.stop()
  await clock.advance(100)
  await stopping

  const row = relay.db.sqlite
    .query<{ status: string }, [string]>('SELECT status FROM messages WHERE id = ?')
    .get(sent.body.id)
  expect((await waiting).body).toEqual({ message: null })
  expect(row?.status).toBe('uncertain')
})
