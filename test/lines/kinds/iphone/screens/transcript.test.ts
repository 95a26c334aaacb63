import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import type { Bubble } from '../../../../../src/lines/kinds/iphone/screens/messages-screen.ts'
import {
  type Descriptor,
  shortHash,
  TranscriptMemory,
} from '../../../../../src/lines/kinds/iphone/screens/transcript-memory.ts'
import {
  align,
  joinWindows,
  type SeenBubble,
} from '../../../../../src/lines/kinds/iphone/screens/transcript.ts'
import { FRIEND, OTHER } from '../../../../support/iphone/ui-rig.ts'

/** `>` is ours; the number behind the text is the minute of the day. */
type Said = readonly [text: string, minutes: number]

const MINUTE_MS = 60_000

function bubble([text, minutes]: Said): Bubble {
  const isFromMe = text.startsWith('>')
  return {
    isFromMe,
    sender: null,
    service: isFromMe ? 'iMessage' : null,
    text,
    minutes,
    isAttachment: false,
    status: null,
    under: null,
  }
}

function seen(chat: readonly Said[]): readonly SeenBubble[] {
  return chat.map((said) => ({ bubble: bubble(said), at: said[1] * MINUTE_MS }))
}

function known(chat: readonly Said[]): readonly Descriptor[] {
  return chat.map(([text, minutes], index) => ({
    guid: `ui-${index}`,
    isFromMe: text.startsWith('>'),
    hash: shortHash(text),
    length: text.length,
    minutes,
    at: minutes * MINUTE_MS,
    seenAt: 0,
    stage: null,
    isText: false,
    isReported: true,
  }))
}

/** What is new, as text. */
function newOf(before: readonly Said[], now: readonly Said[]): readonly string[] {
  const { rows } = align(known(before), seen(now))
  return rows.filter(({ isNew }) => isNew).map(({ seen: { bubble: one } }) => one.text)
}

/** Bubbles as `<text><minute>`, between bars. */
function chat(text: string): readonly Said[] {
  const parts = text === '' ? [] : text.split('|')
  return parts.map((part): Said => [part.replace(/\d+$/, ''), Number(/\d+$/.exec(part)?.[0])])
}

/** More than a chat that rests remembers. */
const MANY = Array.from({ length: 13 }, (_, index) => `${'abcdefghijklm'.charAt(index)}1`).join('|')

/** What happened, the chat as it was, the chat as it is, and what of it is new. */
const CASES: readonly (readonly [what: string, before: string, now: string, fresh: string])[] = [
  ['nothing', 'a1|b2', 'a1|b2', ''],
  ['one more', 'a1', 'a1|b2', 'b'],
  ['the same text twice in a minute', 'ok1', 'ok1|ok1', 'ok'],
  ['the same text a third time', 'ok1|ok1', 'ok1|ok1|ok1', 'ok'],
  ['a window that has moved on', 'a1|b2|c3', 'b2|c3|d4', 'd'],
  ['a window that shows more above', 'b2', 'a1|b2', ''],
  ['a window with equal texts above', 'x1|ok2|ok2', 'ok2|ok2', ''],
  ['a burst in one minute', 'a1|b1|c1', 'b1|c1|d1', 'd'],
  ['a tapback on an old one', 'a1|b2', 'a, Loved by you1|b2', ''],
  ['a tapback on the last one', 'a1|b2', 'a1|b, Loved by you2', ''],
  ['a tapback and the same text again', 'ok1', 'ok, Loved by you1|ok1', 'ok'],
  ['a tapback and something new', 'a1|b2', 'a1|b, Loved by you2|c3', 'c'],
  ['an edit', 'a1|b2|c3', 'a1|B2|c3', ''],
  ['one taken back', 'a1|b2|c3', 'a1|c3', ''],
  ['one taken back and one new', 'a1|b2|c3', 'a1|c3|d4', 'd'],
  ['one that came late and stands before ours', 'a1|>b2', 'a1|c1|>b2', 'c'],
  ['one of the same minute and words as ours', 'ok1', 'ok1|>ok1', '>ok'],
  ['a chat that was cleared', 'a1|b2', 'c5', 'c'],
  ['a cleared chat with what was there before', 'b5', 'a1|c6', 'c'],
  ['a chat that is empty now', 'a1', '', ''],
  ['one taken back and written again, far below', `${MANY}|no2`, 'x2|no2', 'x'],
  ['a window with forgotten ones above', MANY, `x1|${MANY}`, ''],
]

for (const [what, before, now, fresh] of CASES) {
  test(`after ${what}, new is ${JSON.stringify(fresh)}`, () => {
    expect(newOf(chat(before), chat(now)).join('|')).toEqual(fresh)
  })
}

test('a gap is reported if nothing known is in sight', () => {
  const cleared = align(known(chat('a1')), seen(chat('c5')))
  const same = align(known(chat('a1')), seen(chat('a1')))

  expect([cleared.hasGap, same.hasGap]).toEqual([true, false])
})

test('what lies above the window stays known', () => {
  const aligned = align(known(chat('a1|b2|c3')), seen(chat('c3|d4')))

  expect(aligned.above.map(({ guid }) => guid)).toEqual(['ui-0', 'ui-1'])
  expect(aligned.rows.map((row) => row.known?.guid ?? null)).toEqual(['ui-2', null])
})

