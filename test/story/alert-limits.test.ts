// Many causes at once, and lines that flap: few texts, which leave nothing out and say nothing twice.

import { expect, test } from 'bun:test'

import type { Random } from '../../src/system/random.ts'
import { SCALE, SEED } from '../support/scale.ts'
import type { ScriptedDevice } from '../support/scripted-driver.ts'
import { seededRandom, type Json } from '../support/test-relay.ts'
import { MINUTE, startAlerts, type AlertStage } from './alerts-stage.ts'

const HOUR = 60 * MINUTE

type Notice = {
  readonly id: string
  readonly channelId: string
  readonly kind: string
  readonly status: string
  readonly title: string
  readonly raised: readonly string[]
  readonly resolved: readonly string[]
  readonly handedOverAt: number
}

function noticesOf(at: AlertStage): readonly Notice[] {
  const sql = `SELECT id, channel_id AS channelId, kind, status, title, raised, resolved,
    handed_over_at AS handedOverAt FROM alert_notices ORDER BY seq`
  return at.db.sqlite
    .query<Json, []>(sql)
    .all()
    .map((row) => ({
      ...row,
      raised: JSON.parse(row.raised),
      resolved: JSON.parse(row.resolved),
    }))
}

test('a hundred causes at once are one text, which names the first and counts the others', async () => {
  await using at = await startAlerts({
    lines: Array.from({ length: 101 }, (_, place) => (place === 0 ? 'online' : 'offline')),
  })
  await at.phone()

  await at.passes(8 * MINUTE)

  expect(at.texts().map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^Hookline: 100 problems\nThe line \S+ is offline \(for 5 minutes\); The line \S+ is offline \(for 5 minutes\); The line \S+ is offline \(for 5 minutes\); and 97 more\. As of/,
    ),
  ])
  expect(await at.alerts()).toHaveLength(50)
})

test('two lines that go off one after the other are one text', async () => {
  await using at = await startAlerts({ lines: ['online', 'online', 'online'] })
  await at.phone()
  await at.device.goOffline()
  await at.passes(18_000)
  await at.second.goOffline()

  await at.passes(6 * MINUTE)

  expect(at.texts().map(({ text }) => text.split('\n')[0])).toEqual(['Hookline: 2 problems'])
})

test('the seventh notice of an hour waits for a summary, of which there is one in an hour', async () => {
  await using at = await startAlerts()
  await at.rule('line_off', { after_minutes: 1 })
  await at.ntfy()
  for (let round = 0; round < 25; round += 1) {
    await at.device.goOffline()
    await at.passes(3 * MINUTE)
    await at.device.goOnline()
    await at.passes(3 * MINUTE)
  }
  await at.passes(2 * HOUR)
  const notices = noticesOf(at)

  expect(notices.slice(0, 7).map(({ kind }) => kind)).toEqual([
    'raised',
    'resolved',
    'raised',
    'resolved',
    'raised',
    'resolved',
    'summary',
  ])
  expect(at.posts()[6].message).toMatch(/^Summary of what came since the last alerts. The line /)
  expect(faultsOf(at, notices)).toEqual([])
}, 300_000)

