// A fixed script of requests over the whole API, each operation with its success and its main refusals. It runs on
// any version of the relay that has a test relay, so that what one version answered can be compared with another.

import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'
import { MESSAGE_PARTS } from './contract-messages.ts'
import {
  ANNA,
  HOOK_URL,
  IDEMPOTENT,
  api,
  credentialsOf,
  type Ask,
  type Given,
  type Stage,
} from './contract-stage.ts'
import { THING_PARTS } from './contract-things.ts'

export type Exchange = {
  /** Method, path and body, and if it had other credentials than the first key. */
  readonly request: string
  readonly status: number
  readonly headers: Given
  /** JSON as it was parsed, or the text. */
  readonly body: Json
}

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
/** The longest wait for an answer, in steps of a tenth of a second. */
const STEPS_MAX = 900
const DISK_STEPS = 20
const DISK_MS = 2

/** Plays the script, and gives every exchange; those with receivers of webhooks stand before what has changed. */
export async function playContract(): Promise<readonly Exchange[]> {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  sink.answer = ({ url }) => (url.includes('failing') ? 500 : 200)
  await using relay = await startRelay({
    drivers: 'own',
    folder: folder.path,
    clock,
    post: sink.post,
    environment: { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '1s' },
  })
  await clock.advance(1_000)
  const exchanges: Exchange[] = []
  const own = { 'X-API-Key': relay.key?.key ?? '', 'X-API-Secret': relay.key?.secret ?? '' }
  const ask: Ask = async (method, path, body, { headers, key, moves = false } = {}) => {
    const { content, type } = contentOf(body)
    const given = { host: 'localhost', ...(key ?? own), ...type, ...headers }
    const request = new Request(`http://localhost${path}`, { method, headers: given, ...content })
    const answering = Promise.resolve(relay.app.http.fetch(request, PEER))
    if (moves) await advanceUntilDone(clock, answering)
    const words = [method, path, content.body, key === undefined ? null : '(as another caller)']
    const exchange = await exchangeOf(words.filter(Boolean).join(' '), await answering)
    exchanges.push(exchange)
    return exchange.body
  }
  const { data } = await ask('GET', api('/phone-lines'))
  const advance = (seconds: number) => clock.advance(seconds * 1_000)
  const stage = { ask, advance, first: data[0].id, second: data[1].id }
  for (const part of [...MESSAGE_PARTS, ...THING_PARTS]) await part(stage)
  const posts = sink.to(HOOK_URL).map(({ url, headers, body }) => {
    return { request: `POST ${url}`, status: 0, headers, body: JSON.parse(body) }
  })
  exchanges.push(...posts.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)))
  await changed(stage)
  return exchanges
}

function contentOf(body: unknown) {
  if (body === undefined) return { content: {}, type: {} }
  if (typeof body === 'string') return { content: { body }, type: {} }
  return { content: { body: JSON.stringify(body) }, type: { 'Content-Type': 'application/json' } }
}

async function advanceUntilDone(clock: TestClock, answering: Promise<Response>): Promise<void> {
  const seen = { isAnswered: false }
  void answering.finally(() => (seen.isAnswered = true))
  for (let step = 0; !seen.isAnswered && step < STEPS_MAX; step += 1) {
    // Files are really read and written, so the clock mustn't run ahead of the disk.
    if (step < DISK_STEPS) await Bun.sleep(DISK_MS)
    await clock.advance(100)
  }
}

async function exchangeOf(request: string, response: Response): Promise<Exchange> {
  const { status, headers } = response
  const text = await textOf(response)
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  return {
    request,
    status,
    headers: Object.fromEntries([...headers].sort(([a], [b]) => (a < b ? -1 : 1))),
    body: isJson && text !== '' ? JSON.parse(text) : withoutFigures(text),
  }
}

/** The order of posts is none of the contract: they are compared by what they say. */
function orderOf({ body }: Exchange): string {
  return [body.event, body.message?.text, body.message?.handle].join(' ')
}

/** Of a stream the beginning. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let count = 0; count < 2; count += 1) {
    const piece: unknown = (await reader?.read())?.value ?? ''
    text += piece instanceof Uint8Array ? decoder.decode(piece) : String(piece)
  }
  await reader?.cancel()
  return text
}

/** Of metrics the names and types: their figures are no part of the contract. */
function withoutFigures(text: string): Json {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return types.length === 0 ? text : Object.fromEntries(types.map(([, name, type]) => [name, type]))
}

/** What is meant to differ from the recorded version comes last, for whatever follows differs too. */
async function changed({ ask, first }: Stage): Promise<void> {
  const other = credentialsOf(await ask('POST', api('/keys'), { name: 'Other' }))
  const again = { to: ANNA, text: 'once' }
  await ask('POST', api('/messages/send'), again, { headers: IDEMPOTENT, key: other, moves: true })
  const rules = { approval: 'always' }
  const key = credentialsOf(await ask('POST', api('/keys'), { name: 'Agent', rules }))
  const clerk = await ask('POST', api('/keys'), { scopes: ['read', 'approvals:write'] })
  const held = { to: ANNA, text: 'last', phone_line_id: first }
  const { id } = await ask('POST', api('/messages/send'), held, { key })
  const words = { text: 'words of a clerk' }
  await ask('POST', api(`/messages/${id}/approve`), words, { key: credentialsOf(clerk) })
}