/** A chat whose minutes go up, of few words, so that many are equal. */
const CHAT = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', '>a', '>b'), fc.integer({ min: 0, max: 2 })), {
    minLength: 1,
    maxLength: 30,
  })
  .map((steps) => {
    let minutes = 600
    return steps.map(([text, later]): Said => {
      minutes += later
      return [text, minutes]
    })
  })

test('whatever was said, new is exactly what came behind', () => {
  const property = fc.property(CHAT, fc.nat(), (said, cut) => {
    const before = said.slice(0, 1 + (cut % said.length))

    expect(newOf(before, said)).toEqual(said.slice(before.length).map(([text]) => text))
  })

  fc.assert(property, { numRuns: 500 })
})

test('whatever window shows a chat that has not changed, nothing of it is new', () => {
  const property = fc.property(CHAT, fc.nat(), (said, cut) => {
    expect(newOf(said, said.slice(cut % said.length))).toEqual([])
  })

  fc.assert(property, { numRuns: 500 })
})

test('two windows are one chat', () => {
  const join = (older: string, newer: string) =>
    joinWindows(chat(older).map(bubble), chat(newer).map(bubble))?.bubbles.map(({ text }) => text)

  expect(join('a1|b2', 'b2|c3')).toEqual(['a', 'b', 'c'])
  expect(join('a1', 'c3')).toEqual(['a', 'c'])
  expect(join('a1', 'a1')).toEqual(['a'])
  expect(join('a1|z2', 'a1|b2')).toBeUndefined()
})

const NOW = 1_795_255_200_000

const ONE: Descriptor = {
  guid: 'ui-00000000-0000-4000-8000-000000000000',
  isFromMe: false,
  hash: 'abc',
  length: 3,
  minutes: 600,
  at: NOW,
  seenAt: NOW,
  stage: null,
  isText: false,
  isReported: true,
}

function row(mark: string) {
  return { mark, name: `name of ${mark}`, date: '' }
}

test('the memory is the same again from its text', () => {
  const memory = new TranscriptMemory(NOW)
  const guid = 'ui-0b6d3f0e-7a51-4c7e-9a1d-1f2e3d4c5b6a'
  const kept = { ...ONE, guid, isFromMe: true, at: NOW, seenAt: NOW + 1, stage: 'read' as const }
  memory.keep(FRIEND, [kept, { ...kept, isFromMe: false, stage: null, isReported: false }])
  memory.list.keep(row('mark'), { kind: 'person', handle: FRIEND })
  memory.list.keep(row('other mark'), { kind: 'unproven' })
  memory.addPending(OTHER)

  const again = TranscriptMemory.fromText(memory.toText(), 0)

  expect(again.chat(FRIEND)).toEqual(memory.chat(FRIEND))
  expect([again.since, again.list.hasSeen, again.list.knows(row('mark')), again.pending]).toEqual([
    NOW,
    true,
    true,
    [OTHER],
  ])
  expect([again.list.hasHidden('unproven'), again.list.hasHidden('named')]).toEqual([true, false])
  expect(again.toText()).toBe(memory.toText())
  expect(again.chat(FRIEND)?.[0]).toEqual(kept)
})

test('a text that nobody can read is a memory that begins now', () => {
  const texts = [null, '', '{}', '{"since":"1"}', '[1]', '{"since":1,"chats":[["a",[[1]]]]}']

  const memories = texts.map((text) => TranscriptMemory.fromText(text, NOW))

  expect(memories.map(({ since, handles }) => [since, handles])).toEqual(texts.map(() => [NOW, []]))
})

test('the memory has a bound: 60 bubbles a chat, 500 chats, those left longest alone go first', () => {
  const memory = new TranscriptMemory(NOW)
  const many = Array.from({ length: 80 }, (_, index) => ({ ...ONE, hash: String(index) }))
  for (let i = 0; i < 600; i += 1) {
    memory.keep(deviceHandle(`+1202555${String(i).padStart(4, '0')}`), many)
    memory.list.keep(row(`mark ${i}`), null)
  }

  expect(memory.handles).toHaveLength(500)
  expect(memory.handles[0]).toBe(deviceHandle('+12025550100'))
  expect(memory.chat(deviceHandle('+12025550599'))?.map(({ hash }) => hash)[0]).toBe('20')
  expect(['mark 99', 'mark 100'].map((mark) => memory.list.knows(row(mark)))).toEqual([false, true])
  expect(memory.toText().length).toBeLessThan(600_000)
})

test('of a chat that rests the end is kept, and all that was not reported', () => {
  const memory = new TranscriptMemory(NOW)
  const told = Array.from({ length: 60 }, (_, index) => ({ ...ONE, hash: String(index) }))
  const hidden = told.map((one, index) => ({ ...one, isReported: index < 30 }))

  memory.keep(FRIEND, told)
  memory.keep(OTHER, hidden)
  for (let i = 0; i < 19; i += 1) memory.keep(deviceHandle(`+12025550${300 + i}`), told)
  const awake = memory.chat(OTHER)
  memory.keep(deviceHandle('+12025550400'), told)

  expect(memory.chat(FRIEND)).toEqual(told.slice(-12))
  expect(awake).toEqual(hidden)
  expect(memory.chat(OTHER)).toEqual(hidden.slice(30))
})
