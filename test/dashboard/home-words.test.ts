// What the home page says in words: the state of the relay, lines, messages, and how many of them
// there were today.

import { expect, test } from 'bun:test'

import { createDayCount } from '../../src/dashboard/day-count.ts'
import { driverWords, isReady, lineState } from '../../src/dashboard/line-words.ts'
import { whyNot } from '../../src/dashboard/message-words.ts'
import { stateSentence } from '../../src/dashboard/relay-state.ts'
import type { Answer } from '../../src/dashboard/request.ts'
import type { Message } from '../../src/dashboard/resources.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { listOf, ok, pageClock } from './page-rig.ts'
import { message, phoneLine } from './samples.ts'

test('the state of the relay is told in one sentence, with how busy the day is once that is known', () => {
  const state = {
    tone: 'ok',
    title: '',
    lines: 'The line is ready',
    webhooks: 'no webhooks',
  } as const
  const sentences = [null, 0, 1, 41].map((count) =>
    stateSentence({ ...state, findings: [] }, count === null ? null : { count, isMore: false }),
  )

  expect(sentences).toEqual([
    'The line is ready, no webhooks.',
    'The line is ready, no messages today, no webhooks.',
    'The line is ready, 1 message today, no webhooks.',
    'The line is ready, 41 messages today, no webhooks.',
  ])
})

test('a line says in a word whether a message could go out by it', () => {
  const lines = [
    phoneLine(),
    phoneLine({ status: 'offline' }),
    phoneLine({ is_enabled: false }),
    phoneLine({ imessage_active: false }),
  ]

  expect(lines.map((line) => lineState(line).text)).toEqual([
    'Online',
    'Offline',
    'Paused',
    'No iMessage',
  ])
  expect(lines.map(isReady)).toEqual([true, false, false, false])
})

test('every kind of line has words', () => {
  const kinds = ['mac', 'iphone', 'shortcuts', 'simulated']

  expect(kinds.map((driver) => driverWords(phoneLine({ driver })))).toEqual([
    'Messages on this Mac',
    'iPhone',
    'iPhone by Shortcuts',
    'Simulated: nothing leaves this machine',
  ])
})

test('why a message is not on its way is told, and nothing where there is nothing to tell', () => {
  const error = { code: 'not_on_imessage', message: 'The recipient is not on iMessage.' }

  const told = [
    message({ status: 'queued', queued_reason: 'line_offline' }),
    message({ status: 'failed', error }),
    message({ status: 'uncertain' }),
    message({ status: 'delivered' }),
  ].map(whyNot)

  expect(told).toEqual([
    'The line is offline. It goes out as soon as the line is back.',
    'The recipient is not on iMessage.',
    'It was handed to the device, and nobody can say whether it left.',
    null,
  ])
})

test('the messages of the day are counted once, and then only what is new', async () => {
  const rig = countRig()
  rig.add(250)

  const first = await rig.count()
  rig.add(3)
  const second = await rig.count()

  expect(first).toEqual(ok({ count: 250, isMore: false }))
  expect(second).toEqual(ok({ count: 253, isMore: false }))
  expect(rig.read).toEqual([200, 50, 4])
})

test('a new day begins at nothing', async () => {
  const rig = countRig()
  rig.add(2)
  await rig.count()

  await rig.clock.advance(86_400_000)
  rig.add(1)

  expect(await rig.count()).toEqual(ok({ count: 1, isMore: false }))
})

test('a day with very many messages is counted up to a thousand', async () => {
  const rig = countRig()
  rig.add(1_500)

  expect(await rig.count()).toEqual(ok({ count: 1_000, isMore: true }))
})

/** A relay that has messages since a time; `read` says how many each page had. */
function countRig() {
  const clock = new TestClock()
  const messages: Message[] = []
  const read: number[] = []
  const api = {
    async get<T>(path: string): Promise<Answer<T>> {
      const query = new URL(path, 'http://localhost').searchParams
      const after = query.get('created_after') ?? ''
      const from = Number(query.get('cursor') ?? 0)
      const found = messages.filter(({ created_at }) => created_at > after)
      const page = found.slice(from, from + 200)
      read.push(page.length)
      const next = from + 200 < found.length ? String(from + 200) : null
      return ok(listOf(page, next)) as Answer<T> // Only messages are asked for here.
    },
  }
  const count = createDayCount({ api, clock: pageClock(clock) })
  return {
    clock,
    read,
    count: () => count(new AbortController().signal),
    add(many: number) {
      for (let n = 0; n < many; n += 1) {
        const at = clock.now() + (messages.length % 1_000)
        const created_at = new Date(Math.max(at, TEST_START)).toISOString()
        messages.unshift(message({ id: `msg_${messages.length}`, created_at }))
      }
    },
  }
}
