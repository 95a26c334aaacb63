// A fixed script of requests over the whole API, each operation with its success and its main refusals. It runs on
// any version of the relay that has a test relay, so that what one version answered can be compared with another.

import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

export type Exchange = {
  /** Method, path and body, and if it had other credentials than the first key. */
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON as it was parsed, or the text. */
  readonly body: Json
}

type Given = Readonly<Record<string, string>>
type More = { readonly headers?: Given; readonly key?: Given; readonly moves?: boolean }
type Ask = (method: string, path: string, body?: unknown, more?: More) => Promise<Json>

type Stage = {
  readonly ask: Ask
  readonly advance: (seconds: number) => Promise<void>
  readonly first: string
  readonly second: string
}

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
const ANNA = '+12025550711'
const BEN = '+12025550712'
const NOBODY = '_00000000000000000000000000'
const HOOK_URL = 'https://receiver.example/hook'
const ALL_EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]

/** Plays the script, and gives every exchange, those with receivers of webhooks behind the others. */
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
  const ask: Ask = async (method, path, body, { headers = {}, key = own, moves = false } = {}) => {
    const isRaw = typeof body === 'string'
    const type = body === undefined || isRaw ? {} : { 'Content-Type': 'application/json' }
    const content = isRaw ? body : JSON.stringify(body)
    const given = { host: 'localhost', ...key, ...type, ...headers }
    const init = { method, headers: given, ...(body === undefined ? {} : { body: content }) }
    const answering = Promise.resolve(
      relay.app.http.fetch(new Request(`http://localhost${path}`, init), PEER),
    )
    const seen = { isAnswered: false }
    void answering.finally(() => (seen.isAnswered = true))
    for (let step = 0; moves && !seen.isAnswered && step < 900; step += 1) await clock.advance(100)
    const response = await answering
    const text = await textOf(response)
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    exchanges.push({
      request: [method, path, content, key === own ? '' : '(as another caller)']
        .filter(Boolean)
        .join(' '),
      status: response.status,
      headers: Object.fromEntries([...response.headers].sort(([a], [b]) => (a < b ? -1 : 1))),
      body: isJson && text !== '' ? JSON.parse(text) : withoutFigures(text),
    })
    return exchanges.at(-1)?.body
  }
  const advance = (seconds: number) => clock.advance(seconds * 1_000)
  const { data } = await ask('GET', '/api/v1/phone-lines')
  const stage = { ask, advance, first: data[0].id, second: data[1].id }
  for (const part of PARTS) await part(stage)
  const posts = sink.to(HOOK_URL).map(({ url, headers, body }) => {
    return { request: `POST ${url}`, status: 0, headers, body: JSON.parse(body) }
  })
  const order = ({ request, body }: Exchange) =>
    [request, body.event, body.message?.text, body.message?.handle].join(' ')
  exchanges.push(...posts.sort((a, b) => (order(a) < order(b) ? -1 : 1)))
  await changed(stage)
  return exchanges
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

const api = (path: string) => `/api/v1${path}`
const handleOf = (number: string) => encodeURIComponent(number)
const credentialsOf = ({ key, secret }: Json): Given => ({
  'X-API-Key': key,
  'X-API-Secret': secret,
})

async function atTheDoor({ ask }: Stage): Promise<void> {
  const key = {}
  await ask('GET', api('/messages'), undefined, { key })
  await ask('GET', api('/messages'), undefined, { key: { 'X-API-Key': 'hl_live_x' } })
  await ask('GET', api('/messages'), undefined, { key: { 'X-API-Key': 'a', 'X-API-Secret': 'b' } })
  await ask('GET', '/healthz', undefined, { key })
  await ask('GET', '/readyz', undefined, { key })
  await ask('GET', api('/nothing'))
  await ask('PATCH', api('/messages/send'), {})
  await ask('POST', api('/messages/send'), '{', { headers: { 'Content-Type': 'application/json' } })
  await ask('POST', api('/messages/send'), 'to=1', { headers: { 'Content-Type': 'text/plain' } })
  await ask('GET', api('/messages?unknown=1'))
  await ask('GET', api('/messages?limit=0'))
  await ask('GET', api('/messages?limit=many'))
  await ask('GET', api('/messages?cursor=xyz'))
  await ask('HEAD', api('/phone-lines'))
}

