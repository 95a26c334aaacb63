// What the home page says in words: the state of the relay, findings under their causes, lines,
// messages, and how many of them there were today.

import { expect, test } from 'bun:test'

import { createDayCount } from '../../src/dashboard/day-count.ts'
import { branchesOf, placeOf } from '../../src/dashboard/finding-tree.ts'
import { expectedLine, lineStatusWords } from '../../src/dashboard/line-words.ts'
import { whyNot } from '../../src/dashboard/message-words.ts'
import { relayState } from '../../src/dashboard/relay-state.ts'
import type { Answer } from '../../src/dashboard/request.ts'
import type { HealthFinding, Message } from '../../src/dashboard/resources.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { listOf, ok, pageClock } from './page-rig.ts'
import { message, phoneLine } from './samples.ts'

const NOTHING = { lines: [phoneLine()], findings: [], webhooks: [], today: null }

test('where all is well, one sentence says so', () => {
  const today = { count: 41, isMore: false }

  expect(relayState({ ...NOTHING, today })).toEqual({
    tone: 'ok',
    title: 'Everything works',
    sentence: 'The line is ready, 41 messages today, no webhooks.',
  })
})

test('an error comes before a warning, and no line that is ready before both', () => {
  const warning = finding({ code: 'sleep_enabled', severity: 'warning' })
  const error = finding({ code: 'storage_full', severity: 'error' })
  const offline = phoneLine({ status: 'offline' })

  const states = [
    relayState({ ...NOTHING, findings: [warning] }),
    relayState({ ...NOTHING, findings: [warning, error] }),
    relayState({ ...NOTHING, findings: [error], lines: [offline] }),
    relayState({ ...NOTHING, lines: [] }),
  ]

  expect(states.map(({ tone, title }) => `${tone}: ${title}`)).toEqual([
    'warn: One thing needs you',
    'bad: One thing needs you',
    'bad: Nothing can be sent',
    'warn: No phone line yet',
  ])
})

test('a line is ready only where a message could go out by it', () => {
  const lines = [
    phoneLine(),
    phoneLine({ status: 'offline' }),
    phoneLine({ is_enabled: false }),
    phoneLine({ imessage_active: false }),
  ]

  expect(relayState({ ...NOTHING, lines }).sentence).toBe('1 of 4 lines ready, no webhooks.')
  expect(lines.map((line) => lineStatusWords(line).text)).toEqual([
    'Online',
    'Offline',
    'Paused',
    'No iMessage',
  ])
})

test('a finding stands under its cause, be it the one of its own line or of the relay', () => {
  const off = finding({ code: 'device_absent', line_id: 'line_1' })
  const late = finding({ code: 'line_offline', line_id: 'line_1', depends_on: 'device_absent' })
  const other = finding({ code: 'line_offline', line_id: 'line_2', depends_on: 'device_absent' })
  const deeper = finding({ code: 'queue', line_id: 'line_1', depends_on: 'line_offline' })

  expect(branchesOf([late, deeper, off, other])).toEqual([
    { cause: off, consequences: [late, deeper] },
    { cause: other, consequences: [] },
  ])
})

test('a finding whose cause is not there, or that explains itself, stands on its own', () => {
  const alone = finding({ code: 'a', depends_on: 'gone' })
  const itself = finding({ code: 'b', depends_on: 'b' })

  expect(branchesOf([alone, itself]).map(({ cause }) => cause)).toEqual([alone, itself])
})

test('each finding leads to the page on which it can be mended', () => {
  const findings = [
    finding({ code: 'line_offline', line_id: 'line_1' }),
    finding({ code: 'webhook_failing' }),
    finding({ code: 'storage_full' }),
    finding({ code: 'possible_loop' }),
    finding({ code: 'sleep_enabled' }),
  ]

  expect(findings.map((each) => placeOf(each).href)).toEqual([
    '#/lines/line_1',
    '#/webhooks',
    '#/settings',
    '#/conversations',
    '#/lines',
  ])
})

test('the line that will take a message is the first that is ready and has a contact left', () => {
  const offline = phoneLine({ id: 'line_0', status: 'offline', driver: 'mac' })
  const full = phoneLine({ id: 'line_1', driver: 'mac', new_contacts_today: 50 })
  const free = phoneLine({ id: 'line_2', driver: 'mac' })
  const lines = [phoneLine({ id: 'line_s' }), offline, full, free]

  const stranger = expectedLine(lines, () => false)
  const friend = expectedLine(lines, (line) => line.id === 'line_1')

  expect([stranger?.id, friend?.id]).toEqual(['line_2', 'line_1'])
  expect(expectedLine([offline], () => false)).toBeNull()
  expect(expectedLine([phoneLine()], () => false)?.driver).toBe('simulated')
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

function finding(told: Partial<HealthFinding>): HealthFinding {
  return {
    code: 'code',
    severity: 'error',
    title: 'Title',
    why: 'Why.',
    fix: 'Fix.',
    line_id: null,
    since: '2026-11-21T10:00:00.000Z',
    depends_on: null,
    ...told,
  }
}

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
