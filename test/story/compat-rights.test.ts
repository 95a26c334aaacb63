// What keys may do by the compatible APIs, against the relay's own API: two relays live through the same days with the
// same keys. One is called by its own API, the other one by a compatible API, and each answer has to say the same.

import { expect, test } from 'bun:test'

import { SCOPES } from '../../src/domain/permissions.ts'
import { credentialsAs } from '../support/compat-credentials.ts'
import { HOUR_MS } from '../support/limited-keys.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEXTS_ONLY } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { TEST_START } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { ask, asOf, FORMS_OF, NUMBERS, type Call, type Said, type Side } from './compat-words.ts'

const CHECKS = 84 * SCALE
const CALLS_OF_ONE_KEY = 12
/** Two wrote to lines, one was written to, nobody knows the last. */
const [ANNA, BOB, CARL, DORA] = ['+12025550701', '+12025550702', '+12025550703', '+12025550704']
const PEOPLE = [ANNA, BOB, CARL, DORA] as const
const sentBy = async ({ shop }: Side) => shop.devices.map(({ sent }) => sent.map(({ to }) => to))

for (const api of ['sms', 'signal-cli', 'twilio', 'bluebubbles', 'sendblue'] as const) {
  test(
    `${CHECKS} calls by ${api} may do what the same calls of the relay's own API may`,
    async () => {
      const random = new SeededRandom(SEED)
      using ownFolder = new ScratchFolder()
      using otherFolder = new ScratchFolder()
      await using own = await open(ownFolder.path)
      await using other = await open(otherFolder.path)
      const sides = [sideOf(own), sideOf(other)] as const
      const askOther = ask[api]
      const both = <T>(deed: (side: Side, isOwn: boolean) => Promise<T>): Promise<[T, T]> =>
        Promise.all([deed(sides[0], true), deed(sides[1], false)])
      await both(furnish)
      // Without any key, the API would answer 404.
      await both(({ shop }, isOwn) => shop.post('/api/v1/keys', isOwn ? {} : { for: api }))
      const count = { checks: 0, refused: 0, waiting: 0 }

      while (count.checks < CHECKS) {
        const limits = count.checks === 0 ? WAITING : await limitsIn(random, sides)
        const made = await both((side, isOwn) =>
          makeKey(side, isOwn ? null : api, limits[isOwn ? 0 : 1]),
        )
        expect(made[0]).toBe(made[1])
        if (made[0] !== 201) continue
        for (let calls = 0; calls < CALLS_OF_ONE_KEY; calls += 1) {
          await change(random, both)
          const call = callIn(random, api, sides[0])
          const form = random.of(FORMS_OF[api])
          const [wanted, said] = await both((side, isOwn) =>
            isOwn ? askOwn(side, call) : askOther(side, call, credentialsAs(form, side.key)),
          )
          const asked = { call, limits: limits[0] }
          const all = await asOf[api](wanted, sides[0], call)
          count.checks += 1
          count.refused += wanted.status >= 400 ? 1 : 0
          count.waiting += wanted.state === 'queued' ? 1 : 0
          expect({ ...asked, ...said }).toEqual({ ...asked, ...all })
        }
        await both((side) => side.shop.request('DELETE', `/api/v1/keys/${side.key.id}`))
        expect(await sentBy(sides[1])).toEqual(await sentBy(sides[0]))
      }

      // The calls met every kind of answer.
      expect(count.refused).toBeGreaterThan(CHECKS / 10)
      expect(count.waiting).toBeGreaterThan(0)
    },
    600_000 * SCALE,
  )
}

/** Of the first key of each run: its sends wait for a person. */
const WAITING = [{ rules: { approval: 'always' } }, { rules: { approval: 'always' } }] as const

const open = (folder: string) =>
  startScripted({
    seed: 1,
    folder,
    lines: ['online', 'online', 'online'],
    capabilities: { ...TEXTS_ONLY, attachments: true },
  })

function sideOf(shop: ScriptedRelay): Side {
  return { shop, key: null, messages: [] }
}

/** Two people who wrote, and one who was written to. */
async function furnish({ shop, messages }: Side): Promise<void> {
  await shop.limit(10_000)
  const at = TEST_START as never
  await shop.devices[0]?.receive({ guid: 'a', handle: ANNA as never, at })
  await shop.devices[1]?.receive({ guid: 'b', handle: BOB as never, at })
  const { data } = await shop.get('/api/v1/messages?type=all')
  messages.push(...data.map(({ id }: Json) => id))
  for (const line of await shop.lines()) {
    const { body } = await shop.send({ to: CARL, text: 'hello', phone_line_id: line.id })
    messages.push(body.id)
  }
}

async function makeKey(side: Side, api: string | null, limits: object): Promise<number> {
  const body = { ...limits, ...(api === null ? {} : { for: api }) }
  const answer = await side.shop.request('POST', '/api/v1/keys', body)
  side.key = answer.body
  return answer.status
}