async function keys({ ask, first }: Stage): Promise<void> {
  await ask('POST', api('/keys'), {})
  const named = await ask('POST', api('/keys'), { name: 'Shop' })
  const limits = {
    scopes: ['read', 'send'],
    phone_line_ids: [first],
    expires_at: '2027-01-01T00:00:00Z',
  }
  const rules = { recipients: 'list', allow: [ANNA], sends_per_hour: 9, sends_per_day: 90 }
  const limited = await ask('POST', api('/keys'), { name: 'Limited', ...limits, rules })
  const key = credentialsOf(limited)
  await ask('POST', api('/keys'), { name: 7 })
  await ask('POST', api('/keys'), { name: 'x'.repeat(300) })
  await ask('POST', api('/keys'), { scopes: ['everything'] })
  await ask('POST', api('/keys'), { phone_line_ids: ['line_x'] })
  await ask('POST', api('/keys'), { expires_at: '2020-01-01T00:00:00Z' })
  await ask('POST', api('/keys'), { colour: 'red' })
  await ask('POST', api('/keys'), {}, { key })
  await ask('GET', api('/keys/self'), undefined, { key })
  await ask('POST', api('/messages/send'), { to: BEN, text: 'not on the list' }, { key })
  await ask('GET', api('/keys?limit=2'))
  await ask('GET', api('/keys'))
  await ask('GET', api('/keys/self'))
  await ask('DELETE', api(`/keys/${named.id}`))
  await ask('DELETE', api(`/keys/${named.id}`))
  await ask('DELETE', api(`/keys/key${NOBODY}`))
  await ask('GET', api('/messages'), undefined, { key: credentialsOf(named) })
}

async function lines({ ask, first, second }: Stage): Promise<void> {
  await ask('GET', api('/phone-lines?limit=1'))
  await ask('PATCH', api(`/phone-lines/${second}`), { label: 'Desk', daily_contact_limit: 60 })
  await ask('PATCH', api(`/phone-lines/${second}`), { is_enabled: false })
  await ask('POST', api('/messages/send'), { to: ANNA, text: 'x', phone_line_id: second })
  await ask('PATCH', api(`/phone-lines/${second}`), { is_enabled: true })
  await ask('PATCH', api(`/phone-lines/${second}`), { quiet_hours: { from: '22:00', to: '07:00' } })
  await ask('PATCH', api(`/phone-lines/${second}`), { quiet_hours: null })
  await ask('PATCH', api(`/phone-lines/${second}`), {})
  await ask('PATCH', api(`/phone-lines/${second}`), { daily_contact_limit: -1 })
  await ask('PATCH', api(`/phone-lines/line${NOBODY}`), { label: 'x' })
  await ask('DELETE', api(`/phone-lines/${first}`))
  await ask('DELETE', api(`/phone-lines/line${NOBODY}`))
}

async function webhooks({ ask, first }: Stage): Promise<void> {
  const made = await ask('POST', api('/webhooks'), { url: HOOK_URL, events: ALL_EVENTS })
  const path = api(`/webhooks/${made.id}`)
  const failing = { url: 'https://failing.example/hook', events: ['message.sent'] }
  await ask('POST', api('/webhooks'), { ...failing, description: 'Till', phone_line_ids: [first] })
  await ask('POST', api('/webhooks'), { url: HOOK_URL })
  await ask('POST', api('/webhooks'), { url: 'ftp://x', events: ['message.sent'] })
  await ask('POST', api('/webhooks'), { url: HOOK_URL, events: ['message.lost'] })
  await ask('POST', api('/webhooks'), { url: HOOK_URL, events: [] })
  await ask('POST', api('/webhooks'), { url: HOOK_URL, events: ['message.sent'], secret: 'mine' })
  await ask('GET', api('/webhooks'))
  await ask('GET', path)
  await ask('PUT', path, { is_active: false })
  await ask('POST', `${path}/test`, {})
  await ask('PUT', path, { is_active: true, events: ALL_EVENTS, url: HOOK_URL })
  await ask('PUT', path, {})
  await ask('PUT', path, { url: 'nowhere' })
  await ask('PUT', api(`/webhooks/wh${NOBODY}`), { is_active: true })
  await ask('POST', `${path}/rotate-secret`, {})
  await ask('POST', `${path}/test`, {})
}

