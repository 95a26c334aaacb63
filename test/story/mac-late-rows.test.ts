// Rows of chat.db that come late, are completed late, or have a date that cannot be: what is news of them,
// what is history, and what they change in a conversation. Through the whole relay, on three databases.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { encodeAttributedBody } from '../support/mac/attributed-body-encoder.ts'
import type { MessageValues } from '../support/mac/chat-db-file.ts'
import { retracted } from '../support/mac/summaries.ts'
import { OWN_NUMBER } from '../support/mac/trace-steps.ts'
import type { Json } from '../support/test-relay.ts'
import { FRIEND, MacBox } from './mac-relay.ts'
import { photo, SCHEMAS, startBox } from './mac-stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS

/** A row without a date that may be: 0, below, none, or in the far future. */
const NO_DATES: readonly (readonly [string, MessageValues[string]])[] = [
  ['0', 0],
  ['-1', -1],
  ['none', null],
  ['near 2^63', 9_223_372_036_854_775_000n],
]

for (const schema of SCHEMAS) {
  test(`${schema}: a message that has text was not unsent, whatever its summary says`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const values = () => ({
      date_edited: box.model.file.date(relay.clock.now()),
      message_summary_info: retracted(),
    })

    box.model.receive(FRIEND, 'sent ahead of its time', values())
    const own = { is_from_me: 1, is_sent: 1, schedule_type: 2, destination_caller_id: OWN_NUMBER }
    box.model.receive(FRIEND, 'my own', { ...own, ...values() })
    box.model.receive(FRIEND, '', { ...values(), attributedBody: null, subject: 'Lunch' })
    const late = box.model.receive(FRIEND, '', {
      date_edited: box.model.file.date(relay.clock.now()),
      attributedBody: null,
    })
    await relay.clock.advance(1_000)
    box.model.file.set(late.rowId, { text: 'a body that comes later' })
    await relay.clock.advance(20_000)

    expect(news()).toEqual([
      'message.received: sent ahead of its time',
      'message.received: a body that comes later',
    ])
    const { data } = await relay.get('/api/v1/messages')
    expect(data.map(({ text }: Json) => text)).toContain('my own')
  })

  test(`${schema}: a file that only the body names is found`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, posted } = started
    const { file } = box.model
    const attributedBody = encodeAttributedBody('\uFFFCa boat', { attachments: ['P'] })

    file.db.transaction(() => {
      const { rowId } = box.model.receive(FRIEND, '', { attributedBody })
      file.addAttachment(rowId, photo(box, 'P'))
      file.db.run('DELETE FROM message_attachment_join')
    })()

    const [first] = await eventually('the message is announced', async () => {
      await relay.clock.advance(100)
      return posted().length > 0 ? posted() : null
    })
    expect(first.message.attachments).toMatchObject([{ state: 'available', size: 5 }])
  })

  test(`${schema}: a file of another message is not given away to a body that names it`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay } = started
    const { file } = box.model
    const attributedBody = encodeAttributedBody('\uFFFC', { attachments: ['P'] })
    file.db.transaction(() => {
      const { rowId } = box.model.receive(FRIEND, '', { attributedBody })
      file.addAttachment(rowId, photo(box, 'P'))
    })()
    await relay.clock.advance(1_000)

    box.model.receive('+15550002222', '', { attributedBody })

    const [other] = await eventually('the message is listed', async () => {
      await relay.clock.advance(100)
      const { data } = await relay.get('/api/v1/messages?handle=%2B15550002222')
      return data.length > 0 ? data : null
    })
    expect(other.attachments).toMatchObject([{ state: 'pending' }])
  })

  const LATE: readonly (readonly [string, number, MessageValues, string])[] = [
    ['after a bare mark', 3_000, { attributedBody: null, textColumn: '\uFFFC' }, ''],
    ['after its message was reported', 8_000, { attributedBody: null, textColumn: 'look' }, 'look'],
    ['minutes after its message was reported', 3 * MINUTE_MS, { textColumn: 'look' }, 'look'],
  ]
  test.each([...LATE])(`${schema}: a file that comes %s is kept`, async (_, ms, values, text) => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, posted } = started
    const { file } = box.model
    const { rowId } = box.model.receive(FRIEND, text, values)
    await relay.clock.advance(ms)

    file.db.transaction(() => {
      file.addAttachment(rowId, photo(box, 'P'))
      file.set(rowId, { cache_has_attachments: 1 })
    })()

    const told = await eventually('the file is reported', async () => {
      await relay.clock.advance(100)
      const all = posted()
      const last = all.at(-1)?.message
      return last?.attachments?.[0]?.state === 'available' ? all : null
    })
    const names = ms < 5_000 ? ['message.received'] : ['message.received', 'attachment.available']
    expect(told.map(({ event }) => event)).toEqual(names)
    expect(told.map(({ message }) => message.text)).toEqual(names.map(() => text))
    const { data } = await relay.get('/api/v1/messages')
    expect(data[0].attachments).toMatchObject([{ filename: 'photo.jpg', size: 5 }])
  })

  test(`${schema}: a file that comes after a crash of the relay is kept`, async () => {
    using box = new MacBox(schema)
    const { file } = box.model
    const before = await startBox(box)
    const { rowId } = box.model.receive(FRIEND, 'look')
    await before.relay.clock.advance(2_000)
    box.crash()
    const { relay } = await box.start()
    await using _ = relay
    await relay.clock.advance(2_000)

    file.db.transaction(() => {
      file.addAttachment(rowId, photo(box, 'P'))
      file.set(rowId, { cache_has_attachments: 1 })
    })()

    const [attachment] = await eventually('the file is there', async () => {
      await relay.clock.advance(100)
      return (await relay.get('/api/v1/messages')).data[0].attachments ?? null
    })
    expect(attachment).toMatchObject({ filename: 'photo.jpg', size: 5 })
  })

  test(`${schema}: words that come after their message was reported are reported as its text`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const { rowId } = box.model.receive(FRIEND, '', { attributedBody: null, subject: 'Lunch' })
    await relay.clock.advance(15_000)

    box.model.file.set(rowId, { text: 'at noon' })
    await relay.clock.advance(2_000)

    expect(news()).toEqual(['message.received: Lunch', 'message.edited: Lunch\nat noon'])
  })

  test(`${schema}: words that come late into history are its text, and no news`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news } = started
    const date = box.model.file.date(relay.clock.now() - 2 * DAY_MS)
    const { rowId } = box.model.receive(FRIEND, '', { attributedBody: null, date })
    await relay.clock.advance(15_000)

    box.model.file.set(rowId, { text: 'at noon' })
    await relay.clock.advance(2_000)

    const { data } = await relay.get('/api/v1/messages')
    expect(data.map(({ text }: Json) => text)).toEqual(['at noon'])
    expect(news()).toEqual([])
  })

  test.each([...NO_DATES])(
    `${schema}: of rows with the date %s that come together none is news`,
    async (_, date) => {
      using box = new MacBox(schema)
      await using started = await startBox(box)
      const { relay, news } = started
      await relay.clock.advance(2 * MINUTE_MS)
      box.model.receive(FRIEND, 'now')
      await relay.clock.advance(2_000)

      box.model.file.db.transaction(() => {
        for (const text of ['a', 'b', 'c']) box.model.receive(FRIEND, text, { date })
      })()
      await relay.clock.advance(2_000)
      expect(news()).toEqual(['message.received: now'])

      // Alone, beside what is new, it is news; a second one at once is not.
      await relay.clock.advance(2 * MINUTE_MS)
      box.model.receive(FRIEND, 'again')
      await relay.clock.advance(2_000)
      box.model.receive(FRIEND, 'alone', { date })
      await relay.clock.advance(2_000)
      box.model.receive(FRIEND, 'second', { date })
      await relay.clock.advance(2_000)
      const known = ['message.received: now', 'message.received: again']
      expect(news()).toEqual([...known, 'message.received: alone'])

      await relay.clock.advance(2 * MINUTE_MS)
      box.model.receive(FRIEND, 'nothing new around it', { date })
      await relay.clock.advance(2_000)
      expect(news()).toHaveLength(3)
    },
  )

  test(`${schema}: history changes nothing of a conversation but its number of messages`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, news, conversation } = started
    box.model.receive(FRIEND, 'live')
    await relay.clock.advance(2_000)
    const before = await conversation()
    const old = relay.clock.now() - 2 * YEAR_MS
    await relay.clock.advance(MINUTE_MS)

    for (const place of Array(60).keys()) {
      const at = old + place * MINUTE_MS
      const values = { service: 'SMS', date: box.model.file.date(at), is_from_me: place % 2 }
      box.model.receive(FRIEND, `old ${place}`, { ...values, is_sent: place % 2 })
    }
    await relay.clock.advance(5_000)

    expect(await conversation()).toEqual({ ...before, message_count: 61 })
    expect(news()).toEqual(['message.received: live'])
    const { body } = await relay.post(`/api/v1/conversations/${before.id}/read`, {})
    expect(body.unread_count ?? 0).toBe(0)
  })

  test(`${schema}: a row from the future does no harm`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, posted } = started
    const { file } = box.model
    for (const text of ['one', 'two', 'three']) {
      box.model.receive(FRIEND, text)
      await relay.clock.advance(1_000)
    }
    box.model.receive(FRIEND, 'from 2030', { date: file.date(relay.clock.now() + 4 * YEAR_MS) })
    await relay.clock.advance(1_000)
    box.model.receive(FRIEND, 'tomorrow', { date: file.date(relay.clock.now() + DAY_MS) })
    await relay.clock.advance(1_000)

    const now = relay.clock.now()
    const { data } = await relay.get('/api/v1/messages')
    for (const { sent_at } of data) expect(Date.parse(sent_at)).toBeLessThanOrEqual(now)

    box.model.receive(FRIEND, 'while it was rebuilt')
    box.model.replace({ keep: 100, order: 'newest_first', into: 'new_file' })
    await relay.clock.advance(20_000)

    const texts: readonly string[] = posted().map(({ message }) => message.text)
    const all = ['one', 'two', 'three', 'from 2030', 'tomorrow', 'while it was rebuilt']
    expect([texts.length, new Set(texts)]).toEqual([all.length, new Set(all)])
  })

  test(`${schema}: an error after "sent" is a failure, reported once`, async () => {
    using box = new MacBox(schema)
    await using started = await startBox(box)
    const { relay, posted } = started
    box.model.receive(FRIEND, 'hi')
    box.model.delays = { ...box.model.delays, deliveredMs: HOUR_MS, readMs: HOUR_MS }
    const sending = relay.send({ to: FRIEND, text: 'hello' })
    await relay.clock.advance(2_000)
    expect((await sending).body.status).toBe('sent')

    box.model.file.db.run('UPDATE message SET error = 22, is_sent = 0 WHERE is_from_me = 1')
    await relay.clock.advance(5_000)
    expect((await relay.message((await sending).body.id)).status).toBe('sent')
    await relay.clock.advance(60_000)

    const message = await relay.message((await sending).body.id)
    expect([message.status, message.error.code]).toEqual(['failed', 'not_on_imessage'])
    const names = posted().map(({ event }) => event)
    expect(names).toEqual(['message.received', 'message.sent', 'message.failed'])
  })
}
