// Messages to one recipient leave in the order in which they were accepted, also where they change
// lines on their way.

import { expect, test } from 'bun:test'

import {
  accepts,
  refuses,
  ScriptedDriver,
  type ScriptedDevice,
  type SendScript,
} from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const TO = '+12025550700'
const ASYNC = { Prefer: 'respond-async' }

/** What left, in order, and from which number. */
function watch(devices: readonly ScriptedDevice[], script: SendScript): string[] {
  const left: string[] = []
  for (const device of devices) {
    device.capacity = 4
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
  const driver = new ScriptedDriver()
  const devices = [driver.add('+12025550801'), driver.add('+12025550802')]
  let refusals = 2
  const left = watch(devices, (...send) => {
    if (send[0].text !== 'one' || refusals === 0) return accepts(...send)
    refusals -= 1
    return refuses(...send)
  })
  await using relay = await startRelay({ drivers: [driver] })

  for (const text of ['one', 'two', 'three']) await relay.send({ to: TO, text }, ASYNC)
  await relay.clock.advance(10_000)

  expect(refusals).toBe(0)
  expect(left).toEqual(['one from 1', 'two from 1', 'three from 1'])
  const { data } = await relay.get('/api/v1/conversations')
  expect(data).toMatchObject([{ phone_number: '+12025550801', message_count: 3 }])
})

test('those behind a message leave its line with it, as far as one that named the line', async () => {
  const driver = new ScriptedDriver()
  const [first, second] = [driver.add('+12025550801', false), driver.add('+12025550802', false)]
  const left = watch([first, second], accepts)
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  await relay.send({ to: TO, text: 'one' })
  await relay.send({ to: TO, text: 'two' })
  await relay.send({ to: TO, text: 'pinned', phone_line_id: line?.id })
  await relay.send({ to: TO, text: 'three' })

  await second.goOnline()
  await relay.clock.advance(1_000)
  const gone = [...left]
  await first.goOnline()
  await relay.clock.advance(1_000)

  expect(gone).toEqual(['one from 2', 'two from 2'])
  expect(left).toEqual([...gone, 'pinned from 1', 'three from 1'])
})

test('a message that is being prepared does not pass one that was accepted before it', async () => {
  const driver = new ScriptedDriver()
  const [first, second] = [driver.add('+12025550801'), driver.add('+12025550802', false)]
  const ready = { early: Promise.withResolvers<void>(), late: Promise.withResolvers<void>() }
  const left = watch([second], async (message, ...more) => {
    await (message.text === 'early' ? ready.early : ready.late).promise
    return accepts(message, ...more)
  })
  first.script = refuses
  await using relay = await startRelay({ drivers: [driver] })
  const lines = await relay.lines()

  await relay.send({ to: TO, text: 'early' }, ASYNC)
  await relay.clock.advance(100)
  await second.goOnline()
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

test('the answer to a message that moved tells where it is', async () => {
  const driver = new ScriptedDriver()
  for (const number of ['+12025550801', '+12025550802']) driver.add(number).script = refuses
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  const now = await relay.message(answer.body.id)

  expect(answer.body.queued_reason).toBe('retry')
  expect(answer.body).toEqual(now)
  const conversation = await relay.get(`/api/v1/conversations/${answer.body.conversation_id}`)
  expect(conversation.message_count).toBe(1)
})

test('a person who answers a conversation answers it on the line to which its only message goes', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801', false)
  const second = driver.add('+12025550802', false)
  await using relay = await startRelay({ drivers: [driver] })
  const { body } = await relay.send({ to: TO, text: 'one' })
  const path = `/api/v1/conversations/${body.conversation_id}`
  await relay.patch(path, { automation_paused: true })

  await second.goOnline()
  await relay.clock.advance(10_000)

  const { data } = await relay.get('/api/v1/conversations')
  expect(data).toMatchObject([{ phone_number: '+12025550802', automation_paused: true }])
})