const IDEMPOTENT = { 'Idempotency-Key': 'order-1' }

async function sends({ ask, advance, first, second }: Stage): Promise<void> {
  const send = (body: object, headers: Given = {}) =>
    ask('POST', api('/messages/send'), body, { headers, moves: true })
  await send({ to: ANNA, text: 'hello' })
  await send({ to: ANNA, text: 'by the second', phone_line_id: second })
  await send({ to: ANNA, text: 'at once' }, { Prefer: 'respond-async' })
  await send({ to: ANNA, text: 'urgent', phone_line_id: first }, { Prefer: 'urgent, wait=5' })
  await send({ to: ANNA, text: 'once' }, IDEMPOTENT)
  await send({ to: ANNA, text: 'once' }, IDEMPOTENT)
  await send({ to: ANNA, text: 'twice' }, IDEMPOTENT)
  await send({ to: ANNA, text: 'x' }, { 'Idempotency-Key': 'x'.repeat(256) })
  for (const to of [
    '+15550000190',
    '+15550000191',
    '+15550000192',
    '+15550000193',
    '+15550000194',
    '+15550000195',
  ])
    await send({ to, text: `to ${to.slice(-3)}`, phone_line_id: first })
  await send({ to: BEN, text: 'as a text', service: 'SMS', phone_line_id: first })
  await send({ to: 'anna', text: 'x' })
  await send({ to: 'anna@example.com', text: 'x' })
  await send({ to: ANNA, text: '' })
  await send({ to: ANNA })
  await send({ text: 'x' })
  await send({ to: ANNA, text: 'x'.repeat(20_001) })
  await send({ to: ANNA, text: 'x', phone_line_id: `line${NOBODY}` })
  await send({ to: ANNA, text: 'x', subject: 'y' })
  await send({ to: ANNA, text: 'x', reply_to: { message_id: `msg${NOBODY}` } })
  await send({ to: ANNA, text: 'x', send_at: '2020-01-01T00:00:00Z' })
  await send({ to: ANNA, text: 'x', send_at: 'tomorrow' })
  await send({ to: ANNA, text: 'x', attachments: [{ id: `att${NOBODY}` }] })
  await ask('PATCH', api(`/phone-lines/${second}`), { daily_contact_limit: 1 })
  await send({ to: '+15550001201', text: 'one too many', phone_line_id: second })
  await ask('PATCH', api(`/phone-lines/${second}`), { daily_contact_limit: 50 })
  await advance(60)
}

async function messages({ ask, second }: Stage): Promise<void> {
  const { data } = await ask('GET', api(`/messages?limit=3`))
  const page = await ask('GET', api('/messages?limit=5&direction=outbound&status=read'))
  if (page.next_cursor !== null)
    await ask(
      'GET',
      api(`/messages?limit=5&direction=outbound&status=read&cursor=${page.next_cursor}`),
    )
  await ask('GET', api(`/messages?phone_line_id=${second}&handle=${handleOf(ANNA)}`))
  await ask('GET', api('/messages?status=uncertain&contact_names=true'))
  await ask('GET', api('/messages?limit=2&updated_since=2026-01-01T00:00:00Z'))
  await ask(
    'GET',
    api(`/messages?conversation_id=${data[0].conversation_id}&around=${data[0].id}&limit=3`),
  )
  await ask('GET', api(`/messages?around=${data[0].id}`))
  await ask('GET', api('/messages?status=lost'))
  await ask('GET', api('/messages?handle=anna'))
  await ask('GET', api(`/messages/${data[0].id}`))
  await ask('GET', api(`/messages/msg${NOBODY}`))
  await ask('GET', api('/messages/1'))
  const uncertain = (await ask('GET', api('/messages?status=uncertain'))).data[0]
  await ask('POST', api(`/messages/${uncertain.id}/resolve`), { status: 'lost' })
  await ask('POST', api(`/messages/${uncertain.id}/resolve`), { status: 'sent' })
  await ask('POST', api(`/messages/${uncertain.id}/resolve`), { status: 'failed' })
  const later = { to: ANNA, text: 'later', send_at: '2026-11-25T09:00:00Z' }
  const scheduled = await ask('POST', api('/messages/send'), later)
  await ask('GET', api('/messages?queued_reason=scheduled'))
  await ask('DELETE', api(`/messages/${scheduled.id}`))
  await ask('DELETE', api(`/messages/${scheduled.id}`))
  await ask('DELETE', api(`/messages/msg${NOBODY}`))
}

