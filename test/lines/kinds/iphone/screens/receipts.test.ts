import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { timestamp } from '../../../../../src/domain/ids.ts'
import {
  linger,
  lookForReceipts,
  ReceiptWatch,
} from '../../../../../src/lines/kinds/iphone/screens/receipts.ts'
import {
  FRIEND,
  makeUiRig,
  NEVER,
  OTHER,
  run,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

/** The receipts of a message, by the order of its sending. */
function kindsOf(rig: UiRig, guid: string | null): readonly string[] {
  return rig.told.receipts.filter((receipt) => receipt.guid === guid).map(({ kind }) => kind)
}

async function sendOne(rig: UiRig, text: string, id = 'msg_1'): Promise<string> {
  const { outcome } = await rig.send(text, { id })
  if (outcome.outcome !== 'accepted' || outcome.guid === null) throw new Error('It was not sent.')
  return outcome.guid
}

/** What the phone shows of a message from now on. */
function show(rig: UiRig, text: string, stage: 'sent' | 'delivered' | 'failed'): void {
  for (const bubble of rig.phone.sent(FRIEND, text)) bubble.stage = stage
}

function lookNow(rig: UiRig) {
  return run(rig.clock, lookForReceipts(rig.reader, FRIEND, NEVER))
}

test('delivered comes before read, and each of them once', async () => {
  const rig = makeUiRig()
  rig.phone.readAfterMs = 60_000
  const guid = await sendOne(rig, 'hello')

  await rig.clock.advance(1_000)
  await lookNow(rig)
  await lookNow(rig)
  const delivered = kindsOf(rig, guid)
  await rig.clock.advance(60_000)
  await lookNow(rig)
  await lookNow(rig)

  expect(delivered).toEqual(['delivered'])
  expect(kindsOf(rig, guid)).toEqual(['delivered', 'read'])
  expect(rig.phone.screen.on).toBe('list')
})

test('what is read at once was delivered, at the time that the phone names', async () => {
  const rig = makeUiRig()
  rig.phone.deliveredAfterMs = null
  rig.phone.readAfterMs = 130_000
  const guid = await sendOne(rig, 'hello')
  const sentAt = rig.clock.now()

  await rig.clock.advance(600_000)
  await lookNow(rig)

  const at = timestamp(Math.floor((sentAt + 130_000) / 60_000) * 60_000)
  expect(rig.told.receipts).toEqual([
    { guid, kind: 'delivered', at, reason: null },
    { guid, kind: 'read', at, reason: null },
  ])
})

test('an older message counts as delivered once a newer one is', async () => {
  const rig = makeUiRig()
  rig.phone.deliveredAfterMs = null
  const older = await sendOne(rig, 'one', 'msg_1')
  const failing = await sendOne(rig, 'two', 'msg_2')
  show(rig, 'two', 'failed')
  rig.phone.deliveredAfterMs = 400
  const newer = await sendOne(rig, 'three', 'msg_3')

  await rig.clock.advance(1_000)
  await lookNow(rig)
  // Its mark goes away: nobody knows why.
  show(rig, 'two', 'sent')
  await lookNow(rig)

  expect(kindsOf(rig, older)).toEqual(['delivered'])
  expect(kindsOf(rig, failing)).toEqual(['failed'])
  expect(kindsOf(rig, newer)).toEqual(['delivered'])
})

test('a text message gets no receipt, and none comes from its neighbour', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['as_text']
  const text = await sendOne(rig, 'as a text message', 'msg_1')
  const imessage = await sendOne(rig, 'as an iMessage', 'msg_2')

  await rig.clock.advance(1_000)
  await lookNow(rig)

  expect(kindsOf(rig, text)).toEqual([])
  expect(kindsOf(rig, imessage)).toEqual(['delivered'])
})

test('what stands below a text message says nothing of the iMessages above it', async () => {
  const rig = makeUiRig()
  rig.phone.hasTextCaptions = true
  rig.phone.deliveredAfterMs = null
  await sendOne(rig, 'as an iMessage', 'msg_1')
  rig.phone.nextTouches = ['as_text']
  await sendOne(rig, 'as a text message', 'msg_2')
  show(rig, 'as a text message', 'delivered')

  await lookNow(rig)

  expect(rig.told.receipts).toEqual([])
})

