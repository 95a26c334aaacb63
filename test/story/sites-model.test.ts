// Lines that move between sites at random, and viewers of all kinds that are limited to sites: each sees what an oracle
// says, by every list, count, stream and webhook. `HOOKLINE_TEST_SCALE` makes it longer.

import { expect, test } from 'bun:test'

import { type Browser, startDashboard, tokenOf, PASSWORD } from '../http/dashboard-rig.ts'
import { EventReader } from '../http/event-reader.ts'
import { makeKey } from '../support/limited-keys.ts'
import { SCALE } from '../support/scale.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { makeSite, moveLine } from '../support/site-calls.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const STEPS = 25 * SCALE
const PEOPLE = ['+12025550711', '+12025550712', '+12025550713']
const EVENTS = ['message.received']

type Limit = { readonly phone_line_ids?: readonly string[]; readonly site_ids?: readonly string[] }

/** One caller, whatever its credentials. */
type Viewer = {
  readonly name: string
  readonly limit: Limit
  readonly root: string
  readonly get: (path: string) => Promise<{ readonly status: number; readonly body: Json }>
  readonly isMember: boolean
}

test(
  `${STEPS} moves and messages are seen by those who may see the line at the time, and by nobody else`,
  async () => {
    using folder = new ScratchFolder()
    const clock = new TestClock()
    const sink = new WebhookSink(clock)
    await using relay = await startDashboard({
      drivers: 'own',
      clock,
      folder: folder.path,
      post: sink.post,
      environment: { HOOKLINE_SIMULATED_LINES: '3' },
    })
    const world = await furnish(relay)
    const random = new SeededRandom(Number(process.env['HOOKLINE_KEY_SEED'] ?? 1))
    const checks = { count: 0 }

    for (let step = 0; step < STEPS; step += 1) {
      const line = random.of(world.lines)
      if (random.chance() < 0.5) {
        const site = random.of([...world.sites, null])
        await moveLine(relay, line, site)
        world.places.set(line, site)
      } else await world.receive(line, `walnut number ${step}`)
      await clock.advance(200)
      await settle()
      for (const viewer of world.viewers) checks.count += await checkViewer(world, viewer, step)
    }
    await clock.advance(60_000)

    for (const hook of world.hooks) {
      const posted = sink.to(hook.url).map(({ body }) => JSON.parse(body).message.text)
      expect([hook.url, posted]).toEqual([hook.url, hook.expected])
    }
    for (const stream of world.streams) {
      expect([stream.name, stream.texts()]).toEqual([stream.name, stream.expected])
    }
    expect(checks.count).toBeGreaterThan(STEPS * 100)
  },
  600_000 * SCALE,
)

type World = Awaited<ReturnType<typeof furnish>>

async function furnish(relay: Awaited<ReturnType<typeof startDashboard>>) {
  await relay.clock.advance(1_000)
  const lines = (await relay.lines()).map(({ id }) => String(id))
  const [first = '', second = ''] = lines
  const sites = [await makeSite(relay, 'Berlin'), await makeSite(relay, 'Hamburg')]
  const [berlin = '', hamburg = ''] = sites
  const places = new Map<string, string | null>()
  const allowed = ({ phone_line_ids: named, site_ids }: Limit) =>
    lines.filter((line) => {
      const site = places.get(line) ?? null
      const isNamed = named === undefined || named.includes(line)
      return isNamed && (site_ids === undefined || (site !== null && site_ids.includes(site)))
    })
  const limits: Readonly<Record<string, Limit>> = {
    'no limit': {},
    Berlin: { site_ids: [berlin] },
    'both sites': { site_ids: [berlin, hamburg] },
    'two lines, if they are in Hamburg': { phone_line_ids: [first, second], site_ids: [hamburg] },
  }
  const owner = await relay.claim()
  const viewers: Viewer[] = []
  const streams: Awaited<ReturnType<typeof openStream>>[] = []
  const hooks: { url: string; limit: Limit; expected: string[] }[] = []
  for (const [name, limit] of Object.entries(limits)) {
    const { headers } = await makeKey(relay, limit)
    const get = (path: string) => relay.request('GET', path, undefined, headers)
    viewers.push({ name: `key: ${name}`, limit, root: '/api/v1', get, isMember: false })
    streams.push(await openStream(relay, { name, limit, headers }))
    const url = `https://hooks.example/${streams.length}`
    await relay.post('/api/v1/webhooks', { url, events: EVENTS, ...limit })
    hooks.push({ url, limit, expected: [] })
    if (limit.phone_line_ids !== undefined) continue
    const member = await join(relay, owner, { name, ...limit })
    viewers.push({
      name: `member: ${name}`,
      limit,
      root: '/dashboard/api',
      get: member.get,
      isMember: true,
    })
  }
  for (const [place, handle] of PEOPLE.entries()) {
    await relay.put(`/api/v1/contacts/${encodeURIComponent(handle)}`, { name: `Person ${place}` })
  }
  const receive = async (line: string, text: string) => {
    const from = PEOPLE[lines.indexOf(line)]
    for (const { limit, expected } of [...hooks, ...streams]) {
      if (allowed(limit).includes(line)) expected.push(text)
    }
    await relay.post(`/api/v1/simulated/lines/${line}/events`, { type: 'message', from, text })
  }
  for (const line of lines) await receive(line, 'walnut first')
  await relay.clock.advance(200)
  return { relay, lines, sites, places, allowed, viewers, streams, hooks, receive }
}

