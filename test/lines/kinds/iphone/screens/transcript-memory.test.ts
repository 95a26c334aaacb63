import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import {
  TranscriptMemory,
  type Descriptor,
} from '../../../../../src/lines/kinds/iphone/screens/transcript-memory.ts'
import { FRIEND, OTHER } from '../../../../support/iphone/ui-rig.ts'

const NOW = 1_795_255_200_000

const ONE: Descriptor = {
  guid: 'ui-00000000-0000-4000-8000-000000000000',
  isFromMe: false,
  isAttachment: true,
  hash: 'abc',
  length: 3,
  minutes: 600,
  at: NOW,
  seenAt: NOW,
  stage: null,
  isReported: true,
}

test('the memory is the same again from its text', () => {
  const memory = new TranscriptMemory(NOW)
  const guid = 'ui-0b6d3f0e-7a51-4c7e-9a1d-1f2e3d4c5b6a'
  const kept = { ...ONE, guid, isFromMe: true, at: NOW, seenAt: NOW + 1, stage: 'read' as const }
  memory.keep(FRIEND, [kept, { ...kept, isFromMe: false, stage: null, isReported: false }])
  memory.keepMark('mark', 'name', true)
  memory.addPending(OTHER)

  const again = TranscriptMemory.fromText(memory.toText(), 0)

  expect(again.chat(FRIEND)).toEqual(memory.chat(FRIEND))
  expect([again.since, again.hasSeenList, again.knowsMark('mark'), again.pending]).toEqual([
    NOW,
    true,
    true,
    [OTHER],
  ])
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
    memory.keepMark(`mark ${i}`, `name ${i}`, true)
  }

  expect(memory.handles).toHaveLength(500)
  expect(memory.handles[0]).toBe(deviceHandle('+12025550100'))
  expect(memory.chat(deviceHandle('+12025550599'))?.map(({ hash }) => hash)[0]).toBe('20')
  expect([memory.knowsMark('mark 99'), memory.knowsMark('mark 100')]).toEqual([false, true])
  expect(memory.toText().length).toBeLessThan(600_000)
})

test('of a chat that rests the end is kept, and all that was not told', () => {
  const memory = new TranscriptMemory(NOW)
  const told = Array.from({ length: 60 }, (_, index) => ({ ...ONE, hash: String(index) }))
  const untold = told.map((one, index) => ({ ...one, isReported: index < 30 }))

  memory.keep(FRIEND, told)
  memory.keep(OTHER, untold)
  for (let i = 0; i < 19; i += 1) memory.keep(deviceHandle(`+12025550${300 + i}`), told)
  const awake = memory.chat(OTHER)
  memory.keep(deviceHandle('+12025550400'), told)

  expect(memory.chat(FRIEND)).toEqual(told.slice(-12))
  expect(awake).toEqual(untold)
  expect(memory.chat(OTHER)).toEqual(untold.slice(30))
})