/** What an oracle finds wrong with the notices of a channel that worked throughout. */
function faultsOf(at: AlertStage, notices: readonly Notice[]): readonly string[] {
  const alerts = at.db.sqlite
    .query<{ id: string; resolvedAt: number | null }, []>(
      'SELECT id, resolved_at AS resolvedAt FROM alerts WHERE raised_at IS NOT NULL',
    )
    .all()
  const times = (lists: readonly (readonly string[])[], id: string) =>
    lists.filter((list) => list.includes(id)).length
  const raised = notices.map((notice) => notice.raised)
  const resolved = notices.map((notice) => notice.resolved)
  const missed = alerts.flatMap(({ id, resolvedAt }) => [
    ...(times(raised, id) === 1 ? [] : [`${id} raised ${times(raised, id)} times`]),
    ...(times(resolved, id) === (resolvedAt === null ? 0 : 1)
      ? []
      : [`${id} resolved ${times(resolved, id)} times`]),
  ])
  const end = new Map(alerts.map(({ id, resolvedAt }) => [id, resolvedAt]))
  const untrue = notices.filter((notice) => {
    const ids = [...new Set([...notice.raised, ...notice.resolved])]
    const isOver = (id: string) => (end.get(id) ?? Infinity) <= notice.handedOverAt
    const [over, lasting] = [ids.filter(isOver).length, ids.filter((id) => !isOver(id)).length]
    const words = [
      ...(lasting > 0 ? [`${lasting} problem${lasting === 1 ? '' : 's'}`] : []),
      ...(over > 0 ? [`${over} over`] : []),
    ]
    return notice.title !== `Hookline: ${words.join(', ')}`
  })
  const crowded = notices.filter(({ handedOverAt: end }) => {
    const within = notices.filter(({ handedOverAt: each }) => each <= end && each > end - HOUR)
    return within.length > 6 || within.filter(({ kind }) => kind === 'summary').length > 1
  })
  return [
    ...missed,
    ...untrue.map(({ id, title }) => `${id} says ${title}`),
    ...crowded.map(({ id }) => `${id} is too many`),
    ...notices.filter(({ status }) => status !== 'done').map(({ id }) => `${id} is not done`),
  ]
}

/** Off for at least so long, a line is an alert; for less than that without the slack, it isn't. */
const OFF_MS = 5 * MINUTE
const SLACK_MS = 16_000
const STEP_MS = MINUTE / 2

/** A line that goes off and on by chance, and how often it was off for long enough, or about that. */
class FlappingLine {
  readonly #device: ScriptedDevice
  readonly #random: Random
  #nextMs = 0
  #since = 0
  long = 0
  maybe = 0

  constructor(device: ScriptedDevice, random: Random) {
    this.#device = device
    this.#random = random
  }

  async step(now: number): Promise<void> {
    if (now < this.#nextMs) return
    if (this.#device.isOnline) await this.#device.goOffline()
    else await this.#comeBack(now - this.#since)
    this.#since = now
    this.#nextMs = now + STEP_MS * (1 + Math.floor(this.#random.chance() * 24))
  }

  async end(now: number): Promise<void> {
    if (!this.#device.isOnline) await this.#comeBack(now - this.#since)
  }

  async #comeBack(offMs: number): Promise<void> {
    if (offMs >= OFF_MS + SLACK_MS) this.long += 1
    else if (offMs > OFF_MS - SLACK_MS) this.maybe += 1
    await this.#device.goOnline()
  }
}

for (const seed of Array.from({ length: SCALE }, (_, place) => place + SEED)) {
  test(`a night of three flapping lines, drawn by chance (${seed}), is reported without a gap and without a repeat`, async () => {
    const random = seededRandom(seed)
    await using at = await startAlerts({ lines: ['online', 'online', 'online', 'online'] })
    await at.phone()
    await at.ntfy()
    const flapping = at.devices.slice(1).map((device) => new FlappingLine(device, random))
    for (let now = 0; now < 4 * HOUR; now += STEP_MS) {
      for (const line of flapping) await line.step(now)
      await at.passes(STEP_MS)
    }
    for (const line of flapping) await line.end(4 * HOUR)
    await at.passes(2 * HOUR)
    const sql = `SELECT count(*) AS count FROM alerts a JOIN lines l ON l.id = a.line_id
      WHERE a.raised_at IS NOT NULL GROUP BY l.id ORDER BY l.seq`
    const raised = at.db.sqlite.query<{ count: number }, []>(sql).all()
    const [texts = [], posts = []] = Map.groupBy(noticesOf(at), (one) => one.channelId).values()

    expect([faultsOf(at, texts), faultsOf(at, posts)]).toEqual([[], []])
    expect(raised).toHaveLength(3)
    for (const [place, { count }] of raised.entries()) {
      const { long = 0, maybe = 0 } = flapping[place] ?? {}
      expect(count).toBeGreaterThanOrEqual(long)
      expect(count).toBeLessThanOrEqual(long + maybe)
    }
    expect([at.texts().length, at.posts().length]).toEqual([texts.length, posts.length])
  }, 120_000)
}
