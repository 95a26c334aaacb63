// Crashes without a process: the files of a relay are copied in the middle of its life, and a second
// relay starts on the copy. The first one never stops; its clock just stands still.

import { expect, test } from 'bun:test'

import { copyDatabase, vanishes } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, ends, guidOf, type SendScript } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const ASYNC = { Prefer: 'respond-async' }

/** A relay on a file, and what starts another one, which accepts everything, on a copy of it. */
async function startCrashing(folder: ScratchFolder, script: SendScript) {
  const relay = await startScripted({ path: folder.file('a.db'), capacity: 4, script })
  const startAgain = () => {
    copyDatabase(folder, 'a.db', 'b.db')
    return startScripted({ path: folder.file('b.db'), capacity: 4, key: relay.key })
  }
  return { ...relay, startAgain }
}

test('a crash past the point of no return leaves the message uncertain, and it is never sent again', async () => {
  using folder = new ScratchFolder()
  const before = await startCrashing(folder, vanishes)
  const { body } = await before.send({ to: TO, text: 'past' }, ASYNC)
  await before.clock.advance(10)

  await using relay = await before.startAgain()
  const { device } = relay
  await relay.clock.advance(60_000)
  const uncertain = await relay.message(body.id)
  await device.settle(body.id, { outcome: 'accepted', guid: guidOf(701) })
  const settled = await relay.message(body.id)
  await relay.clock.advance(3_600_000)

  expect(device.attended[0]?.unsettled).toMatchObject([
    { message: { id: body.id, to: TO, text: 'past' }, note: 'note of past' },
  ])
  expect(uncertain).toMatchObject({ status: 'uncertain', error: { code: 'outcome_unknown' } })
  expect(settled).toMatchObject({ status: 'sent', error: null, platform_guid: guidOf(701) })
  expect(device.given).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.sent'])
})

test('what was queued at the crash is sent once, also behind a message that is uncertain now', async () => {
  using folder = new ScratchFolder()
  const before = await startCrashing(folder, vanishes)
  const sent = [
    await before.send({ to: TO, text: 'past' }, ASYNC),
    await before.send({ to: TO, text: 'behind' }, ASYNC),
    await before.send({ to: TO, text: 'past' }, ASYNC),
    await before.send({ to: TO, text: 'last' }, ASYNC),
  ]
  await before.clock.advance(10)

  await using relay = await before.startAgain()
  const { device } = relay
  await relay.clock.advance(599_000)
  const early = device.given.map((message) => message.text)
  await relay.clock.advance(60_000)
  const ids = sent.map(({ body }) => body.id as string)
  const messages = await Promise.all(ids.map((id) => relay.message(id)))

  expect(early).toEqual(['behind'])
  expect(device.given.map((message) => message.text)).toEqual(['behind', 'past', 'last'])
  expect(messages.map(({ status }) => status)).toEqual(['uncertain', 'sent', 'sent', 'sent'])
})

test('a message that the device holds goes on waiting for its receipt', async () => {
  using folder = new ScratchFolder()
  const before = await startCrashing(folder, ends({ outcome: 'held', guid: guidOf(700) }))
  const { body } = await before.send({ to: TO, text: 'held' }, ASYNC)
  await before.clock.advance(10)

  await using relay = await before.startAgain()
  const { device } = relay
  await relay.clock.advance(3_600_000)
  const waiting = await relay.message(body.id)
  await device.report(guidOf(700), 'delivered', relay.clock.now())

  expect(device.attended[0]?.unsettled).toMatchObject([
    { message: { id: body.id, platformGuid: guidOf(700) }, note: 'note of held' },
  ])
  expect([waiting.status, waiting.platform_guid]).toEqual(['sending', guidOf(700)])
  expect((await relay.message(body.id)).status).toBe('delivered')
  expect(device.given).toEqual([])
})

test('deliveries that were pending go out under the same webhook-id', async () => {
  using folder = new ScratchFolder()
  const before = await startCrashing(folder, accepts)
  // A receiver that has never answered gets one delivery at a time.
  before.sink.answer = (_posted, index) => (index === 0 ? 200 : 'hang')
  const webhook = { url: 'http://192.168.1.20/hook', events: ['message.received', 'message.sent'] }
  await before.post('/api/v1/webhooks', webhook)
  await before.device.receive({ guid: guidOf(701) })
  await before.clock.advance(10)
  await before.device.receive({ guid: guidOf(702) })
  await before.send({ to: TO, text: 'hello' })
  await before.clock.advance(10)

  await using after = await before.startAgain()
  await after.clock.advance(1_000)

  const posted = ({ sink }: typeof after) => sink.posts.map(({ id, body }) => ({ id, body }))
  const pending = posted(before).slice(1)
  expect(pending).toHaveLength(2)
  expect(posted(after)).toEqual(pending)
})