async function join(
  relay: Awaited<ReturnType<typeof startDashboard>>,
  owner: Browser,
  asked: object,
): Promise<Browser> {
  const { body } = await owner.post('/dashboard/api/members', asked)
  const joined = relay.browser()
  await joined.post('/dashboard/setup', { token: tokenOf(body.link.url), password: PASSWORD })
  return joined
}

/** A stream of events that stays open while lines move. */
async function openStream(
  relay: Awaited<ReturnType<typeof startDashboard>>,
  given: { name: string; limit: Limit; headers: Readonly<Record<string, string>> },
) {
  const path = '/api/v1/events/stream?types=message.received'
  const reader = new EventReader(await relay.fetch(path, { headers: given.headers }))
  const texts = () => reader.take().flatMap(({ data }) => data?.message?.text ?? [])
  return { ...given, expected: [] as string[], texts }
}

const hitsIn = ({ messages }: Json): readonly Json[] => messages.map(({ message }: Json) => message)
const sorted = (values: Iterable<string>) => [...new Set(values)].toSorted()

/** Every way to see something of a line. Returns the number of checks. */
async function checkViewer(world: World, viewer: Viewer, step: number): Promise<number> {
  const { root, get, limit, name } = viewer
  const own = world.allowed(limit)
  const people = own.map((line) => PEOPLE[world.lines.indexOf(line)] ?? '')
  const linesOf = async (path: string, of: (body: Json) => readonly Json[] = ({ data }) => data) =>
    sorted(of((await get(root + path)).body).map((each) => String(each.phone_line_id ?? each.id)))
  const found: [what: string, seen: readonly string[], wanted: readonly string[]][] = [
    ['phone lines', await linesOf('/phone-lines'), own],
    ['conversations', await linesOf('/conversations?limit=200'), own],
    ['messages', await linesOf('/messages?limit=200'), own],
    ['search', await linesOf('/search?q=walnut&limit=50', hitsIn), own],
  ]
  for (const site of world.sites) {
    const ofSite = own.filter((line) => world.places.get(line) === site)
    found.push(['conversations of a site', await linesOf(`/conversations?site_id=${site}`), ofSite])
    found.push(['messages of a site', await linesOf(`/messages?site_id=${site}&limit=200`), ofSite])
    const path = `/search?q=walnut&site_id=${site}&limit=50`
    found.push(['search in a site', await linesOf(path, hitsIn), ofSite])
  }
  const contacts = (await get(`${root}/contacts`)).body.data
  const handles = contacts.map(({ handle }: Json) => String(handle))
  const isAll = limit.site_ids === undefined
  found.push(['contacts', sorted(handles), isAll ? PEOPLE : people])
  const sites = (await get(`${root}/sites`)).body.data
  const named = limit.site_ids ?? world.sites
  const withLines = named.filter((site) => own.some((line) => world.places.get(line) === site))
  const seen = limit.phone_line_ids === undefined ? named : withLines
  found.push(['sites', sorted(sites.map(({ id }: Json) => String(id))), seen])
  found.push([
    'lines of sites',
    sorted(sites.flatMap((site: Json) => site.phone_line_ids)),
    own.filter((line) => world.places.get(line) !== null && world.places.has(line)),
  ])
  found.push(...(await checkThings(world, viewer, own)))
  for (const [what, are, wanted] of found) {
    expect([step, name, what, are]).toEqual([step, name, what, sorted(wanted)])
  }
  return found.length
}

type Found = [what: string, seen: readonly string[], wanted: readonly string[]]

async function checkThings(world: World, viewer: Viewer, own: readonly string[]): Promise<Found[]> {
  const { root, get, isMember } = viewer
  const { data: all } = await world.relay.get('/api/v1/conversations?limit=200')
  const found: Found[] = []
  for (const { id, phone_line_id: line, last_message: last } of all) {
    const status = own.includes(line) ? '200' : '404'
    found.push([
      `conversation of ${line}`,
      [String((await get(`${root}/conversations/${id}`)).status)],
      [status],
    ])
    found.push([
      `message of ${line}`,
      [String((await get(`${root}/messages/${last.id}`)).status)],
      [status],
    ])
  }
  if (isMember) {
    const { body } = await get('/dashboard/unread')
    found.push(['unread', [String(body.count)], [String(own.length)]])
    return found
  }
  const { data: days } = (await get(`${root}/stats?days=2`)).body
  found.push([
    'figures',
    days.flatMap((day: Json) => day.lines.map((each: Json) => each.phone_line_id)),
    own,
  ])
  const { data: events } = (
    await get(`${root}/events?after=oldest&limit=200&types=message.received`)
  ).body
  found.push(['events', events.map(({ payload }: Json) => payload.phone_line_id), own])
  return found.map(([what, are, wanted]) => [what, sorted(are), wanted])
}
