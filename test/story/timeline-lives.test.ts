// The timeline against a ledger: in random lives of two lines, a webhook and some people, everything that happens is
// noted apart from it. Whatever happens later and whatever is deleted, the pages have each noted thing once, and no
// other, and every sentence says what the ledger says. Restores are in `timeline-restore.test.ts`.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { Tx } from '../../src/storage/database.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { deleteCounted } from '../../src/storage/timeline.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { asOwner } from '../support/control-socket.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { STEP, take } from './line-lives.ts'
import { AFTER_ALL, iso, isSent, LAST_RUN, lasting, log, WHY, WORDS } from './timeline-ledger.ts'

const HOUR = 3_600_000
/** Longer than the time in which a line that flaps gets one entry. */
const SETTLED_MS = 11_000
const LABELS = ['Front desk', 'Back office'] as const
const ALL = 'since=2026-11-20T00:00:00Z'

const does = <const What extends string>(what: What) => fc.record({ do: fc.constant(what) })
const NOTED = fc.oneof(
  { weight: 14, arbitrary: STEP },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('hook' as const), works: fc.boolean() }) },
  { weight: 2, arbitrary: does('set') },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('word' as const),
      text: fc.constantFrom('STOP' as const, 'START' as const),
      from: fc.nat({ max: 2 }),
    }),
  },
  { weight: 1, arbitrary: does('purge') },
  { weight: 1, arbitrary: does('surplus') },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('restart' as const), crashes: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('page' as const),
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
)
type Noted = typeof NOTED extends fc.Arbitrary<infer T> ? T : never
type Of<What extends string> = Extract<Noted, { readonly do: What }>

const LIFE = fc.record({
  zone: fc.constantFrom('UTC', 'Asia/Kolkata', 'America/St_Johns'),
  steps: fc.array(NOTED, { minLength: 8, maxLength: 30 }),
})

test(
  'pages of the timeline have each thing that happened once, in true sentences, whatever is deleted',
  async () => {
    const lives = fc.asyncProperty(LIFE, async ({ zone, steps }) => {
      const life = await Life.begin(zone)
      for (const step of steps) await life.take(step)
      await life.end()
    })
    await fc.assert(lives, { numRuns: 12 * SCALE, seed: 20_261_127 + SEED })
  },
  400_000 * SCALE,
)

type Relay = Awaited<ReturnType<typeof startDashboard>>
type Off = { readonly line: 0 | 1; readonly at: number; end: number | null }
type Reading = {
  readonly wanted: readonly string[]
  readonly got: string[]
  readonly limit: number
  cursor: string
}

class Life {
  readonly driver = new ScriptedDriver()
  readonly devices = [this.driver.add('+12025550801'), this.driver.add('+12025550802')] as const
  readonly clock = new TestClock(TEST_START)
  readonly sink = new WebhookSink(this.clock)
  readonly offs: Off[] = []
  readonly starts: { readonly at: number; readonly withinMs: number; readonly text: string }[] = []
  readonly words: string[] = []
  readonly optedOut = new Set<string>()
  readonly deleted = new Map<number, number>()
  relay: Relay
  world: Parameters<typeof take>[0]
  zone = 'UTC'
  count = 0
  reading: Reading | null = null

  private constructor(relay: Relay) {
    this.relay = relay
    this.world = { relay, devices: this.devices, guids: [], count: 0 }
  }

