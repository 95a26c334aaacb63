// The handlers of the fake's own operations.

import { RelayError, invalidRequest } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import { bind, type Binding } from '../http/bind.ts'
import { isoTime, parseIsoTime } from '../system/iso-time.ts'
import { DURATION_MS_MAX, durationIn } from './durations.ts'
import { FAKE_OPERATIONS } from './operations.ts'
import { scriptBindings } from './script-bindings.ts'
import { START, World, type WorldOptions } from './world.ts'

/** Resolves when the fake serves. */
export async function startFake(options: WorldOptions): Promise<World> {
  const world = new World(options, (it) => [...fakeBindings(it), ...scriptBindings(it)])
  await world.start()
  return world
}

function fakeBindings(world: World): readonly Binding[] {
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
      if (!(await world.reset(name))) {
        throw new RelayError('not_found', `There is no snapshot "${name}".`)
      }
      return { name, now: now() }
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
