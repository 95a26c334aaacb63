// What the screen says and may not mean: words that are a person's or the phone's, and a service that is not settled.

import { describe, expect, test } from 'bun:test'

import type { MessageId } from '../../../../../src/domain/ids.ts'
import { lookForReceipts } from '../../../../../src/lines/kinds/iphone/screens/receipts.ts'
import { TranscriptMemory } from '../../../../../src/lines/kinds/iphone/screens/transcript-memory.ts'
import {
  FRIEND,
  makeKnownLine,
  NEVER,
  OTHER,
  run,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

/** A chat that was read, whose last bubble is `text`. */
async function readLine(text: string): Promise<UiRig> {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'first')
  await rig.poll()
  await rig.clock.advance(120_000)
  rig.phone.receive(FRIEND, text)
  await rig.poll()
  rig.told.messages.length = 0
  return rig
}

/** Another text stands where the last one stood, in its minute. */
function replaceLast(rig: UiRig, text: string): void {
  const last = rig.phone.chat(FRIEND).bubbles.at(-1)
  if (last !== undefined) last.text = text
}

describe('the last text of a chat', () => {
  test.each([
    ['No, I mean yes', ['< No, I mean yes']],
    ['Yes', ['< Yes']],
    ['No, Loved by a friend of mine, really', ['< No, Loved by a friend of mine, really']],
    ['No, Loved by you', []],
    ['No, Laughed at by +1 (202) 555-0123, Edited', []],
    ['Yes, Edited', ['< Yes, Edited']],
  ])('No, taken back or marked, is %j now: new is %j', async (now, told) => {
    const rig = await readLine('No')

    replaceLast(rig, now)
    rig.phone.chat(FRIEND).isUnread = true
    await rig.poll()

    expect(textsOf(rig)).toEqual(told)
  })

  test('is no news with the mark of an edit if its minute was over at the last look', async () => {
    const rig = await readLine('No')
    await rig.clock.advance(120_000)
    await rig.poll()

    replaceLast(rig, 'Yes, Edited')
    rig.phone.chat(FRIEND).isUnread = true
    await rig.poll()

    expect(textsOf(rig)).toEqual([])
  })

  test.each([
    ['Yes', ['< Yes']],
    ['Yes, Edited', ['< Yes, Edited']],
  ])('if it was the only one, is %j now: new is %j', async (now, told) => {
    const rig = await makeKnownLine()
    rig.phone.receive(OTHER, 'No')
    await rig.poll()
    rig.told.messages.length = 0
    for (const bubble of rig.phone.chat(OTHER).bubbles) bubble.text = now
    await rig.poll()

    expect(textsOf(rig)).toEqual(told)
  })

  test('keeps what looks like a tapback when it is first seen, and is known when that goes', async () => {
    const rig = await readLine('No')
    rig.phone.receive(FRIEND, 'meet at 5, Loved by you')
    await rig.poll()
    replaceLast(rig, 'meet at 5')
    rig.phone.chat(FRIEND).isUnread = true
    await rig.poll()

    expect(textsOf(rig)).toEqual(['< meet at 5, Loved by you'])
  })
})

describe('what the owner types', () => {
  test('behind a message of ours without an outcome is reported, if it only begins like it', async () => {
    const rig = await makeKnownLine()
    const messageId = 'msg_1' as MessageId // Only handed on.
    const at = rig.clock.now()
    rig.reader.own.expect({ messageId, handle: FRIEND, text: 'Hi', at, canFail: true })
    rig.phone.write(FRIEND, 'Hi, Ann, this is the owner')

    await rig.poll()

    expect(textsOf(rig)).toEqual(['> Hi, Ann, this is the owner'])
    expect(rig.told.settled).toEqual([])
  })

  test.each([
    ['see https://www.example.com/a?b=1', 'Example Domain, example.com', []],
    ['see https://example.com/a', 'https://example.com/a', []],
    ['see https://example.com/a', 'see you there', ['> see you there']],
    ['see https://example.com/a', 'I like example.com', ['> I like example.com']],
    ['no link', 'example.com', ['> example.com']],
  ])('behind %j is reported, the preview of its link is not: %j', async (sent, next, told) => {
    const rig = await makeKnownLine()
    await rig.send(sent)
    rig.phone.write(FRIEND, next)

    await rig.poll()

    expect(textsOf(rig)).toEqual(told)
  })
})

describe('the service of what comes in', () => {
  const settles = { first: 'SMS', settled: 'iMessage', afterMs: 2_000 } as const
  const TEXT = { first: 'SMS', settled: 'SMS', afterMs: 0 } as const

  test.each([
    ['settles on iMessage', settles, 'iMessage'],
    ['settles on text', { first: 'iMessage', settled: 'SMS', afterMs: 1_500 } as const, 'SMS'],
    ['is text from the beginning', TEXT, 'SMS'],
  ])('counts once the composer has settled: one that %s', async (_what, reach, service) => {
    const rig = await makeKnownLine()
    rig.phone.reach.set(FRIEND, reach)
    rig.phone.receive(FRIEND, 'hi')

    await rig.poll()

    expect(rig.told.messages.map((message) => message.service)).toEqual([service])
  })

  test('is unknown for what came since the composer said iMessage, and that is announced', async () => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'by iMessage')
    await rig.poll()
    rig.phone.receive(FRIEND, 'perhaps by iMessage')
    rig.phone.reach.set(FRIEND, TEXT)
    await rig.poll()
    rig.phone.receive(FRIEND, 'by text')
    await rig.restart().poll()

    expect(rig.told.messages.map(({ service }) => service)).toEqual(['iMessage', 'iMessage', 'SMS'])
  })
})

test('an iMessage that goes as a text message after all says so once, and fails if that fails', async () => {
  const rig = await makeKnownLine()
  rig.phone.deliveredAfterMs = null
  const { outcome } = await rig.send('hello')
  const [bubble] = rig.phone.sent(FRIEND, 'hello')
  const lookNow = () => run(rig.clock, lookForReceipts(rig.reader, FRIEND, NEVER))
  if (bubble !== undefined) bubble.service = 'SMS'
  await lookNow()
  await lookNow()
  if (bubble !== undefined) bubble.stage = 'failed'
  await lookNow()

  expect(outcome.outcome).toBe('accepted')
  expect(rig.told.receipts.map(({ kind, service }) => [kind, service ?? null])).toEqual([
    ['sent', 'SMS'],
    ['failed', null],
  ])
})

test('the same words an hour later are news, also if another device has read them', async () => {
  const rig = await readLine('ok')
  await rig.clock.advance(3_600_000)
  rig.phone.receive(FRIEND, 'ok')
  rig.phone.chat(FRIEND).isUnread = false

  await rig.poll()

  expect(textsOf(rig)).toEqual(['< ok'])
})

test('a conversation is known by its time, until the list shows a day instead', () => {
  const memory = new TranscriptMemory(0)
  const row = (mark: string) => ({ mark, name: 'Ann', date: '' })
  memory.list.keep(row('Ann, ok\t1:30 PM'), { kind: 'person', handle: FRIEND })

  const marks = ['Ann, ok\t1:30 PM', 'Ann, ok', 'Ann, ok\t1:31 PM', 'Ann, no']

  expect(marks.map((mark) => memory.list.knows(row(mark)))).toEqual([true, true, false, false])
})
