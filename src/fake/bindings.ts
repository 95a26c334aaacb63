// The handlers of the fake's own operations.

import { parsed } from '../api/client.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { bind, type Binding } from '../http/bind.ts'
import { readHandle } from '../http/input.ts'
import { messagesOnPhones } from '../lines/kinds/simulated/phones.ts'
import { numberOfLine } from '../storage/lines.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import { awaited } from './assertions.ts'
import { DURATION_MS_MAX, durationIn } from './durations.ts'
import { FAULTS_MAX, issuesOfFault } from './faults.ts'
import { FAKE_OPERATIONS } from './operations.ts'
import { PEOPLE_SCHEMA } from './people-file.ts'
import { START, World, type WorldOptions } from './world.ts'

/** Resolves when the fake serves. */
export async function startFake(options: WorldOptions): Promise<World> {
  const world = new World(options, (it) => [...stateBindings(it), ...scriptBindings(it)])
  await world.start()
  return world
}

function stateBindings(world: World): readonly Binding[] {
  const now = () => isoTime(timestamp(world.clock.now()))
  const time = () => {
    return { now: now(), is_frozen: world.clock.isFrozen, in_flight: [...world.traffic.inFlight()] }
  }
  return [
    bind(FAKE_OPERATIONS.getFakeClock, time),
    bind(FAKE_OPERATIONS.moveFakeClock, async ({ body }) => {
      const { set, advance, jump, freeze } = body
      if (freeze !== undefined) world.clock.freeze(freeze)
      if (jump !== undefined) world.clock.step(durationIn('jump', jump))
      if (set !== undefined) await world.advance(msUntil(set, world.clock.now()))
      if (advance !== undefined)
        await world.advance(forward('advance', durationIn('advance', advance)))
      return time()
    }),
    bind(FAKE_OPERATIONS.resetFake, async ({ body: { name = START } }) => {
      if (await world.reset(name)) return { name, now: now() }
      throw new RelayError('not_found', `There is no snapshot "${name}".`)
    }),
    bind(FAKE_OPERATIONS.snapshotFake, async ({ body: { name = START } }) => {
      await world.snapshot(name)
      return { name, now: now() }
    }),
    bind(FAKE_OPERATIONS.restartFake, async () => {
      await world.restart()
      return time()
    }),
  ]
}

/** The outbox and webhook calls, which a test asserts on, and people and faults, which it decides. */
function scriptBindings(world: World): readonly Binding[] {
  const { script } = world
  const faults = () => ({ data: script.faults.map(({ fault }) => fault) })
  return [
    bind(FAKE_OPERATIONS.listOutbox, (input) => {
      const { to, line } = input.query
      const who = {
        to: readHandle(to),
        line: line === undefined ? undefined : numberIn(world, line),
      }
      const find = () => messagesOnPhones(world.network, who)
      return awaited(input, { find, textOf: ({ text }) => text, isFrozen: world.clock.isFrozen })
    }),
    bind(FAKE_OPERATIONS.listWebhookCalls, (input) => {
      const { url = '', event } = input.query
      const find = () =>
        script.calls
          .filter((one) => one.url.includes(url) && (event ?? one.event) === one.event)
          .map((call) => ({ ...call, json: parsed(call.body) }))
      return awaited(input, { find, textOf: ({ body }) => body, isFrozen: world.clock.isFrozen })
    }),
    bind(FAKE_OPERATIONS.getFakePeople, () => script.file),
    bind(FAKE_OPERATIONS.replaceFakePeople, ({ body }) => {
      script.replace(body, world.network)
      return script.file
    }),
    bind(FAKE_OPERATIONS.getFakePeopleSchema, () => PEOPLE_SCHEMA),
    bind(FAKE_OPERATIONS.listFaults, faults),
    bind(FAKE_OPERATIONS.addFault, ({ body }) => {
      const issues = [...issuesOfFault(body, '')]
      if (script.faults.length >= FAULTS_MAX) {
        const message = `is one too many: ${FAULTS_MAX} are not over. DELETE ends them`
        issues.push({ path: 'fault', message })
      }
      if (issues.length > 0) throw invalidRequest(...issues)
      script.addFault(body, world.network)
      return faults()
    }),
    bind(FAKE_OPERATIONS.clearFaults, () => {
      script.clearFaults(world.network)
      return faults()
    }),
  ]
}

/** The number of a line by its id or its number. Throws `invalid_request` if there is none. */
function numberIn(world: World, line: string): string {
  const number = numberOfLine(world.db, line) ?? readHandle(line) ?? line
  if (world.lineNumbers.includes(number)) return number
  const message = `must be the id of a line or one of ${world.lineNumbers.join(', ')}`
  throw invalidRequest({ path: 'line', message })
}

function msUntil(text: string, now: number): number {
  const time = parseIsoTime(text)
  if (time === null)
    throw invalidRequest({ path: 'set', message: 'must be a time like 2026-11-21T10:00:00.000Z' })
  return forward('set', time - now)
}

function forward(path: string, ms: number): number {
  if (ms >= 0 && ms <= DURATION_MS_MAX) return ms
  const message =
    ms < 0 ? 'would go back; POST /api/v1/simulated/reset does that' : 'is too far ahead'
  throw invalidRequest({ path, message })
}
