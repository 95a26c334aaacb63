// Kills the executable during alerts. Webhooks that their receiver wants no more are the causes; while the relay is
// dead, stored times are moved into the past, so that no rule, no gathering and no limit waits. Afterwards three
// ledgers are compared by ids: texts that the simulated network carried, events and POSTs that receivers got.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { systemRandom } from '../../../src/system/random.ts'
import { eventually } from '../../support/eventually.ts'
import { Receiver } from '../../support/receiver.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
} from '../../support/relay-process.ts'
import { carriedIn } from '../ledgers.ts'
import { ENVIRONMENT, prepare } from './load.ts'

const PHONE = '+12025550147'
const LIFE_MS_MIN = 50
const LIFE_MS_MAX = 2_200
/** A start takes so long for granted that a cause that is not seen is over. */
const SETTLED_MS_MAX = 150_000
const CAUSES_MIN = 30

type Post = { readonly id: string; readonly body: string }

export type AlertFigures = {
  readonly kills: number
  readonly alerts: number
  readonly texts: number
  readonly posts: number
  readonly events: number
  readonly exitCode: number
  readonly faults: Readonly<Record<string, readonly unknown[]>>
}

export async function runAlertKills(kills: number): Promise<AlertFigures> {
  using dir = temporaryDataDir()
  const posts: Post[] = []
  using ntfy = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const id = request.headers.get('idempotency-key') ?? ''
      posts.push({ id, body: await request.text() })
      return new Response(null, { status: systemRandom.chance() < 0.2 ? 503 : 200 })
    },
  })
  using hook = new Receiver()
  const key = await createKey(dir.path)
  const start = (port: number) =>
    RelayProcess.start({ dataDir: dir.path, port, environment: ENVIRONMENT })
  let relay = await start(0)
  const { port } = relay
  const api = new ApiClient(() => relay.url, key)
  await prepare(api, [])
  const events = ['alert.raised', 'alert.resolved']
  const made = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', {
    url: hook.url,
    events,
  })
  hook.secret = made.secret
  const causes = await addCauses(api, Math.max(CAUSES_MIN, kills))
  await addChannels(dir.path, [PHONE, `http://127.0.0.1:${ntfy.port}/my-topic`])
  await relay.end('SIGKILL')
  const stage = new Stage(dir.path, causes)
  for (let done = 0; done < kills; done += 1) {
    stage.turn()
    relay = await start(port)
    const lifeMs = LIFE_MS_MIN + (LIFE_MS_MAX - LIFE_MS_MIN) * systemRandom.chance()
    const mending = stage.mend(api)
    await Bun.sleep(lifeMs)
    await relay.end('SIGKILL')
    await mending
  }
  relay = await settle(stage, api, { relay, start: () => start(port) })
  const exitCode = await relay.end('SIGTERM')
  return { kills, exitCode, ...stage.compare(posts, hook.received) }
}

async function addCauses(api: ApiClient, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const body = { url: `http://127.0.0.1:9/cause-${number}`, events: ['group.updated'] }
    ids.push((await api.ask<{ id: string }>('POST', '/api/v1/webhooks', body)).id)
  }
  return ids
}

