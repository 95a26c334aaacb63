// Random lives of two lines, step by step.

import * as fc from 'fast-check'

import { deviceHandle } from '../../src/domain/handle.ts'
import type { MessageId } from '../../src/domain/ids.ts'
import type { SendOutcome } from '../../src/lines/driver.ts'
import type { Db } from '../../src/storage/database.ts'
import { guidOf, type ScriptedDevice } from '../support/scripted-driver.ts'
import type { TestRelay } from '../support/test-relay.ts'

const HOUR = 3_600_000
const OUTCOMES = ['accepted', 'nameless', 'held', 'refused', 'failed', 'unknown'] as const
type Outcome = (typeof OUTCOMES)[number]

const line = fc.constantFrom(0 as const, 1 as const)
const whom = fc.integer({ min: 0, max: 2 })
const pick = fc.nat({ max: 20 })
const does = <const What extends string>(what: What) => fc.constant(what)
const anyLine = fc.constantFrom(null, null, 0 as const, 1 as const)
const SEND = fc.record({
  do: does('send'),
  to: whom,
  line: anyLine,
  text: fc.constantFrom('a', 'b'),
})
const ANSWER = fc.record({ do: does('answer'), line, outcome: fc.constantFrom(...OUTCOMES) })
const GO = fc.record({ do: fc.constantFrom('online' as const, 'offline' as const), line })
const RECEIVE = fc.record({ do: does('receive'), line, from: whom })
const receipts = fc.constantFrom('sent' as const, 'read' as const, 'failed' as const)
const RECEIPT = fc.record({ do: does('receipt'), pick, kind: receipts })
const SETTLE = fc.record({ do: does('settle'), pick, isSent: fc.boolean() })
const ends = fc.constantFrom('sent' as const, 'failed' as const)
const RESOLVE = fc.record({ do: does('resolve'), pick, status: ends })
const WAIT = fc.record({ do: does('wait'), ms: fc.constantFrom(10, 1_000, 6_000, 40_000) })
const SLEEP = fc.record({ do: does('sleep'), hours: fc.constantFrom(5, 9, 14) })
export const STEP = fc.oneof(
  { weight: 6, arbitrary: SEND },
  { weight: 4, arbitrary: ANSWER },
  { weight: 3, arbitrary: GO },
  { weight: 3, arbitrary: RECEIVE },
  { weight: 2, arbitrary: RECEIPT },
  { weight: 2, arbitrary: SETTLE },
  { weight: 1, arbitrary: RESOLVE },
  { weight: 3, arbitrary: WAIT },
  { weight: 1, arbitrary: SLEEP },
)
export type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never

export type World = {
  readonly relay: Pick<TestRelay, 'clock' | 'db' | 'lines' | 'post' | 'send'>
  readonly devices: readonly [ScriptedDevice, ScriptedDevice]
  /** Guids of messages that a device took. */
  readonly guids: string[]
  count: number
}

export async function take(world: World, step: Step): Promise<void> {
  const { relay, devices } = world
  switch (step.do) {
    case 'send':
      await send(relay, step)
      return
    case 'answer':
      answerWith(world, devices[step.line], step.outcome)
      return
    case 'online':
      await devices[step.line].goOnline()
      return
    case 'offline':
      await devices[step.line].goOffline()
      return
    case 'receive': {
      world.count += 1
      const handle = deviceHandle(handleOf(step.from))
      await devices[step.line].receive({ guid: guidOf(50_000 + world.count), handle })
      return
    }
    case 'receipt':
    case 'settle':
    case 'resolve':
      await conclude(world, step)
      return
    case 'wait':
      await relay.clock.advance(step.ms)
      return
    case 'sleep':
      relay.clock.doze(step.hours * HOUR)
      await relay.clock.advance(11_000)
  }
}

async function send(
  relay: World['relay'],
  { to, text, line }: Extract<Step, { readonly do: 'send' }>,
): Promise<void> {
  const lines = await relay.lines()
  const phone_line_id = line === null ? null : lines[line]?.id
  await relay.send({ to: handleOf(to), text, phone_line_id }, { Prefer: 'respond-async' })
}

/** What the device, its driver or a person says of a message that left, or may have. */
async function conclude(
  { relay, devices, guids }: World,
  step: Extract<Step, { readonly do: 'receipt' | 'settle' | 'resolve' }>,
): Promise<void> {
  if (step.do === 'receipt') {
    const guid = guids[step.pick % Math.max(1, guids.length)] ?? 'a guid that nobody knows'
    for (const device of devices)
      await device.report(guid, step.kind, relay.clock.now(), { reason: 'no' })
    return
  }
  const statuses = step.do === 'settle' ? ['uncertain', 'sending'] : ['uncertain']
  const id = idOfStatus(relay.db, statuses, step.pick)
  if (id === null) return
  if (step.do === 'settle') await devices[0].settle(id, step.isSent ? SENT : NOT_SENT)
  else await relay.post(`/api/v1/messages/${id}/resolve`, { status: step.status })
}

const SENT = { outcome: 'accepted', guid: null } as const
const NOT_SENT = { outcome: 'not_sent', reason: 'not_found', blame: 'line' } as const

export function answerWith(world: World, device: ScriptedDevice, outcome: Outcome): void {
  device.script = async (_message, pointOfNoReturn): Promise<SendOutcome> => {
    if (outcome === 'refused') return { outcome: 'not_sent', reason: 'busy', blame: 'line' }
    if (!(await pointOfNoReturn('note'))) {
      return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
    }
    world.count += 1
    const guid = guidOf(10_000 + world.count)
    if (outcome === 'held' || outcome === 'accepted') world.guids.push(guid)
    if (outcome === 'held' || outcome === 'accepted') return { outcome, guid }
    if (outcome === 'nameless') return { outcome: 'accepted', guid: null }
    if (outcome === 'unknown') return { outcome, reason: 'timed_out' }
    const blame = world.count % 2 === 0 ? 'message' : 'line'
    return { outcome: 'not_sent', reason: 'failed', blame }
  }
}

function idOfStatus({ sqlite }: Db, statuses: readonly string[], pick: number): MessageId | null {
  const rows = sqlite
    .query<{ id: MessageId; status: string }, []>('SELECT id, status FROM messages ORDER BY seq')
    .all()
    .filter(({ status }) => statuses.includes(status))
  return rows[pick % Math.max(1, rows.length)]?.id ?? null
}

function handleOf(number: number): string {
  return `+1202555070${number}`
}
