// What a start with a doubtful clock may hold back, and what it must not.

import { expect, test } from 'bun:test'

import { copyDatabase, startOn } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import type { TestRelay } from '../support/test-relay.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const ASYNC = { Prefer: 'respond-async' }

/** Starts a relay where the life before was killed, with the wall clock moved by `ms` meanwhile. */
async function startAfter(folder: ScratchFolder, before: TestRelay | null, ms: number) {
  const life = before === null ? 1 : 2
  if (before !== null) copyDatabase(folder, 'life-1.db', 'life-2.db')
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const clock = new TestClock(before === null ? undefined : before.clock.now() + ms)
  const start = { clock, driver, key: before?.key ?? null }
  const relay = await startOn(folder.file(`life-${life}.db`), start)
  await clock.advance(1_000)
  const texts = () => device.sent.map(({ text }) => text)
  return { relay, device, texts, [Symbol.asyncDispose]: relay[Symbol.asyncDispose] }
}

for (const days of [2, 40, 400]) {
  test(`after ${days} days off, what is accepted now leaves at once, and what waited is held back`, async () => {
    using folder = new ScratchFolder()
    await using first = await startAfter(folder, null, 0)
    await first.device.goOffline()
    const old = await first.relay.send({ to: '+12025550700', text: 'old' }, ASYNC)
    await first.relay.clock.advance(11 * MINUTE)

    await using second = await startAfter(folder, first.relay, days * DAY)
    const fresh = await second.relay.send({ to: '+12025550701', text: 'fresh' })

    expect(fresh.body.status).toBe('sent')
    expect(second.texts()).toEqual(['fresh'])
    expect(await second.relay.message(old.body.id)).toMatchObject({
      status: 'queued',
      queued_reason: 'clock_jumped',
    })
  })
}

test('what was held back by a wrong clock leaves at the next start with a right one', async () => {
  using folder = new ScratchFolder()
  await using first = await startAfter(folder, null, 0)
  await first.device.goOffline()
  const waiting = await first.relay.send({ to: '+12025550700', text: 'waiting' }, ASYNC)
  await first.relay.clock.advance(11 * MINUTE)
  first.relay.db.sqlite.run(
    "UPDATE messages SET queued_reason = 'clock_jumped', due_at = due_at + 3600000 WHERE status = 'queued'",
  )

  await using second = await startAfter(folder, first.relay, MINUTE)

  expect(second.texts()).toEqual(['waiting'])
  expect((await second.relay.message(waiting.body.id)).status).toBe('sent')
})