async function approvals({ ask, advance, first }: Stage): Promise<void> {
  const rules = { approval: 'always' }
  const key = credentialsOf(await ask('POST', api('/keys'), { name: 'Assistant', rules }))
  const held = async (text: string) =>
    (await ask('POST', api('/messages/send'), { to: ANNA, text, phone_line_id: first }, { key })).id
  const ids = [await held('please'), await held('or this'), await held('or that')]
  await ask('POST', api(`/messages/${ids[0]}/approve`), {}, { key })
  await ask('POST', api(`/messages/${ids[0]}/approve`), {})
  await ask('POST', api(`/messages/${ids[0]}/approve`), {})
  await ask('POST', api(`/messages/${ids[1]}/approve`), { text: 'better words' })
  await ask('POST', api(`/messages/${ids[2]}/deny`), { reason: 'No.' })
  await ask('POST', api(`/messages/${ids[2]}/deny`), {})
  await ask('POST', api(`/messages/msg${NOBODY}/approve`), {})
  await advance(10)
  await ask('GET', api(`/messages/${ids[1]}`))
}

async function inbound({ ask, advance, first }: Stage): Promise<void> {
  const happen = (body: object, line = first) =>
    ask('POST', api(`/simulated/lines/${line}/events`), body)
  const { guid } = await happen({ type: 'message', from: ANNA, text: 'good morning' })
  await advance(5)
  await happen({ type: 'reaction', from: ANNA, target_guid: guid, reaction: 'love' })
  await happen({ type: 'edit', target_guid: guid, text: 'good evening' })
  await happen({ type: 'message', from: 'Anna', text: 'x' })
  await happen({ type: 'typing', from: ANNA })
  await happen({ type: 'message', from: ANNA, text: 'x' }, `line${NOBODY}`)
  await advance(20)
  await ask('GET', api('/messages?direction=inbound'))
}

async function conversations({ ask }: Stage): Promise<void> {
  const { data } = await ask('GET', api(`/conversations?handle=${handleOf(ANNA)}`))
  const [{ id, last_message: last }] = data
  const path = api(`/conversations/${id}`)
  await ask('GET', api('/conversations?limit=2'))
  await ask('GET', api('/conversations?unread=true&unanswered=true'))
  await ask('GET', api('/conversations?type=group'))
  await ask('GET', api('/conversations?limit=300'))
  await ask('GET', path)
  await ask('GET', api(`/conversations/conv${NOBODY}`))
  await ask('POST', `${path}/messages`, { text: 'in the conversation' }, { moves: true })
  await ask('POST', `${path}/messages`, { text: 'x', to: ANNA })
  await ask('POST', api(`/conversations/conv${NOBODY}/messages`), { text: 'x' })
  await ask('PATCH', path, { automation_paused: true })
  await ask('PATCH', path, { automation_paused: false })
  await ask('PATCH', path, { paused: true })
  await ask('POST', `${path}/read`, { message_id: last.id })
  await ask('POST', `${path}/read`, { message_id: `msg${NOBODY}` })
  await ask('GET', `${path}/export`)
  await ask('GET', `${path}/export?format=csv`)
  await ask('GET', `${path}/export?format=pdf`)
}