  static async begin(zone: string): Promise<Life> {
    const life = new Life(null as never)
    await life.#start({})
    life.zone = zone
    const { relay } = life
    for (const [n, { id }] of (await relay.lines()).entries()) {
      await relay.patch(`/api/v1/phone-lines/${id}`, { label: LABELS[n] })
    }
    const hook = { url: 'https://shop.example/', description: 'Shop', events: ['message.received'] }
    await relay.post('/api/v1/webhooks', hook)
    await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: zone } })
    log(relay)
    life.#started(TEST_START, 'Hookline started.')
    await life.clock.advance(SETTLED_MS)
    return life
  }

  #started(at: number, text: string, withinMs = 0): void {
    this.starts.push({ at, withinMs, text })
  }

  async #start(more: object): Promise<void> {
    const { driver, clock, sink } = this
    this.relay = await startDashboard({ drivers: [driver], clock, post: sink.post, ...more })
    this.world = { ...this.world, relay: this.relay, devices: this.devices }
  }

  async take(step: Noted): Promise<void> {
    await this.#act(step)
    await this.clock.advance(0)
    await this.#readOn()
  }

  async #act(step: Noted): Promise<void> {
    const deeds: Readonly<Record<string, (step: never) => Promise<void> | void>> = {
      hook: ({ works }: Of<'hook'>) => void (this.sink.answer = () => (works ? 200 : 503)),
      set: () => this.#set(),
      word: (each: Of<'word'>) => this.#word(each),
      purge: () => this.#purge(),
      surplus: () => this.#forgetTwo(),
      restart: ({ crashes }: Of<'restart'>) => this.#restart(crashes),
      page: ({ limit }: Of<'page'>) => this.#beginReading(limit),
      sleep: (each: Of<'sleep'>) => this.#sleep(each),
      online: (each: Of<'online' | 'offline'>) => this.#go(each),
      offline: (each: Of<'online' | 'offline'>) => this.#go(each),
    }
    const own = deeds[step.do]
    if (own === undefined) await take(this.world, step as Parameters<typeof take>[1])
    else await own(step as never) // By its own name.
  }

  async #set(): Promise<void> {
    this.count += 1
    const value = String(100 + this.count)
    await asOwner(this.relay, 'PUT', '/settings/message_retention_days', { body: { value } })
  }

  #purge(): void {
    const end = timestamp(this.clock.now() + 1)
    deleteOldMessages({ ...this.relay.db, changes: null } as Tx, end, 1_000)
  }

  async #sleep(step: Of<'sleep'>): Promise<void> {
    const before = this.clock.now()
    await take(this.world, step)
    // The relay looks at its clock once a minute.
    await this.clock.advance(61_000)
    const text = `Hookline started, about ${step.hours} hours after it was interrupted: ${WHY}.`
    this.#started(before + step.hours * HOUR, text, 60_000)
  }

  async #go(step: Of<'online' | 'offline'>): Promise<void> {
    const device = this.devices[step.line]
    const was = device.isOnline
    await take(this.world, step)
    if (was === device.isOnline) return
    if (was) this.offs.push({ line: step.line, at: this.clock.now(), end: null })
    for (const off of was ? [] : this.#open(step.line)) off.end = this.clock.now()
    await this.clock.advance(SETTLED_MS)
  }

  #open(line: 0 | 1): readonly Off[] {
    return this.offs.filter((off) => off.line === line && off.end === null)
  }

  async #word({ text, from }: Of<'word'>): Promise<void> {
    this.count += 1
    const handle = `+1202555071${from}`
    await this.devices[0].receive({
      guid: guidOf(90_000 + this.count),
      handle: deviceHandle(handle),
      text,
    })
    const isOut = text === 'STOP'
    if (this.optedOut.has(handle) === isOut) return
    if (isOut) this.optedOut.add(handle)
    else this.optedOut.delete(handle)
    const what = isOut ? 'opted out' : 'opted in again'
    this.words.push(`+1 202 555 071${from} ${what}, by the word ${text}.`)
  }

  /** The oldest two entries of the audit trail are beyond its limit. */
  async #forgetTwo(): Promise<void> {
    await this.#readOn(true)
    const { db } = this.relay
    const oldest = db.rows<{ seq: number; at: number }>(
      'SELECT seq, at FROM audit ORDER BY seq LIMIT 2',
    )
    for (const { at } of oldest) {
      const hour = Math.floor(at / HOUR) * HOUR
      this.deleted.set(hour, (this.deleted.get(hour) ?? 0) + 1)
    }
    const isSurplus = `seq <= ${oldest.at(-1)?.seq ?? 0}`
    deleteCounted({ ...db, changes: null } as Tx, { table: 'audit', isSurplus, as: 'changes' }, 10)
  }

  /** Lines that are off when the relay stops go on being off after it: they end with a restart here. */
  async #restart(crashes: boolean): Promise<void> {
    const { relay, clock } = this
    for (const line of [0, 1] as const) {
      if (!this.devices[line].isOnline) await this.#act({ do: 'online', line })
    }
    await clock.advance(SETTLED_MS)
    const stoppedAt = clock.now()
    await relay[Symbol.asyncDispose]()
    if (crashes) relay.db.sqlite.run(`UPDATE relay_runs SET stopped_at = NULL WHERE ${LAST_RUN}`)
    await clock.advance(20 * 60_000)
    const startedAt = clock.now()
    await this.#start({ database: relay.database, key: relay.key })
    const gap = lasting(startedAt - stoppedAt)
    const end = crashes
      ? `about ${gap} after it was interrupted: ${WHY}`
      : `${gap} after it was stopped`
    this.#started(startedAt, `Hookline started, ${end}.`)
    await clock.advance(SETTLED_MS)
  }

  async #beginReading(limit: number): Promise<void> {
    if (this.reading !== null) return
    const wanted = (await this.#all()).map(({ id }) => String(id))
    const first = await this.relay.get(`/api/v1/timeline?${ALL}&limit=${limit}`)
    const got = first.data.map(({ id }: Json) => String(id))
    if (first.has_more) this.reading = { wanted, got, limit, cursor: first.next_cursor }
    else expect(got).toEqual(wanted)
  }

  /** Reads the next page of a list that was begun, or all that are left. */
  async #readOn(isToTheEnd = false): Promise<void> {
    while (this.reading !== null) {
      const { wanted, got, limit, cursor } = this.reading
      const page = await this.relay.get(`/api/v1/timeline?limit=${limit}&cursor=${cursor}`)
      got.push(...page.data.map(({ id }: Json) => String(id)))
      this.reading.cursor = page.next_cursor
      if (!page.has_more) {
        expect(new Set(got).size).toBe(got.length)
        expect(got.filter((id) => wanted.includes(id))).toEqual(wanted as string[])
        this.reading = null
      }
      if (!isToTheEnd) return
    }
  }

  async #all(): Promise<readonly Json[]> {
    const { data, has_more } = await this.relay.get(`/api/v1/timeline?${ALL}&limit=200`)
    expect(has_more).toBe(false)
    return data
  }

  async end(): Promise<void> {
    await using _ = this.relay
    await this.#readOn(true)
    const entries = await this.#all()
    const of = (...kinds: readonly string[]) =>
      entries.filter(({ kind }: Json) => kinds.includes(kind)).toReversed()
    const line = ({ kind, at, text }: Json) => `${kind} ${at} ${text}`

    const started = of('relay.started')
    // The relay notes once a minute that it runs, so an interruption may seem to be a minute longer.
    const noted = started.map(({ text }: Json) =>
      text.replace(' 1 minute after it was', ' after it was'),
    )
    expect(noted).toEqual(this.starts.map(({ text }) => text))
    for (const [n, { at, withinMs }] of this.starts.entries()) {
      expect(Date.parse(started[n].at) - at).toBeGreaterThanOrEqual(0)
      expect(Date.parse(started[n].at) - at).toBeLessThanOrEqual(withinMs)
    }
    expect(of('line.off').map(line)).toEqual([...this.#offLines()])
    expect(of('messages.unsent').map(line)).toEqual([...this.#unsent()])
    expect(of('opt_out', 'opt_in').map(({ text }: Json) => text)).toEqual(this.words)
    expect(of('entries.deleted').map(line)).toEqual([...this.#deletedLines()])
    await this.#expectChanges(of('change'))
    this.#expectHook(of('webhook.failing', 'webhook.working', 'webhook.turned_off'))
    const times = entries.map(({ at }: Json) => String(at))
    expect(times).toEqual(times.toSorted().toReversed())
  }

  #offLines(): readonly string[] {
    const sorted = this.offs.toSorted((a, b) => a.at - b.at || a.line - b.line)
    return sorted.map(({ line, at, end }) => {
      const how = end === null ? 'went off and is still off' : `was off for ${lasting(end - at)}`
      return `line.off ${iso(at)} ${LABELS[line]} ${how}: unplugged.`
    })
  }

  /** Steps of messages, counted one by one. */
  #unsent(): readonly string[] {
    const steps = this.relay.db.rows<{ was: string; is: string; at: number; line: number }>(
      'SELECT was, "is", at, line FROM temp.steps',
    )
    const counts = new Map<string, Map<string, number>>()
    for (const { was, is, at, line } of steps) {
      const what = WORDS[is] ?? (isSent(is) && /failed|uncertain/.test(was) ? AFTER_ALL : null)
      if (was === is || what === null) continue
      const place = `${Math.floor(at / HOUR) * HOUR} ${line}`
      const here = counts.get(place) ?? new Map<string, number>()
      counts.set(place, here.set(what, (here.get(what) ?? 0) + 1))
    }
    const lines = [...counts].map(([place, facts]) => {
      const [hour = 0, seq = 0] = place.split(' ').map(Number)
      const all = [...Object.values(WORDS), AFTER_ALL]
      const said = all.flatMap((what) => (facts.has(what) ? [`${facts.get(what)} ${what}`] : []))
      const last = said.pop() ?? ''
      const words = said.length === 0 ? last : `${said.join(', ')} and ${last}`
      const text = `${this.#between(hour)}, messages of ${LABELS[seq - 1]}: ${words}.`
      return { hour, seq, line: `messages.unsent ${iso(hour)} ${text}` }
    })
    return lines.sort((a, b) => a.hour - b.hour || a.seq - b.seq).map((each) => each.line)
  }

  #deletedLines(): readonly string[] {
    return [...this.deleted]
      .sort(([a], [b]) => a - b)
      .map(([hour, n]) => {
        const count = n === 1 ? '1 older entry' : `${n} older entries`
        return `entries.deleted ${iso(hour)} ${this.#between(hour)}: ${count}, not listed anymore.`
      })
  }

  #between(hour: number): string {
    const format = { timeZone: this.zone, hour: '2-digit', minute: '2-digit' } as const
    const time = (at: number) => new Intl.DateTimeFormat('sv', format).format(at)
    return `Between ${time(hour)} and ${time(hour + HOUR)}`
  }

  async #expectChanges(entries: readonly Json[]): Promise<void> {
    const { data } = await this.relay.get('/api/v1/audit?limit=200')
    const listed = data.toReversed().map(({ at, action }: Json) => `${at} ${action}`)
    expect(entries.map(({ at, action }: Json) => `${at} ${action}`)).toEqual(listed)
  }

  #expectHook(entries: readonly Json[]): void {
    type Change = { was: number; is: number; since: number; waiting: number }
    const changes = this.relay.db.rows<Change>('SELECT * FROM temp.breakers')
    const crossed = changes.filter(({ was, is }) => was >= 5 !== is >= 5)
    expect(entries.map(({ text }: Json) => text)).toEqual(
      crossed.map(({ is, since, waiting }, place) => {
        if (is >= 5) return 'Webhook Shop began to fail.'
        const after = lasting(Date.parse(entries[place]?.at ?? '') - since)
        const count = waiting === 1 ? '1 delivery' : `${waiting} deliveries`
        return `Webhook Shop works again after ${after}; ${count} waited.`
      }),
    )
  }
}
