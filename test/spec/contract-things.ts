// The recorded script after conversations: files, people, deliveries, events, bridges and the service itself.

import { type Json } from '../support/test-relay.ts'
import { ANNA, BEN, NOBODY, api, handleOf, type Stage } from './contract-stage.ts'

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

export const THING_PARTS = [attachments, people, deliveries, events, bridges, service]
