// How a phone line reports beside its sends, after a crash, and if nothing can be stored.

import { describe, expect, test } from 'bun:test'

import * as fc from 'fast-check'

import {
  FRIEND,
  makeKnownLine,
  makeUiRig,
  OTHER,
  QUIET,
  run,
  textsOf,
} from '../../../../support/iphone/ui-rig.ts'
import { SCALE } from '../../../../support/scale.ts'

describe('while a message is sent', () => {
  test('one that comes in at the same moment is kept, and so is ours', async () => {
    const rig = await makeKnownLine()
    rig.commands.meddle = (name) => {
      if (name === 'value') rig.phone.receive(FRIEND, 'before the touch')
      return null
    }
    const sending = rig.send('ours')
    const { outcome } = await sending
    rig.phone.receive(FRIEND, 'behind it')

    await rig.poll()

    expect(outcome.outcome).toBe('accepted')
    expect(textsOf(rig)).toEqual(['< before the touch', '< behind it'])
  })

  test('a poll waits for it, and a send does not wait for the whole of a poll', async () => {
    const rig = await makeKnownLine()
    for (let i = 0; i < 5; i += 1) rig.phone.receive(`+1202555018${i}`, 'hi')
    const order: string[] = []

    const polling = rig.poll().then(() => order.push('poll'))
    const sending = rig.send('hello').then(() => order.push('send'))
    await run(rig.clock, Promise.all([polling, sending]))

    expect(order).toEqual(['send', 'poll'])
    expect(rig.told.messages).toHaveLength(5)
    expect(rig.phone.sent(FRIEND, 'hello')).toHaveLength(1)
  })

  test('a chat that was left in a hurry is looked at again, though the list shows nothing new', async () => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'ok')
    await rig.poll()
    await rig.send('hello')
    // It comes into the open chat, and so is never unread.
    rig.phone.receive(FRIEND, 'ok')
    await rig.send('hello', { to: OTHER, id: 'msg_2' })

    await rig.poll()

    expect(textsOf(rig)).toEqual(['< ok', '< ok'])
  })
})

test('what could not be made durable is reported again, under the same guid', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'one')
  rig.phone.receive(FRIEND, 'two')
  rig.told.refuses = true
  const refused = await rig.poll().catch((error: unknown) => error)
  const guid = rig.reader.memory.chat(FRIEND)?.find(({ isReported }) => !isReported)?.guid
  rig.told.refuses = false

  await rig.poll()

  expect(String(refused)).toBe('Error: not durable')
  expect(textsOf(rig)).toEqual(['< one', '< two'])
  expect(rig.told.messages[0]?.guid).toBe(guid ?? '')
})

test('a crash between two messages reports the second one, and the first no second time', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'one')
  rig.phone.receive(FRIEND, 'two')
  const { push } = rig.told.messages
  rig.told.messages.push = (...messages) => {
    rig.told.refuses = true
    return push.apply(rig.told.messages, messages)
  }
  await rig.poll().catch(() => {})
  rig.told.messages.push = push
  rig.told.refuses = false

  await rig.restart().poll()

  expect(textsOf(rig)).toEqual(['< one', '< two'])
})

test('a chat that can no longer be opened does not hold up the others', async () => {
  const rig = await makeKnownLine()
  rig.reader.memory.addPending(OTHER)
  rig.phone.wrongChats = [FRIEND, FRIEND, FRIEND]
  rig.phone.receive(FRIEND, 'hello')

  const report = await rig.poll()

  expect(report).toEqual({ ...QUIET, reportedCount: 1, gaps: 1 })
  expect(rig.reader.memory.pending).toEqual([])
})

describe('a chat that takes its time to load', () => {
  for (const loadMs of [400, 1_900]) {
    test(`of ${loadMs} ms makes nothing old new again`, async () => {
      const rig = await makeKnownLine()
      rig.phone.receive(FRIEND, 'one')
      await rig.poll()
      rig.phone.loadMs = loadMs

      rig.phone.receive(FRIEND, 'two')
      await rig.poll()
      rig.phone.receive(FRIEND, 'three')
      await rig.poll()

      expect(textsOf(rig)).toEqual(['< one', '< two', '< three'])
    })
  }

  test('for longer than it is waited for is read at the next look', async () => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'one')
    await rig.poll()
    rig.phone.loadMs = 60_000
    rig.phone.receive(FRIEND, 'two')
    await rig.poll()
    rig.phone.loadMs = 0

    rig.phone.receive(FRIEND, 'three')
    await rig.poll()

    expect(textsOf(rig)).toEqual(['< one', '< two', '< three'])
  })
})

test('a message that was taken back is forgotten, and what comes in its minute is news', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'one')
  rig.phone.receive(FRIEND, 'a typo')
  await rig.poll()
  rig.phone.chat(FRIEND).bubbles.pop()
  await rig.poll()

  rig.phone.receive(FRIEND, 'no typo')
  await rig.poll()

  expect(textsOf(rig)).toEqual(['< one', '< a typo', '< no typo'])
})

