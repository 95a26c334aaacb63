// What a start makes of the wall clock: time off, a clock that is wrong at first, and jumps that came
// before the start. The relay's own memory is its database.

import { expect, test } from 'bun:test'

import { copyDatabase } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const TO = '+15550001234'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ASYNC = { Prefer: 'respond-async' }

/** A machine whose relay is ended and started; its clock goes on only while the relay runs. */
class Box implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly #folder = new ScratchFolder()
  #lives = 0
  #relay: ScriptedRelay | null = null

  get relay(): ScriptedRelay {
    if (this.#relay === null) throw new Error('It is off.')
    return this.#relay
  }

  /** Starts it, after the life before was killed. */
  async start(state: 'online' | 'offline'): Promise<void> {
    const before = this.#relay
    if (before !== null) copyDatabase(this.#folder, this.#file(), this.#file(this.#lives + 1))
    this.#lives += 1
    const clock = new TestClock(this.clock.now())
    const path = this.#folder.file(this.#file())
    this.#relay = await startScripted({ lines: [state], path, clock, key: before?.key })
    Object.assign(this, { clock })
    await clock.advance(1_000)
  }

  #file(life = this.#lives): string {
    return `life-${life}.db`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

/** A box that ran for a while with a message in its queue, and is killed. */
async function runWithQueue(box: Box) {
  await box.start('offline')
  const { body } = await box.relay.send({ to: TO, text: 'queued' }, ASYNC)
  await box.clock.advance(11 * MINUTE)
  const state = async () => {
    const { status, queued_reason } = await box.relay.message(body.id)
    return [status, queued_reason]
  }
  return { id: body.id as string, state }
}

async function clockFinding({ relay }: Box) {
  const [finding = null] = await relay.findings('clock_jumped')
  return finding
}

test('a queue that waited while the box was off for two days is not sent, and expires after an hour', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)

  box.clock.step(2 * DAY)
  await box.start('online')
  await box.clock.advance(MINUTE)
  const held = await state()
  const finding = await clockFinding(box)
  const fresh = (await box.relay.send({ to: '+15550001299', text: 'new' })).body
  await box.clock.advance(HOUR)

  expect(held).toEqual(['queued', 'clock_jumped'])
  expect(finding).toMatchObject({
    severity: 'info',
    title: "According to this machine's clock, Hookline was off for 2 days",
  })
  expect([fresh.status, Date.parse(fresh.created_at)]).toEqual(['sent', box.clock.now() - HOUR])
  expect(await state()).toEqual(['expired', null])
  expect(await clockFinding(box)).toBeNull()
})

test('a box that starts a week ahead and is set right sends what waited', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)

  box.clock.step(7 * DAY + 5 * MINUTE)
  await box.start('online')
  await box.clock.advance(MINUTE)
  const held = await state()
  box.clock.step(-7 * DAY)
  await box.clock.advance(2 * MINUTE)
  const ahead = await clockFinding(box)
  const sent = await state()
  await box.clock.advance(HOUR)

  expect(held).toEqual(['queued', 'clock_jumped'])
  expect(sent).toEqual(['sent', null])
  expect(ahead.title).toBe('The latest records are dated 7 days in the future')
  expect(await clockFinding(box)).toBeNull()
})

test('a box that starts years ahead dates nothing in the future', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)

  box.clock.step(10 * 365 * DAY)
  await box.start('online')
  await box.clock.advance(MINUTE)
  const { created_at } = (await box.relay.send({ to: '+15550001299', text: 'new' })).body
  const held = await state()
  box.clock.step(-10 * 365 * DAY)
  await box.clock.advance(MINUTE)

  expect(Date.parse(created_at)).toBeLessThan(TEST_START + HOUR)
  expect([held, await state()]).toEqual([
    ['queued', 'clock_jumped'],
    ['sent', null],
  ])
})

test('a box that starts in the past goes by what it remembers until its clock is set', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)
  const remembered = box.clock.now()

  box.clock.step(-300 * DAY)
  await box.start('offline')
  await box.clock.advance(MINUTE)
  const early = (await box.relay.send({ to: '+15550001299', text: 'new' })).body.created_at
  const behind = await clockFinding(box)
  box.clock.step(300 * DAY + 25 * HOUR)
  await box.clock.advance(MINUTE)
  await box.relay.device.goOnline()
  await box.clock.advance(MINUTE)
  const held = await state()
  await box.clock.advance(HOUR)

  expect(Date.parse(early) - remembered).toBeWithin(0, 12 * MINUTE)
  expect(behind.title).toBe("This machine's clock is 300 days behind")
  expect(held).toEqual(['queued', 'clock_jumped'])
  expect(await state()).toEqual(['expired', null])
})

test('a restart of some minutes is nothing to speak of', async () => {
  await using box = new Box()
  await runWithQueue(box)

  box.clock.step(30 * MINUTE)
  await box.start('online')
  const { created_at } = (await box.relay.send({ to: '+15550001299', text: 'new' })).body

  expect(await clockFinding(box)).toBeNull()
  expect(Date.parse(created_at)).toBe(box.clock.now())
})

test('a jump that the relay saw is none the truer after a restart', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)
  box.clock.step(8 * DAY)
  await box.clock.advance(MINUTE)

  await box.start('offline')
  await box.clock.advance(2 * HOUR)
  const believed = await state()
  await box.relay.device.goOnline()
  await box.clock.advance(MINUTE)

  expect(believed).toEqual(['queued', 'line_offline'])
  expect(await state()).toEqual(['sent', null])
})

test('a new time that was believed is believed after a restart, and its jump still counts nothing', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)
  box.clock.step(8 * DAY)
  await box.clock.advance(61 * MINUTE)

  await box.start('online')
  await box.clock.advance(MINUTE)

  expect(await state()).toEqual(['sent', null])
  expect(await clockFinding(box)).toBeNull()
})

test('several short lives make a steady hour', async () => {
  await using box = new Box()
  const { state } = await runWithQueue(box)
  box.clock.step(2 * DAY)

  for (let lives = 0; lives < 3; lives += 1) {
    await box.start('online')
    await box.clock.advance(25 * MINUTE)
  }

  expect(await state()).toEqual(['expired', null])
})
