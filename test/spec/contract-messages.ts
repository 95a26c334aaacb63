// The recorded script up to conversations: callers, lines, and messages out and in.

import {
  ANNA,
  BEN,
  NOBODY,
  HOOK_URL,
  IDEMPOTENT,
  api,
  handleOf,
  credentialsOf,
  type Given,
  type Stage,
} from './contract-stage.ts'

const STEPS = ['received', 'sent', 'delivered', 'read', 'failed']
const ALL_EVENTS = STEPS.map((step) => `message.${step}`)

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

export const MESSAGE_PARTS = [
  atTheDoor,
  keys,
  lines,
  webhooks,
  sends,
  messages,
  approvals,
  inbound,
  conversations,
]
