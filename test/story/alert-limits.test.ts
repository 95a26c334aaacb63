// Many causes at once, and lines that flap: few texts, which leave nothing out and say nothing twice.

import { expect, test } from 'bun:test'

import { SCALE, SEED } from '../support/scale.ts'
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
}, 60_000)

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

for (const seed of Array.from({ length: SCALE }, (_, place) => place + SEED)) {
  test(`a night of three flapping lines, drawn by chance (${seed}), is told without a gap and without a repeat`, async () => {
    const random = seededRandom(seed)
    await using at = await startAlerts({ lines: ['online', 'online', 'online', 'online'] })
    await at.phone()
    await at.ntfy()
    const state = [1, 2, 3].map(() => ({ isOn: true, nextMs: 0, since: 0, long: 0, maybe: 0 }))
    const nightMs = 4 * HOUR
    for (let now = 0; now < nightMs; now += MINUTE / 2) {
      for (const [place, line] of state.entries()) {
        if (now < line.nextMs) continue
        const device = at.devices[place + 1]
        if (line.isOn) await device?.goOffline()
        else await device?.goOnline()
        const offMs = now - line.since
        if (!line.isOn && offMs >= OFF_MS + SLACK_MS) line.long += 1
        else if (!line.isOn && offMs > OFF_MS - SLACK_MS) line.maybe += 1
        Object.assign(line, { isOn: !line.isOn, since: now })
        line.nextMs = now + MINUTE / 2 + Math.floor(random.chance() * 24) * (MINUTE / 2)
      }
      await at.passes(MINUTE / 2)
    }
    for (const [place, line] of state.entries()) {
      if (!line.isOn) await at.devices[place + 1]?.goOnline()
    }
    await at.passes(2 * HOUR)
    const raised = at.db.sqlite
      .query<{ line: string; count: number }, []>(
        'SELECT l.phone_number AS line, count(*) AS count FROM alerts a JOIN lines l ON l.id = a.line_id WHERE a.raised_at IS NOT NULL GROUP BY l.id ORDER BY l.seq',
      )
      .all()
    const channels = Map.groupBy(noticesOf(at), ({ channelId }) => channelId)

    expect(channels.size).toBe(2)
    for (const notices of channels.values()) expect(faultsOf(at, notices)).toEqual([])
    for (const [place, { count }] of raised.entries()) {
      const line = state[place]
      expect(count).toBeGreaterThanOrEqual(line?.long ?? 0)
      expect(count).toBeLessThanOrEqual((line?.long ?? 0) + (line?.maybe ?? 0) + 1)
    }
    expect(at.texts()).toHaveLength([...channels.values()][0]?.length ?? 0)
    expect(at.posts()).toHaveLength([...channels.values()][1]?.length ?? 0)
  }, 120_000)
}
