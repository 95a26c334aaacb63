// A relay of two lines for keys that may do less than everything: whatever a key must not reach is on the second
// line, and has the word WALNUT or a number of its own.

import { asOwner } from './control-socket.ts'
import { eventually } from './eventually.ts'
import { ANNA, BOB, makeKey } from './limited-keys.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { makeSite, moveLine } from './site-calls.ts'
import { TestClock } from './test-clock.ts'
import { startRelay, type Json, type TestRelay } from './test-relay.ts'
import { WebhookSink } from './webhook-sink.ts'

const WALNUT = 'walnut'
/** Nobody has ever written with this person. */
export const STRANGER = '+12025550704'
/** Wrote to the second line, and wants nothing more of it. */
const CARL = '+12025550703'
/** A message to this person is carried, and never confirmed. */
const SILENT = '+12025550194'
const SECOND_NUMBER = '+12025550102'
const EVENTS = ['message.received', 'message.sent', 'message.delivered', 'message.failed']
const PEER = { address: '10.0.0.9', isControl: false, liftTimeout: () => {} }

/** A key, and what it learned from earlier answers. */
export type Prober = {
  readonly headers: Readonly<Record<string, string>>
  /** The id of its last message. */
  messageId: string
  /** The token of a bridge that it made. */
  bridgeToken: string | null
}

export type Call = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export type Answered = { readonly status: number; readonly text: string }

export type Guarded = Awaited<ReturnType<typeof startGuarded>>