test('a message that fails later is reported as failed, with the reason, and as delivered if it went through after all', async () => {
  const rig = makeUiRig()
  rig.phone.deliveredAfterMs = null
  const guid = await sendOne(rig, 'hello')

  show(rig, 'hello', 'failed')
  await lookNow(rig)
  await lookNow(rig)
  show(rig, 'hello', 'delivered')
  await lookNow(rig)

  expect(rig.told.receipts).toMatchObject([
    { guid, kind: 'failed', reason: 'not_delivered' },
    { guid, kind: 'delivered', reason: null },
  ])
})

test('messages from before the line get no receipts', async () => {
  const rig = makeUiRig()
  const old = rig.phone.write(FRIEND, 'long ago', 3_600_000)
  old.stage = 'delivered'
  await rig.clock.advance(120_000)

  await lookNow(rig)

  expect(rig.told.receipts).toEqual([])
})

test('a receipt that could not be made durable comes again, and once over a restart', async () => {
  const rig = makeUiRig()
  const guid = await sendOne(rig, 'hello')
  await rig.clock.advance(1_000)
  rig.told.refuses = true
  await lookNow(rig).catch(() => {})
  rig.told.refuses = false

  await lookNow(rig)
  const told = kindsOf(rig, guid)
  const next = rig.restart()
  await run(rig.clock, lookForReceipts(next.reader, FRIEND, NEVER))

  expect([told, kindsOf(rig, guid)]).toEqual([['delivered'], ['delivered']])
})

test('after a send the chat stays open until it is delivered, eight seconds at most', async () => {
  const rig = makeUiRig()
  const quick = await sendOne(rig, 'one', 'msg_1')
  const startedAt = rig.clock.monotonic()
  await run(rig.clock, linger(rig.reader, FRIEND, NEVER))
  const quickMs = rig.clock.monotonic() - startedAt
  rig.phone.deliveredAfterMs = null
  await sendOne(rig, 'two', 'msg_2')

  const secondAt = rig.clock.monotonic()
  await run(rig.clock, linger(rig.reader, FRIEND, NEVER))
  const slowMs = rig.clock.monotonic() - secondAt

  expect(kindsOf(rig, quick)).toEqual(['delivered'])
  expect([quickMs < 2_500, slowMs >= 8_000 && slowMs < 10_000]).toEqual([true, true])
  expect(rig.phone.screen.on).toBe('list')
})

test('a send that waits is not held up by the lingering of another', async () => {
  const rig = makeUiRig()
  rig.phone.deliveredAfterMs = null
  await sendOne(rig, 'one', 'msg_1')

  const lingering = linger(rig.reader, FRIEND, NEVER)
  const { outcome } = await rig.send('two', { to: OTHER, id: 'msg_2' })
  await run(rig.clock, lingering)

  expect(outcome.outcome).toBe('accepted')
  expect(rig.told.messages).toEqual([])
  expect(rig.reader.memory.chat(FRIEND)).toHaveLength(1)
})

test('a chat is looked at after 30 s, 2 and 10 min, 1, 6 and 24 h, until nothing more can come', async () => {
  const rig = makeUiRig()
  await sendOne(rig, 'hello')
  const watch = new ReceiptWatch()
  const start = rig.clock.now()
  watch.add(FRIEND, start)
  const looks: number[] = []

  for (let passedMs = 0; passedMs <= 90_000_000; passedMs += 10_000) {
    if (watch.due(start + passedMs).length === 0) continue
    looks.push(passedMs / 1_000)
    watch.onLook(FRIEND, rig.reader.memory, start + passedMs)
  }

  expect(looks).toEqual([30, 120, 600, 3_600, 21_600, 86_400])
})

test('a new life of the line goes on watching, twenty chats at most', async () => {
  const rig = makeUiRig()
  for (let i = 0; i < 21; i += 1) {
    const to = deviceHandle(`+1202555${String(300 + i).padStart(4, '0')}`)
    await rig.send('hello', { to, id: `msg_${i}` })
  }

  const watch = ReceiptWatch.of(rig.restart().reader.memory, rig.clock.now())

  const due = watch.due(rig.clock.now() + 3_600_000)
  expect(due).toHaveLength(20)
  expect(due).not.toContain(deviceHandle('+12025550300'))
  expect(ReceiptWatch.of(rig.reader.memory, rig.clock.now() + 90_000_000).due(Infinity)).toEqual([])
})