for (const aheadMs of [-300_000, 300_000]) {
  test(`a phone whose clock is ${aheadMs / 60_000} minutes off reports our own message as our own`, async () => {
    const rig = await makeKnownLine()
    rig.phone.aheadMs = aheadMs
    await rig.clock.advance(600_000)

    const { outcome } = await rig.send('hello')
    rig.phone.receive(FRIEND, 'an answer')
    await rig.poll()

    expect(outcome.outcome).toBe('accepted')
    expect(textsOf(rig)).toEqual(['< an answer'])
  })
}

test('a title without the country of its number is the chat of the number that was written to', async () => {
  const rig = await makeKnownLine()
  rig.phone.chat(OTHER).title = '(202) 555-0177'
  await rig.send('hello', { to: OTHER })

  rig.phone.receive(OTHER, 'an answer')
  await rig.poll()

  expect(rig.told.messages.map(({ handle, text }) => [handle, text])).toEqual([
    [OTHER, 'an answer'],
  ])
})

test('a chat in which we wrote last is left once, and not opened again for that', async () => {
  const rig = await makeKnownLine()
  await rig.send('hello')
  const before = rig.commands.names.length
  await rig.poll()
  const first = rig.commands.names.slice(before)

  await rig.poll()

  expect(first.filter((name) => name === 'tap' || name === 'url')).toEqual(['tap'])
  expect(rig.commands.names.slice(before + first.length)).toEqual(['source'])
})

test('a chat that has rested while many others went on reports what is new of it, and that once', async () => {
  const rig = await makeKnownLine()
  for (let i = 0; i < 30; i += 1) rig.phone.receive(FRIEND, `early ${i}`)
  await rig.poll()
  for (let i = 0; i < 25; i += 1) rig.phone.receive(`+120255503${10 + i}`, 'hi')
  await rig.poll()
  await rig.poll()
  const before = rig.told.messages.length
  const next = rig.restart()

  await rig.clock.advance(120_000)
  rig.phone.receive(FRIEND, 'late')
  await next.poll()
  await next.poll()

  expect(before).toBe(55)
  expect(textsOf(rig).slice(before)).toEqual(['< late'])
})

const RUNS = 60 * SCALE
const PEOPLE = [FRIEND, OTHER]

const PERSON = fc.constantFrom(...PEOPLE)
/** Few texts, so that many are equal; one looks like a label of ours. */
const TEXT = fc.constantFrom('ok', 'yes', 'Your iMessage, ok, 1:30 PM', 'a, b')

const ACT = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constantFrom('receive', 'type'), person: PERSON, text: TEXT }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('send'), person: PERSON, text: TEXT }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('poll', 'tapback', 'kill') }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('wait'), ms: fc.nat({ max: 7_200_000 }) }) },
)

type Act = {
  readonly act: string
  readonly person?: typeof FRIEND
  readonly text?: string
  readonly ms?: number
}

async function live(acts: readonly Act[]) {
  const rig = makeUiRig()
  const said: string[] = []
  let line = { poll: rig.poll, send: rig.send, kill: rig.kill }
  const doing: Readonly<Record<string, (act: Act) => unknown>> = {
    receive: ({ person = FRIEND, text = '' }) => {
      said.push(`${person} < ${text}`)
      rig.phone.receive(person, text)
    },
    // The list does not show that a person typed what was said last: each is another text.
    type: ({ person = FRIEND }) => {
      said.push(`${person} > typed ${said.length}`)
      rig.phone.write(person, `typed ${said.length - 1}`)
    },
    send: ({ person = FRIEND, text = '' }) => line.send(text, { to: person }),
    poll: () => line.poll(),
    wait: ({ ms = 0 }) => rig.clock.advance(ms),
    // What has a tapback when it is first seen is reported with it: its words are not known.
    tapback: async () => {
      await line.poll()
      for (const { bubbles } of rig.phone.chats) loveOne(bubbles)
    },
    kill: () => {
      line.kill()
      line = rig.restart()
    },
  }
  await line.poll()
  await rig.clock.advance(90_000)
  for (const act of acts) {
    await doing[act.act]?.(act)
    // Bubbles of one moment have no order of their own.
    await rig.clock.advance(1_000)
  }
  await line.poll()
  await line.poll()
  const told = rig.told.messages.map(
    ({ handle, isFromMe, text }) => `${handle} ${isFromMe ? '>' : '<'} ${text}`,
  )
  return { said, told, guids: rig.told.messages.map(({ guid }) => guid) }
}

/** The other side marks one of our messages, or we mark theirs: the label of an old bubble grows. */
function loveOne(bubbles: readonly { text: string; tapback: string | null }[]): void {
  const unique = bubbles.find(({ text }) => bubbles.filter((one) => one.text === text).length === 1)
  if (unique !== undefined) unique.tapback = 'Loved by you'
}

function ofChat(lines: readonly string[], person: string): readonly string[] {
  return lines.filter((line) => line.startsWith(person))
}

test(`in ${RUNS} days what is reported is what was said`, async () => {
  const property = fc.asyncProperty(fc.array(ACT, { maxLength: 25 }), async (acts) => {
    const { said, told, guids } = await live(acts)

    for (const person of PEOPLE) expect(ofChat(told, person)).toEqual(ofChat(said, person))
    expect(new Set(guids).size).toBe(guids.length)
  })

  await fc.assert(property, { numRuns: RUNS })
}, 120_000)
