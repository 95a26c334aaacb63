// A wall clock that is set by an hour, a day, 40 days or 400, while the relay runs or while it is off: nothing that
// has a time leaves before it, and nothing is stuck.

import { expect, test } from 'bun:test'

import { copyDatabase, startOn } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, refuses, ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import type { TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const HOOK = 'https://receiver.example/hook'
const WATCHED_MS = 3 * HOUR
const LOOK_MS = 5 * MINUTE
/** A clock is in doubt for an hour; a retry may be half an hour away. */
const LATE_MS_MAX = 1.5 * HOUR + 2 * LOOK_MS

const STEPS = {
  '-1 h': -HOUR,
  '-1 d': -DAY,
  '+25 h': 25 * HOUR,
  '+40 d': 40 * DAY,
  '+400 d': 400 * DAY,
}

/** The relay starts at 10:00. */
const QUIET = { from: '09:00', to: '10:40' }
const isQuiet = (at: number) => at % DAY >= 9 * HOUR && at % DAY < 10 * HOUR + 40 * MINUTE

const SOON_AT = TEST_START + 30 * MINUTE
const LATER_AT = TEST_START + 90 * MINUTE

/** Whether each message, and the event of one that was sent, may leave, by the wall clock. */
const MAY_LEAVE: Readonly<Record<string, (wall: number) => boolean>> = {
  soon: (wall) => wall >= SOON_AT,
  later: (wall) => wall >= LATER_AT,
  quiet: (wall) => !isQuiet(wall),
  offline: () => true,
  refused: () => true,
  event: () => true,
}

type Departure = { readonly wall: number; readonly sinceStepMs: number }

/** What a machine goes by from one start to its end: its clock and its devices. */
class Life {
  readonly driver = new ScriptedDriver()
  readonly clock: TestClock
  readonly #sink: WebhookSink
  readonly #events: string[] = []
  #isFailing = false
  readonly #devices = ['01', '02', '03', '04'].map((end) => this.driver.add(`+120255508${end}`))

  constructor(at: number) {
    this.clock = new TestClock(at)
    this.#sink = new WebhookSink(this.clock)
    this.#sink.answer = () => {
      if (this.#isFailing) return 500
      this.#events.push('event')
      return 200
    }
  }

  async start(path: string, key: TestRelay['key'] | null = null): Promise<TestRelay> {
    const { clock } = this
    const relay = await startOn(path, { clock, driver: this.driver, key, post: this.#sink.post })
    await clock.advance(1_000)
    return relay
  }

  /** A line goes offline, another one refuses, and the receiver fails; or all of them are well again. */
  async disturb(isDisturbed: boolean): Promise<void> {
    const [, , offline, refusing] = this.#devices
    await (isDisturbed ? offline?.goOffline() : offline?.goOnline())
    if (refusing !== undefined) refusing.script = isDisturbed ? refuses : accepts
    this.#isFailing = isDisturbed
  }

  left(): readonly string[] {
    return [...this.#devices.flatMap(({ sent }) => sent.map(({ text }) => text)), ...this.#events]
  }
}

async function prepare(relay: TestRelay, life: Life): Promise<readonly string[]> {
  await relay.post('/api/v1/webhooks', { url: HOOK, events: ['message.sent'] })
  await life.disturb(true)
  const [plain, quiet, offline, refusing] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${quiet.id}`, { quiet_hours: QUIET })
  await relay.send({ to: '+12025550700', text: 'first', phone_line_id: plain.id })
  const time = (at: number) => new Date(at).toISOString()
  const rows = [
    { text: 'soon', phone_line_id: plain.id, send_at: time(SOON_AT) },
    { text: 'later', phone_line_id: plain.id, send_at: time(LATER_AT) },
    { text: 'quiet', phone_line_id: quiet.id },
    { text: 'offline', phone_line_id: offline.id },
    { text: 'refused', phone_line_id: refusing.id },
  ]
  const ids: string[] = []
  for (const [index, row] of rows.entries()) {
    const order = { to: `+1202555071${index}`, ...row }
    ids.push((await relay.send(order, { Prefer: 'respond-async' })).body.id)
  }
  return ids
}

/** Looks every five minutes at what left. */
async function watch(life: Life, departures: Map<string, Departure>, since: number) {
  for (let passed = 0; passed < WATCHED_MS; passed += LOOK_MS) {
    await life.clock.advance(LOOK_MS)
    const departure = { wall: life.clock.now(), sinceStepMs: life.clock.uptime() - since }
    for (const text of life.left()) {
      if (!departures.has(text)) departures.set(text, departure)
    }
  }
}

/** What went wrong after a step, by the wall clock as it was right after it. */
async function faultsAfter(life: Life, stepMs: number): Promise<readonly string[]> {
  const [wall, since] = [life.clock.now(), life.clock.uptime()]
  const departures = new Map<string, Departure>()
  await watch(life, departures, since)
  if (stepMs < -HOUR) {
    life.clock.doze(-stepMs - WATCHED_MS)
    await watch(life, departures, since)
  }
  return Object.entries(MAY_LEAVE).flatMap(([text, mayLeave]) => {
    const departure = departures.get(text)
    if (departure === undefined) return [`${text} is stuck`]
    let first = 0
    while (!mayLeave(wall + first)) first += MINUTE
    const at = new Date(departure.wall).toISOString()
    if (!mayLeave(departure.wall)) return [`${text} left at ${at}`]
    const isLate = departure.sinceStepMs > first + LATE_MS_MAX
    return isLate ? [`${text} left at ${at} only`] : []
  })
}

for (const [name, stepMs] of Object.entries(STEPS)) {
  test(`a clock that is set by ${name} while the relay runs lets nothing leave early, and holds nothing for long`, async () => {
    using folder = new ScratchFolder()
    const life = new Life(TEST_START)
    await using relay = await life.start(folder.file('life-1.db'))
    await prepare(relay, life)
    await life.clock.advance(20_000)

    life.clock.step(stepMs)
    await life.disturb(false)

    expect(await faultsAfter(life, stepMs)).toEqual([])
  })

  test(`a clock that is set by ${name} while the relay is off lets nothing leave early, and holds nothing for long`, async () => {
    using folder = new ScratchFolder()
    const before = new Life(TEST_START)
    await using relay = await before.start(folder.file('life-1.db'))
    const ids = await prepare(relay, before)
    await before.clock.advance(20_000)
    copyDatabase(folder, 'life-1.db', 'life-2.db')

    const life = new Life(before.clock.now() + stepMs)
    await using second = await life.start(folder.file('life-2.db'), relay.key)
    await life.disturb(false)

    const faults = await faultsAfter(life, stepMs)
    const messages = await Promise.all(ids.map((id) => second.message(id)))
    // What waited for more than a day while the relay was off is too old to be sent.
    const expired = messages.flatMap(({ status, text }) => (status === 'expired' ? [text] : []))
    const tooOld = stepMs < DAY ? [] : expired
    expect(faults.filter((fault) => !tooOld.some((text) => fault === `${text} is stuck`))).toEqual(
      [],
    )
  })
}