/** The owner alone adds channels, on the control socket. */
async function addChannels(dataDir: string, targets: readonly string[]): Promise<void> {
  for (const target of targets) {
    const body = target.startsWith('+') ? { to: target } : { url: target }
    const answer = await fetch('http://localhost/api/v1/alerts/channels', {
      unix: join(dataDir, 'control.sock'),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (answer.status !== 201) throw new Error(`A channel was refused: ${await answer.text()}`)
  }
}

/** Lets everything end: the last causes are mended, and no notice is open any more. */
async function settle(
  stage: Stage,
  api: ApiClient,
  life: { relay: RelayProcess; readonly start: () => Promise<RelayProcess> },
): Promise<RelayProcess> {
  let { relay } = life
  // A first long life: what was begun is raised, and what was mended unseen is over.
  for (const isLast of [false, true]) {
    stage.age()
    relay = await life.start()
    await stage.mendAll(api)
    await eventually('no cause lasts', () => (stage.isQuiet() ? true : null), SETTLED_MS_MAX)
    await relay.end('SIGTERM')
    if (isLast) break
  }
  stage.age()
  relay = await life.start()
  await eventually('no notice is open', () => (stage.isSilent() ? true : null), SETTLED_MS_MAX)
  await eventually('every event has arrived', () => (stage.isDelivered() ? true : null), 60_000)
  return relay
}

type AlertRow = { readonly id: string; readonly about: string; readonly resolvedAt: number | null }
type NoticeRow = {
  readonly id: string
  readonly channelId: string
  readonly status: string
  readonly messageId: string | null
  readonly raised: string
  readonly resolved: string
}

class Stage {
  readonly #dataDir: string
  readonly #causes: readonly string[]
  /** How often each cause was made. */
  readonly #made = new Map<string, number>()

  constructor(dataDir: string, causes: readonly string[]) {
    this.#dataDir = dataDir
    this.#causes = causes
  }

  /** While no relay runs: makes a few causes, and moves stored times into the past. */
  turn(): void {
    using db = this.#open()
    const free = this.#causes.filter((id) => !this.#made.has(id))
    for (const id of free.slice(0, 1 + Math.floor(systemRandom.chance() * 2))) {
      this.#made.set(id, 1)
      db.query("UPDATE webhooks SET is_active = 0, disabled_reason = 'gone' WHERE id = $id").run({
        id,
      })
    }
    db.close()
    this.age()
  }

  age(): void {
    using db = this.#open()
    db.run('UPDATE alerts SET since = since - 3600000 WHERE raised_at IS NULL')
    db.run("UPDATE alert_notices SET created_at = created_at - 60000 WHERE status = 'waiting'")
    // Each once: a notice of two days ago would be given up.
    db.query(
      'UPDATE alert_notices SET handed_over_at = handed_over_at - 7200000 WHERE handed_over_at > $at',
    ).run({ at: Date.now() - 7_200_000 })
    db.run("UPDATE alert_notices SET tried_at = tried_at - 7200000 WHERE status = 'handed_over'")
  }

  /** Mends some of the causes of which there is an alert, while a relay runs. */
  async mend(api: ApiClient): Promise<void> {
    for (const id of this.#raised().slice(0, 2)) {
      await api
        .request('PUT', `/api/v1/webhooks/${id}`, { body: { is_active: true } })
        .catch(() => null)
    }
  }

  async mendAll(api: ApiClient): Promise<void> {
    for (const id of this.#made.keys()) {
      await api.ask('PUT', `/api/v1/webhooks/${id}`, { is_active: true })
    }
  }

  isQuiet(): boolean {
    using db = this.#open()
    const sql = 'SELECT 1 FROM alerts WHERE resolved_at IS NULL AND raised_at IS NOT NULL LIMIT 1'
    return db.query(sql).get() === null
  }

  isSilent(): boolean {
    using db = this.#open()
    const open = "SELECT 1 FROM alert_notices WHERE status IN ('waiting', 'handed_over') LIMIT 1"
    return this.isQuiet() && db.query(open).get() === null
  }

  isDelivered(): boolean {
    using db = this.#open()
    const sql = `SELECT 1 FROM deliveries d JOIN events e ON e.seq = d.event_seq
      WHERE e.name LIKE 'alert.%' AND d.status = 'pending' LIMIT 1`
    return db.query(sql).get() === null
  }

  #raised(): readonly string[] {
    using db = this.#open()
    const sql =
      'SELECT about_id AS id FROM alerts WHERE raised_at IS NOT NULL AND resolved_at IS NULL'
    return db
      .query<{ id: string }, []>(sql)
      .all()
      .map(({ id }) => id)
  }

  #open(): Database {
    return new Database(join(this.#dataDir, 'hookline.db'))
  }

  /** Everything that the ledgers do not agree on. */
  compare(
    posts: readonly Post[],
    received: readonly { readonly id: string; readonly event: string }[],
  ) {
    using db = this.#open()
    const alerts = db
      .query<AlertRow, []>(
        'SELECT id, about_id AS about, resolved_at AS resolvedAt FROM alerts WHERE raised_at IS NOT NULL',
      )
      .all()
    const notices = db
      .query<NoticeRow, []>(
        `SELECT id, channel_id AS channelId, status, message_id AS messageId, raised, resolved
         FROM alert_notices`,
      )
      .all()
    const events = db
      .query<{ id: string; name: string }, []>(
        "SELECT id, name FROM events WHERE name LIKE 'alert.%'",
      )
      .all()
    const carried = Map.groupBy(carriedIn(this.#dataDir), (id) => id)
    const byText = notices.filter(({ messageId }) => messageId !== null)
    const byPost = notices.filter(({ messageId }) => messageId === null)
    const bodies = Map.groupBy(posts, ({ id }) => id)
    const ofAlerts = byText.map(({ messageId }) => messageId ?? '')
    const alertTexts = db
      .query<{ id: string }, { to: string }>('SELECT id FROM messages WHERE handle = $to')
      .all({ to: PHONE })
    const arrived = new Set(received.map(({ id }) => id))
    return {
      alerts: alerts.length,
      texts: byText.length,
      posts: posts.length,
      events: received.length,
      faults: {
        missedCauses: [...this.#made.keys()].filter(
          (id) => !alerts.some(({ about }) => about === id),
        ),
        raisedTwice: [...Map.groupBy(alerts, ({ about }) => about)].filter(
          ([, all]) => all.length > 1,
        ),
        notResolved: alerts.filter(({ resolvedAt }) => resolvedAt === null),
        toldOtherThanOnce: [...Map.groupBy(notices, ({ channelId }) => channelId).values()].flatMap(
          (own) => [...timesOther(alerts, own, 'raised'), ...timesOther(alerts, own, 'resolved')],
        ),
        notDone: notices.filter(({ status }) => status !== 'done'),
        textsNotCarriedOnce: ofAlerts.filter((id) => carried.get(id)?.length !== 1),
        textsUnknown: alertTexts.filter(({ id }) => !ofAlerts.includes(id)),
        postsNotReceived: byPost.filter(({ id }) => !bodies.has(id)),
        postsUnknown: [...bodies.keys()].filter((id) => !byPost.some((one) => one.id === id)),
        postsUnderTwoTexts: [...bodies].filter(
          ([, all]) => new Set(all.map(({ body }) => body)).size > 1,
        ),
        eventsOtherThanTwo: events.length === 2 * alerts.length ? [] : [events.length],
        eventsNotReceived: events.filter(({ id }) => !arrived.has(id)),
        eventsUnknown: [...arrived].filter((id) => !events.some((event) => event.id === id)),
      },
    }
  }
}

/** Alerts that a channel got more or less than once. */
function timesOther(
  alerts: readonly AlertRow[],
  notices: readonly NoticeRow[],
  what: 'raised' | 'resolved',
): readonly string[] {
  const lists = notices.map((notice) => JSON.parse(notice[what]) as readonly string[]) // Of ids.
  return alerts.flatMap(({ id }) => {
    const times = lists.filter((list) => list.includes(id)).length
    return times === 1 ? [] : [`${id} ${what} ${times} times`]
  })
}