export async function startGuarded() {
  const folder = new ScratchFolder()
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  sink.answer = ({ url }) => (url.includes('narrowed') ? 500 : 200)
  const relay = await startRelay({
    drivers: 'own',
    folder: folder.path,
    clock,
    post: sink.post,
    environment: { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '1s' },
  })
  const things = await furnish(relay)
  return {
    ...relay,
    ...things,
    sink,
    /** Makes a key with these limits, and each scope that such a key may have. */
    prober: async (limits: object): Promise<Prober> => proberOf(await makeKey(relay, limits)),
    /** A key of a site that both lines belonged to when it was made, and that the second one has left. */
    proberOfSite: () => proberOfSite(relay, things),
    ask: (call: Call, prober: Prober) => ask(relay, call, prober),
    /** Whatever is known of the things of the second line. */
    async secrets(): Promise<string> {
      const texts = await Promise.all(
        GUARDED(things).map((path) => relay.fetch(path, { headers: relay.credentials })),
      )
      return (await Promise.all(texts.map((answer) => answer.text()))).join('\n')
    },
    /** The recipients of messages with this text that left. */
    async recipientsOf(text: string): Promise<readonly string[]> {
      const { data } = await relay.get('/api/v1/messages?direction=outbound&limit=200')
      return data
        .filter((each: Json) => each.text === text && !['queued', 'failed'].includes(each.status))
        .map(({ handle }: Json) => handle)
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

type Made = Awaited<ReturnType<typeof makeKey>>

export function proberOf({ headers }: Pick<Prober, 'headers'>): Prober {
  return { headers, messageId: 'msg_00000000000000000000000000', bridgeToken: null }
}

/** Fills both lines. */
async function furnish(relay: TestRelay) {
  const { post, put, clock } = relay
  await clock.advance(1_000)
  const [first = '', second = ''] = (await relay.lines()).map(({ id }) => String(id))
  const happen = (line: string, event: object) =>
    post(`/api/v1/simulated/lines/${line}/events`, { type: 'message', ...event })
  const hook = async (url: string) =>
    String((await post('/api/v1/webhooks', { url, events: EVENTS })).body.id)
  const foreignHook = await hook(`https://${WALNUT}.example/all`)
  const narrowedHook = await hook('https://narrowed.example/hook')
  await happen(first, { from: ANNA, text: 'apples' })
  const file = { filename: `${WALNUT}.txt`, content_base64: btoa(`${WALNUT}s`) }
  await happen(second, { from: BOB, text: `${WALNUT}s`, attachments: [file] })
  await happen(second, { from: CARL, text: `${WALNUT}s too` })
  await put(`/api/v1/opt-outs/${encodeURIComponent(CARL)}`, { phone_line_id: second })
  await put(`/api/v1/contacts/${encodeURIComponent(ANNA)}`, { name: 'Anna' })
  await put(`/api/v1/contacts/${encodeURIComponent(BOB)}`, { name: `Bob ${WALNUT}` })
  const tomorrow = new Date(clock.now() + 20 * 3_600_000).toISOString()
  const send = async (by: Pick<Made, 'send'>, to: string, more: object): Promise<string> => {
    const { body } = await by.send(to, { phone_line_id: second, ...more })
    return String(body.id)
  }
  const owner = { send: (to: string, more: object = {}) => relay.send({ to, text: '', ...more }) }
  const scheduled = await send(owner, BOB, { text: `${WALNUT}s later`, send_at: tomorrow })
  const uncertain = send(owner, SILENT, { text: `${WALNUT}s perhaps` })
  const agent = await makeKey(relay, { name: `${WALNUT} agent`, rules: { approval: 'always' } })
  const held = await send(agent, BOB, { text: `${WALNUT}s held` })
  const heldForStranger = await send(agent, STRANGER, { text: `${WALNUT}s for a stranger` })
  const otherKey = await makeKey(relay, { name: `${WALNUT} key`, phone_line_ids: [second] })
  // The bytes of the file are really written.
  const inbound = await eventually('a message with its file', async () => {
    await clock.advance(1_000)
    const { data } = await relay.get(
      `/api/v1/messages?handle=${encodeURIComponent(BOB)}&direction=inbound`,
    )
    return data[0]?.attachments?.[0]?.state === 'available' ? data[0] : null
  })
  await clock.advance(60_000)
  // It fails, and is still to be tried again.
  await happen(second, { from: BOB, text: `${WALNUT}s again` })
  await clock.advance(10)
  await put(`/api/v1/webhooks/${narrowedHook}`, { phone_line_ids: [first] })
  const phone = { to: '+12025550177', phone_line_id: second }
  await asOwner(relay, 'POST', '/alerts/channels', { body: phone })
  const rule = { cause: 'approval_waiting', phone_line_ids: [second], after_minutes: 1 }
  await asOwner(relay, 'PUT', '/alerts/rules', { body: rule })
  await clock.advance(2 * 60_000)
  const apples = await relay.get(`/api/v1/conversations?handle=${encodeURIComponent(ANNA)}`)
  const { data } = await relay.get(`/api/v1/webhooks/${narrowedHook}/deliveries`)
  const exhausted = data.find((each: Json) => each.message_id === inbound.id)
  return {
    first,
    second,
    foreignHook,
    narrowedHook,
    foreignDelivery: String(exhausted.id),
    foreignFile: String(inbound.attachments[0].id),
    received: String(inbound.id),
    conversation: String(inbound.conversation_id),
    /** That with Anna, on the first line. */
    ownConversation: String(apples.data[0].id),
    scheduled,
    uncertain: await uncertain,
    held: [held, heldForStranger] as const,
    otherKey: String(otherKey.made.id),
    /** Texts that no key of the first line may see. */
    marks: [
      WALNUT,
      // As MCP gives a file.
      btoa(`${WALNUT}s`),
      second,
      SECOND_NUMBER,
      BOB,
      CARL,
      SILENT,
      STRANGER,
      String(inbound.id),
      scheduled,
    ],
  }
}

async function proberOfSite(relay: TestRelay, { first, second, narrowedHook }: Things) {
  const orchard = await makeSite(relay, 'Orchard')
  const elsewhere = await makeSite(relay, `${WALNUT} street`)
  await moveLine(relay, first, orchard)
  await moveLine(relay, second, orchard)
  const made = await makeKey(relay, { site_ids: [orchard] })
  // The webhook that had both lines is the key's to see, because it is of the same site.
  await relay.put(`/api/v1/webhooks/${narrowedHook}`, { phone_line_ids: null, site_ids: [orchard] })
  await moveLine(relay, second, elsewhere)
  return proberOf(made)
}

type Things = Awaited<ReturnType<typeof furnish>>

const GUARDED = ({ second, foreignHook, foreignFile }: Things) => [
  `/api/v1/messages?type=all&limit=200&phone_line_id=${second}`,
  `/api/v1/conversations?type=all&limit=200&phone_line_id=${second}`,
  `/api/v1/webhooks/${foreignHook}`,
  `/api/v1/webhooks/${foreignHook}/deliveries?limit=200`,
  `/api/v1/attachments/${foreignFile}`,
  '/api/v1/contacts?limit=200',
  '/api/v1/opt-outs?limit=200',
  '/api/v1/bridges',
]

async function ask(
  { app, clock }: TestRelay,
  { method, path, body, headers = {} }: Call,
  prober: Prober,
): Promise<Answered> {
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain' : 'application/json'
  const init = {
    method,
    headers: {
      host: 'localhost',
      ...prober.headers,
      ...(body === undefined ? {} : { 'Content-Type': type }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  }
  const answering = Promise.resolve(
    app.http.fetch(new Request(`http://localhost${path}`, init), PEER),
  )
  const seen: { response: Response | null } = { response: null }
  void answering.then((response) => (seen.response = response)).catch(() => {})
  // A send waits for its line, and a bridge for a message.
  await clock.advanceUntil(() => seen.response !== null, 60_000)
  const response = await answering
  return { status: response.status, text: await textOf(response) }
}

/** Of a stream the beginning, and the first events. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body?.getReader()
  let text = ''
  const decoder = new TextDecoder()
  for (let count = 0; count < 2; count += 1) {
    const piece: unknown = (await reader?.read())?.value ?? ''
    text += piece instanceof Uint8Array ? decoder.decode(piece) : String(piece)
  }
  await reader?.cancel()
  return text
}