/** Random limits, for each of the relays with its own ids. */
async function limitsIn(
  random: SeededRandom,
  sides: readonly Side[],
): Promise<readonly [object, object]> {
  const maybe = <T>(share: number, value: () => T) =>
    random.chance() < share ? value() : undefined
  const recipients = random.of(['anyone', 'known', 'replied_within_24h', 'list'] as const)
  const scopes = SCOPES.filter((scope) => NEEDED.includes(scope) && random.chance() < 0.9)
  const rules = {
    recipients,
    allow: recipients === 'anyone' ? [] : PEOPLE.filter(() => random.chance() < 0.4),
    sends_per_hour: maybe(0.3, () => 1 + random.below(4)) ?? null,
    sends_per_day: maybe(0.2, () => 1 + random.below(6)) ?? null,
    approval: random.of(['never', 'never', 'new_contacts', 'always'] as const),
    quiet_hours: maybe(0.3, () => ({ from: `${10 + random.below(4)}:00`, to: '20:15' })) ?? null,
  }
  const common = {
    scopes: scopes.length === 0 ? ['messages:read'] : scopes,
    rules: random.chance() < 0.5 ? undefined : rules,
    expires_at: maybe(0.2, () =>
      new Date((sides[0]?.shop.clock.now() ?? 0) + 3 * HOUR_MS).toISOString(),
    ),
  }
  const lines = maybe(0.5, () =>
    NUMBERS.map((_, place) => place).filter(() => random.chance() < 0.6),
  )
  const conversations = maybe(0.3, () => [0, 1, 2, 3].filter(() => random.chance() < 0.6))
  const own = await Promise.all(
    sides.map(async ({ shop }) => {
      const ids = async (path: string, places: readonly number[] | undefined) => {
        const { data } = await shop.get(path)
        const found = places?.flatMap((place) => data[place]?.id ?? []) ?? []
        return found.length === 0 ? undefined : found
      }
      return {
        ...common,
        phone_line_ids: await ids('/api/v1/phone-lines', lines),
        conversation_ids: await ids('/api/v1/conversations?type=all', conversations),
      }
    }),
  )
  return [own[0] ?? {}, own[1] ?? {}]
}

const NEEDED: readonly string[] = ['messages:send', 'messages:read', 'attachments:write']

type Both = <T>(deed: (side: Side, isOwn: boolean) => Promise<T>) => Promise<[T, T]>

/** The events between two calls, in both relays. */
async function change(random: SeededRandom, both: Both): Promise<void> {
  const minutes = random.of([0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, random.chance() < 0.1 ? 25 * 60 : 61])
  await both(({ shop }) => shop.clock.advance(minutes * 60_000))
  const [chance, place] = [random.chance(), random.chance()]
  const overlap = random.of([0, 3_600])
  await both(async (side) => {
    const { shop, key, messages } = side
    const message = messages[Math.floor(place * messages.length)]
    if (chance < 0.1) await shop.post(`/api/v1/messages/${message}/approve`, {})
    else if (chance < 0.15) await shop.post(`/api/v1/messages/${message}/deny`, {})
    else if (chance < 0.2) await shop.request('DELETE', `/api/v1/messages/${message}`)
    else if (chance < 0.22) await shop.request('DELETE', `/api/v1/keys/${key.id}`)
    else if (chance < 0.25) await shop.post(`/api/v1/keys/${key.id}/rotate`, { overlap })
    else if (chance < 0.3) {
      const rotated = await shop.post(`/api/v1/keys/${key.id}/rotate`, { overlap })
      if (rotated.status < 300) side.key = rotated.body
    }
  })
}

function callIn(random: SeededRandom, api: string, { messages }: Side): Call {
  if (api !== 'signal-cli' && random.chance() < 0.4)
    return { does: 'look', at: random.below(messages.length) }
  const hasNoLine = api === 'sms' || api === 'bluebubbles'
  const from = hasNoLine || random.chance() < 0.5 ? null : random.below(NUMBERS.length)
  const takesFile = api === 'signal-cli' || api === 'bluebubbles'
  const hasFile = takesFile && random.chance() < 0.2
  return { does: 'send', to: random.of(PEOPLE), from, hasFile }
}

async function askOwn(side: Side, call: Call): Promise<Said> {
  const { shop, key, messages } = side
  const headers = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  if (call.does === 'look') {
    const { status, body } = await shop.request(
      'GET',
      `/api/v1/messages/${messages[call.at]}`,
      undefined,
      headers,
    )
    if (status !== 200) return { status, code: body.error.code, state: null }
    const isCanceled = body.error?.code === 'canceled'
    return { status, code: null, state: isCanceled ? 'canceled' : body.status }
  }
  const attachments: Json[] = []
  if (call.hasFile) {
    const given = { ...headers, 'content-type': 'text/plain' }
    const init = { method: 'POST', headers: given, body: 'soup' }
    const response = await shop.fetch('/api/v1/attachments?filename=file-1', init)
    const body: Json = await response.json()
    if (!response.ok) return { status: response.status, code: body.error.code, state: null }
    attachments.push({ id: body.id })
  }
  const line = call.from === null ? undefined : (await shop.lines())[call.from]
  const content = { to: call.to, text: 'hi', ...(call.hasFile ? { attachments } : {}) }
  const more = line === undefined ? {} : { phone_line_id: line.id }
  const { status, body } = await shop.request(
    'POST',
    '/api/v1/messages/send',
    { ...content, ...more },
    headers,
  )
  if (body.id === undefined) return { status, code: body.error.code, state: null }
  messages.push(body.id)
  return { status: 200, code: null, state: body.status }
}
