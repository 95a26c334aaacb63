// Messages to one recipient leave in the order in which they were accepted, even if they change
// lines on their way.

import { expect, test } from 'bun:test'

import {
  accepts,
  refuses,
  type ScriptedDevice,
  type SendScript,
} from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const ASYNC = { Prefer: 'respond-async' }

/** What left, in order, and from which number. */
function watch(devices: readonly ScriptedDevice[], script: SendScript): string[] {
  const left: string[] = []
  for (const device of devices) {
    device.script = async (...send) => {
      const outcome = await script(...send)
      if (outcome.outcome === 'accepted')
        left.push(`${send[0].text} from ${device.number.slice(-1)}`)
      return outcome
    }
  }
  return left
}

test('a message that two lines refuse is not overtaken by those behind it', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'], capacity: 4 })
  let refusals = 2
  const left = watch(relay.devices, (...send) => {
    if (send[0].text !== 'one' || refusals === 0) return accepts(...send)
    refusals -= 1
    return refuses(...send)
  })

  for (const text of ['one', 'two', 'three']) await relay.send({ to: TO, text }, ASYNC)
  await relay.clock.advance(10_000)

  expect(refusals).toBe(0)
  expect(left).toEqual(['one from 1', 'two from 1', 'three from 1'])
  const { data } = await relay.get('/api/v1/conversations')
  expect(data).toMatchObject([{ phone_number: '+12025550801', message_count: 3 }])
})

test('those behind a message leave its line with it, as far as one that named the line', async () => {
  await using relay = await startScripted({ lines: ['offline', 'offline'], capacity: 4 })
  const left = watch(relay.devices, accepts)
  await relay.send({ to: TO, text: 'one' })
  await relay.send({ to: TO, text: 'two' })
  await relay.send({ to: TO, text: 'pinned', phone_line_id: relay.line.id })
  await relay.send({ to: TO, text: 'three' })

  await relay.second.goOnline()
  await relay.clock.advance(1_000)
  const gone = [...left]
  await relay.device.goOnline()
  await relay.clock.advance(1_000)

  expect(gone).toEqual(['one from 2', 'two from 2'])
  expect(left).toEqual([...gone, 'pinned from 1', 'three from 1'])
})

test('a message that is being prepared does not pass one that was accepted before it', async () => {
  await using relay = await startScripted({ lines: ['online', 'offline'], capacity: 4 })
  const ready = { early: Promise.withResolvers<void>(), late: Promise.withResolvers<void>() }
  const left = watch([relay.second], async (message, ...more) => {
    await (message.text === 'early' ? ready.early : ready.late).promise
    return accepts(message, ...more)
  })
  relay.device.script = refuses
  const lines = await relay.lines()

  await relay.send({ to: TO, text: 'early' }, ASYNC)
  await relay.clock.advance(100)
  await relay.second.goOnline()
  await relay.send({ to: TO, text: 'late', phone_line_id: lines[1]?.id }, ASYNC)
  await relay.clock.advance(1_000)
  ready.late.resolve()
  await relay.clock.advance(1_000)
  const during = [...left]
  ready.early.resolve()
  await relay.clock.advance(10_000)

  expect(during).toEqual([])
  expect(left).toEqual(['early from 2', 'late from 2'])
})

test('the answer to a message that moved says where it is', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'], script: refuses })

  const answer = await relay.send({ to: TO, text: 'hello' })
  const now = await relay.message(answer.body.id)

  expect(answer.body.queued_reason).toBe('retry')
  expect(answer.body).toEqual(now)
  const conversation = await relay.get(`/api/v1/conversations/${answer.body.conversation_id}`)
  expect(conversation.message_count).toBe(1)
})

test('a person who answers a conversation answers it on the line to which its only message goes', async () => {
  await using relay = await startScripted({ lines: ['offline', 'offline'] })
  const { body } = await relay.send({ to: TO, text: 'one' })
  const path = `/api/v1/conversations/${body.conversation_id}`
  await relay.patch(path, { automation_paused: true })

  await relay.second.goOnline()
  await relay.clock.advance(10_000)

  const { data } = await relay.get('/api/v1/conversations')
  expect(data).toMatchObject([{ phone_number: '+12025550802', automation_paused: true }])
})