async function attachments({ ask, advance, first }: Stage): Promise<void> {
  const headers = { 'Content-Type': 'text/plain', 'Idempotency-Key': 'menu' }
  const menu = await ask('POST', api('/attachments?filename=menu.txt'), 'soup', { headers })
  await ask('POST', api('/attachments?filename=menu.txt'), 'soup', { headers })
  await ask('POST', api('/attachments?filename=menu.txt'), 'salad', { headers })
  const spare = await ask('POST', api('/attachments'), 'spare', {
    headers: { 'Content-Type': 'text/plain' },
  })
  const path = api(`/attachments/${menu.id}`)
  await ask('GET', path)
  await ask('GET', `${path}/content`)
  await ask('GET', `${path}/content`, undefined, { headers: { Range: 'bytes=1-2' } })
  await ask('GET', `${path}/content`, undefined, { headers: { Range: 'bytes=9-' } })
  await ask('GET', `${path}/content?variant=large`)
  await ask('GET', api(`/attachments/att${NOBODY}`))
  await ask('POST', `${path}/link`, { expires_in: 60 })
  await ask('POST', `${path}/link`, { expires_in: 1 })
  const files = { attachments: [{ id: menu.id }], phone_line_id: first }
  await ask(
    'POST',
    api('/messages/send'),
    { to: ANNA, text: 'the menu', ...files },
    { moves: true },
  )
  await ask('DELETE', api(`/attachments/${spare.id}`))
  await ask('GET', api(`/attachments/${spare.id}`))
  await ask('DELETE', api(`/attachments/att${NOBODY}`))
  await advance(10)
}

async function people({ ask, first }: Stage): Promise<void> {
  const anna = api(`/contacts/${handleOf(ANNA)}`)
  await ask('PUT', anna, { name: 'Anna', note: 'Likes soup', tags: ['guest'] })
  await ask('PUT', anna, { note: 'x' })
  await ask('PUT', api('/contacts/anna'), { name: 'Anna' })
  await ask('GET', anna)
  await ask('GET', api('/contacts?q=ann'))
  await ask('GET', api('/contacts?tag=guest&limit=1'))
  await ask('GET', api(`/contacts/${handleOf('+15550009999')}`))
  const csv = { headers: { 'Content-Type': 'text/csv' } }
  await ask(
    'POST',
    api('/contacts/import?country=US'),
    'name,phone\nBen,+12025550712\nBad,12\n',
    csv,
  )
  await ask('POST', api('/contacts/import'), 'nothing', csv)
  await ask('GET', api('/contacts/export'))
  await ask('PUT', api(`/opt-outs/${handleOf(BEN)}`), {})
  await ask('PUT', api(`/opt-outs/${handleOf(ANNA)}`), { phone_line_id: first })
  await ask('PUT', api(`/opt-outs/${handleOf(ANNA)}`), { phone_line_id: `line${NOBODY}` })
  await ask('GET', api('/opt-outs'))
  await ask('GET', api(`/recipients/${handleOf(BEN)}`))
  await ask('GET', api('/recipients/ben'))
  await ask('DELETE', api(`/opt-outs/${handleOf(BEN)}`))
  await ask('DELETE', api(`/opt-outs/${handleOf(BEN)}`))
  await ask('DELETE', api(`/opt-outs/${handleOf(ANNA)}?phone_line_id=${first}`))
  await ask('GET', api('/search?q=morning'))
  await ask('GET', api('/search?q=anna&limit=1'))
  await ask('GET', api('/search'))
  await ask('DELETE', api(`/contacts/${handleOf(BEN)}`))
  await ask('DELETE', api(`/contacts/${handleOf(BEN)}`))
  await ask('GET', api('/stats?days=1'))
  await ask('GET', api('/stats?days=1&time_zone=Europe/Berlin'))
  await ask('GET', api('/stats?time_zone=Mars'))
}

async function deliveries({ ask, advance }: Stage): Promise<void> {
  const { data } = await ask('GET', api('/webhooks'))
  const [failing, hook] = data.map(({ id }: Json) => api(`/webhooks/${id}`))
  const failed = (await ask('GET', `${failing}/deliveries?limit=2`)).data[0]
  await ask('GET', `${hook}/deliveries?event=message.received&status=succeeded`)
  await ask('GET', `${hook}/deliveries?handle=${handleOf(BEN)}`)
  await ask('GET', `${hook}/deliveries?status=lost`)
  await ask('GET', api(`/webhooks/wh${NOBODY}/deliveries`))
  await ask('GET', api(`/webhook-deliveries/${failed.id}`))
  await ask('GET', api(`/webhook-deliveries/dlv${NOBODY}`))
  await ask('POST', api(`/webhook-deliveries/${failed.id}/redeliver`), {})
  await ask('POST', api(`/webhook-deliveries/dlv${NOBODY}/redeliver`), {})
  await advance(10)
  await ask('POST', `${failing}/retry-failed`, { dry_run: true })
  await ask('POST', `${failing}/retry-failed`, { phone_line_id: `line${NOBODY}` })
  await ask('POST', `${failing}/replay`, { since: '2026-11-21T00:00:00Z', dry_run: true })
  await ask('POST', `${failing}/replay`, { since: 'yesterday' })
  await ask('GET', `${failing}/replay`)
  await ask('DELETE', `${failing}/replay`)
  await ask('DELETE', failing ?? '')
  await ask('DELETE', failing ?? '')
  await ask('GET', failing ?? '')
}

async function events({ ask }: Stage): Promise<void> {
  const { data } = await ask('GET', api('/events?limit=3'))
  await ask('GET', api(`/events?limit=2&after=${data[2].id}`))
  await ask('GET', api('/events?types=message.received'))
  await ask('GET', api('/events?after=latest'))
  await ask('GET', api('/events?types=message.lost'))
  await ask('GET', api('/events/stream?after=oldest&types=message.received'))
  await ask('GET', api('/events/stream?types=message.lost'))
  await ask('GET', api(`/events?after=evt${NOBODY}`))
}

async function bridges({ ask, advance }: Stage): Promise<void> {
  const made = await ask('POST', api('/bridges'), {
    phone_number: '+12025550149',
    label: 'Counter',
  })
  await ask('POST', api('/bridges'), { phone_number: '+12025550149' })
  await ask('POST', api('/bridges'), { phone_number: '149' })
  await ask('GET', api('/bridges'))
  await advance(30)
  const asBridge = (token: string) => ({ key: { Authorization: `Bearer ${token}` }, moves: true })
  const { token } = made
  const message = { id: '1', from: BEN, text: 'from the iPhone', at: '2026-11-21T10:00:00Z' }
  await ask('POST', '/bridge/v1/receive', message, asBridge(token))
  await ask('POST', '/bridge/v1/receive', message, asBridge(token))
  await ask('POST', '/bridge/v1/receive', { ...message, id: '2', from: 'Ben' }, asBridge(token))
  await ask('POST', '/bridge/v1/receive', { text: 'x' }, asBridge(token))
  await ask('POST', '/bridge/v1/receive', message, asBridge('hlb_wrong'))
  const line = (await ask('GET', api('/phone-lines'))).data[2].id
  const sent = await ask(
    'POST',
    api('/messages/send'),
    { to: BEN, text: 'to the iPhone', phone_line_id: line },
    { headers: { Prefer: 'respond-async' } },
  )
  const next = await ask('POST', '/bridge/v1/next', {}, asBridge(token))
  await ask(
    'POST',
    '/bridge/v1/done',
    { id: next.message?.id ?? sent.id, sent: true },
    asBridge(token),
  )
  await ask('POST', '/bridge/v1/done', { id: `msg${NOBODY}`, sent: true }, asBridge(token))
  await ask('GET', api(`/messages/${sent.id}`))
  await ask('POST', api(`/bridges/${made.id}/token`), {})
  await ask('POST', '/bridge/v1/next', {}, asBridge(token))
  await ask('DELETE', api(`/bridges/${made.id}`))
  await ask('DELETE', api(`/bridges/brg${NOBODY}`))
  await advance(30)
  await ask('DELETE', api(`/phone-lines/${line}`))
}

async function service({ ask }: Stage): Promise<void> {
  await ask('GET', api('/audit?action=webhook.created'))
  await ask('GET', api('/audit?action=key.revoked&limit=1'))
  await ask('GET', api('/audit?action=unknown'))
  await ask('GET', api('/health'))
  await ask('GET', '/metrics')
  await ask('GET', api('/phone-lines'))
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

const PARTS = [
  atTheDoor,
  keys,
  lines,
  webhooks,
  sends,
  messages,
  approvals,
  inbound,
  conversations,
  attachments,
  people,
  deliveries,
  events,
  bridges,
  service,
]