/** Two lines, of which the first one goes offline; a message that it was to send is on the second. */
async function movedMessage() {
  const relay = await startScripted({ lines: ['offline', 'offline'] })
  const { body } = await relay.send({ to: TO, text: 'one' })
  await relay.second.goOnline()
  await relay.clock.advance(10_000)
  const message = await relay.message(body.id)
  expect(message.phone_number).toBe('+12025550802')
  return { relay, body, message }
}

test('the id of a conversation that was handed out stays good when its message moves, also over a restart', async () => {
  const { relay: before, body, message } = await movedMessage()
  const id = body.conversation_id
  const { database, key, clock } = before
  await before.app.stop()
  await using relay = await startScripted({ lines: [], database, key, clock })

  const told = await relay.get(`/api/v1/conversations/${id}`)
  const there = await relay.get(`/api/v1/conversations/${message.conversation_id}`)
  const listed = (await relay.get('/api/v1/conversations')).data
  const messages = await relay.get(`/api/v1/messages?conversation_id=${id}`)
  const changes = await relay.get(
    `/api/v1/messages?conversation_id=${id}&updated_since=2020-01-01T00:00:00Z`,
  )

  expect(message.conversation_id).not.toBe(id)
  expect(told).toEqual({ ...there, id, moved_to: message.conversation_id })
  expect(listed.map((one: { id: string }) => one.id)).toEqual([message.conversation_id])
  expect([messages, changes].map(({ data }) => data)).toEqual([[message], [message]])
  const changed = await relay.patch(`/api/v1/conversations/${id}`, { automation_paused: true })
  expect([changed.status, changed.body]).toEqual([200, { ...told, automation_paused: true }])
  expect(await relay.get(`/api/v1/conversations/${there.id}`)).toMatchObject({
    automation_paused: true,
  })
})

test('a conversation that gets a message of its own again stands for itself', async () => {
  const { relay, body } = await movedMessage()
  await using _ = relay
  const id = body.conversation_id

  await relay.device.goOnline()
  await relay.send({ to: TO, text: 'two', phone_line_id: relay.line.id })

  const told = await relay.get(`/api/v1/conversations/${id}`)
  expect(told).not.toHaveProperty('moved_to')
  expect(told).toMatchObject({ id, phone_number: '+12025550801', message_count: 1 })
  expect((await relay.get('/api/v1/conversations')).data).toHaveLength(2)
})

test('a message that goes from line to line leads every id that it had to where it is', async () => {
  await using relay = await startScripted({ lines: Array(3).fill('online'), script: refuses })

  const { body } = await relay.send({ to: TO, text: 'hello' })
  const ids = relay.db.sqlite.query('SELECT id FROM conversations').values().map(String)

  const { conversation_id } = await relay.message(body.id)
  expect(ids).toHaveLength(3)
  for (const id of ids) {
    const { data } = await relay.get(`/api/v1/messages?conversation_id=${id}`)
    expect(data.map((one: { id: string }) => one.id)).toEqual([body.id])
    const { moved_to = id } = await relay.get(`/api/v1/conversations/${id}`)
    expect(moved_to).toBe(conversation_id)
  }
})

test('a message that comes while earlier ones wait for room does not overtake them', async () => {
  await using relay = await startScripted()
  const { device } = relay
  const first = Promise.withResolvers<void>()
  device.script = async (message, pointOfNoReturn, signal) => {
    if (device.given.length === 1) await first.promise
    return accepts(message, pointOfNoReturn, signal)
  }

  const texts = ['one', 'two', 'three']
  const sending = texts.map((text, index) => relay.send({ to: `+1555000111${index}`, text }))
  await relay.clock.advance(100)
  const late = relay.send({ to: '+15550002222', text: 'late' })
  first.resolve()
  await Promise.all([...sending, late])

  expect(relay.texts()).toEqual([...texts, 'late'])
})
