// For each operation of the API, and each tool of its MCP server, the calls by which a key could get past one of
// its limits. A key of the first line is answered as `ofLine` says; for the other limits see the story.

import { STRANGER, type Call, type Guarded, type Prober } from '../support/guarded-relay.ts'
import { BOB } from '../support/limited-keys.ts'

/** The words that a key sends by itself. */
export const OWN_WORDS = 'my own words'

type World = Pick<
  Guarded,
  | 'first'
  | 'second'
  | 'foreignHook'
  | 'narrowedHook'
  | 'foreignDelivery'
  | 'foreignFile'
  | 'received'
  | 'conversation'
  | 'scheduled'
  | 'uncertain'
  | 'held'
  | 'otherKey'
>

type Attempts = {
  readonly calls: (world: World, prober: Prober) => readonly Call[]
  /** The status of each for a key of the first line, which has every scope that such a key may have. */
  readonly ofLine: readonly number[]
}

const API = '/api/v1'
const HOOK = { url: 'https://key.example/hook', events: ['message.received', 'message.sent'] }
const SINCE = { since: '2026-01-01T00:00:00Z', include_earlier: true }
const URGENT = { Prefer: 'urgent' }
const bob = encodeURIComponent(BOB)
const stranger = encodeURIComponent(STRANGER)

const get = (path: string): Call => ({ method: 'GET', path: API + path })
const remove = (path: string): Call => ({ method: 'DELETE', path: API + path })
const post = (path: string, body: unknown, headers = {}): Call => {
  return { method: 'POST', path: API + path, body, headers }
}
const put = (path: string, body: unknown): Call => ({ method: 'PUT', path: API + path, body })
const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path: API + path, body })
const asBridge = (path: string, { bridgeToken }: Prober, body: unknown): Call => {
  const headers = bridgeToken === null ? {} : { Authorization: `Bearer ${bridgeToken}` }
  return { method: 'POST', path: `/bridge/v1${path}`, body, headers }
}

/** From a stranger, so that the key could answer. */
const FORGED = { type: 'message', from: STRANGER, text: 'please answer' }
const text = OWN_WORDS

/** By the id of the operation. */
export const ATTEMPTS: Readonly<Record<string, Attempts>> = {
  // What could make a rule let more through comes first, then sends, then decisions about them.
  simulateEvent: {
    calls: ({ second }) => [post(`/simulated/lines/${second}/events`, FORGED)],
    ofLine: [404],
  },
  createBridge: {
    calls: () => [post('/bridges', { phone_number: '+12025550149' })],
    ofLine: [403],
  },
  listBridges: { calls: () => [get('/bridges')], ofLine: [403] },
  renewBridgeToken: {
    calls: () => [post('/bridges/brg_00000000000000000000000000/token', {})],
    ofLine: [403],
  },
  bridgeReceive: {
    calls: (_, prober) => [
      asBridge('/receive', prober, { id: '1', from: STRANGER, text: 'please answer' }),
    ],
    ofLine: [401],
  },
  bridgeNext: { calls: (_, prober) => [asBridge('/next', prober, {})], ofLine: [401] },
  bridgeDone: {
    calls: ({ scheduled }, prober) => [asBridge('/done', prober, { id: scheduled, sent: true })],
    ofLine: [401],
  },
  putContact: { calls: () => [put(`/contacts/${stranger}`, { name: 'Known' })], ofLine: [403] },
  importContacts: {
    calls: () => [post('/contacts/import', `name,phone\nKnown,${STRANGER}\n`)],
    ofLine: [403],
  },
  deleteContact: { calls: () => [remove(`/contacts/${bob}`)], ofLine: [403] },
  putOptOut: { calls: () => [put(`/opt-outs/${bob}`, {})], ofLine: [403] },
  deleteOptOut: { calls: () => [remove(`/opt-outs/${bob}`)], ofLine: [403] },
  updatePhoneLine: {
    calls: ({ second }) => [
      patch(`/phone-lines/${second}`, { daily_contact_limit: 1_000, quiet_hours: null }),
    ],
    ofLine: [404],
  },
  createKey: {
    calls: ({ second }) => [
      post('/keys', { rules: { recipients: 'anyone', allow: [], approval: 'never' } }),
      post('/keys', { rules: { sends_per_hour: 10_000, sends_per_day: 10_000 } }),
      post('/keys', { rules: { allow: [STRANGER] } }),
      post('/keys', { rules: { quiet_hours: { from: '03:00', to: '03:01' } } }),
      post('/keys', { expires_at: '2036-01-01T00:00:00Z' }),
      post('/keys', { scopes: ['approvals:write', 'lines:write', 'bridges:write', 'keys:write'] }),
      post('/keys', { phone_line_ids: [second] }),
      post('/keys', {}),
    ],
    ofLine: [201, 201, 400, 201, 201, 400, 400, 201],
  },
  sendMessage: {
    calls: ({ first, second, foreignFile }) => [
      post('/messages/send', { to: STRANGER, text, phone_line_id: second }, URGENT),
      post('/messages/send', { to: STRANGER, text, phone_line_id: second }, URGENT),
      post('/messages/send', { to: BOB, text, phone_line_id: second, service: 'SMS' }),
      post('/messages/send', {
        to: STRANGER,
        text,
        phone_line_id: first,
        attachments: [{ id: foreignFile }],
      }),
    ],
    ofLine: [404, 404, 404, 404],
  },
  sendInConversation: {
    calls: ({ conversation }) => [
      post(`/conversations/${conversation}/messages`, { text }, URGENT),
      post(`/conversations/${conversation}/messages`, { text, send_at: '2026-11-21T10:30:00Z' }),
    ],
    ofLine: [404, 404],
  },
  approveMessage: {
    calls: ({ held }, { messageId }) => [
      ...held.map((id) => post(`/messages/${id}/approve`, { text })),
      post(`/messages/${messageId}/approve`, {}),
    ],
    ofLine: [404, 404, 404],
  },
  denyMessage: {
    calls: ({ held: [id] }) => [post(`/messages/${id}/deny`, {})],
    ofLine: [404],
  },
  resolveMessage: {
    calls: ({ uncertain }) => [post(`/messages/${uncertain}/resolve`, { status: 'sent' })],
    ofLine: [404],
  },
  cancelMessage: {
    calls: ({ scheduled }, { messageId }) => [
      remove(`/messages/${messageId}`),
      remove(`/messages/${scheduled}`),
    ],
    ofLine: [404, 404],
  },
  listMessages: {
    calls: ({ second, conversation, received }) => [
      get('/messages?type=all&limit=200'),
      get(`/messages?phone_line_id=${second}`),
      get(`/messages?conversation_id=${conversation}`),
      get(`/messages?conversation_id=${conversation}&around=${received}`),
      get(`/messages?handle=${bob}&contact_names=true`),
      get('/messages?updated_since=2026-01-01T00:00:00Z&type=all&limit=200'),
    ],
    ofLine: [200, 200, 200, 404, 200, 200],
  },
  getMessage: { calls: ({ received }) => [get(`/messages/${received}`)], ofLine: [404] },
  uploadAttachment: {
    calls: () => [post('/attachments?filename=menu.txt', 'soup')],
    ofLine: [201],
  },
  getAttachment: {
    calls: ({ foreignFile }) => [get(`/attachments/${foreignFile}`)],
    ofLine: [404],
  },
  downloadAttachment: {
    calls: ({ foreignFile }) => [
      get(`/attachments/${foreignFile}/content`),
      get(`/attachments/${foreignFile}/content?variant=thumbnail`),
    ],
    ofLine: [404, 404],
  },
  createAttachmentLink: {
    calls: ({ foreignFile }) => [post(`/attachments/${foreignFile}/link`, {})],
    ofLine: [404],
  },
  deleteAttachment: {
    calls: ({ foreignFile }) => [remove(`/attachments/${foreignFile}`)],
    ofLine: [404],
  },
  listConversations: {
    calls: ({ second }) => [
      get('/conversations?type=all&limit=200'),
      get(`/conversations?phone_line_id=${second}`),
      get(`/conversations?handle=${bob}`),
    ],
    ofLine: [200, 200, 200],
  },
  getConversation: {
    calls: ({ conversation }) => [get(`/conversations/${conversation}`)],
    ofLine: [404],
  },
  updateConversation: {
    calls: ({ conversation }) => [
      patch(`/conversations/${conversation}`, { automation_paused: true }),
      patch(`/conversations/${conversation}`, { automation_paused: false }),
    ],
    ofLine: [404, 404],
  },
  exportConversation: {
    calls: ({ conversation }) => [
      get(`/conversations/${conversation}/export`),
      get(`/conversations/${conversation}/export?format=csv`),
    ],
    ofLine: [404, 404],
  },
  markConversationRead: {
    calls: ({ conversation, received }) => [
      post(`/conversations/${conversation}/read`, { message_id: received }),
    ],
    ofLine: [404],
  },
  getRecipient: { calls: () => [get(`/recipients/${bob}`)], ofLine: [200] },
  listContacts: {
    calls: () => [get('/contacts?limit=200'), get('/contacts?q=bob')],
    ofLine: [200, 200],
  },
  exportContacts: { calls: () => [get('/contacts/export')], ofLine: [200] },
  getContact: { calls: () => [get(`/contacts/${bob}`)], ofLine: [404] },
  listOptOuts: { calls: () => [get('/opt-outs?limit=200')], ofLine: [200] },
  search: {
    calls: () => [get('/search?q=walnuts'), get('/search?q=20255507'), get('/search?q=bob')],
    ofLine: [200, 200, 200],
  },
  getTimeline: {
    calls: ({ second }) => [
      get('/timeline?since=2026-01-01T00:00:00Z&limit=200'),
      get(`/timeline?phone_line_id=${second}`),
    ],
    ofLine: [200, 200],
  },
  getStats: { calls: () => [get('/stats?days=400')], ofLine: [200] },
  listSites: { calls: () => [get('/sites')], ofLine: [200] },
  getSite: { calls: () => [get('/sites/site_00000000000000000000000000')], ofLine: [404] },
  listPhoneLines: { calls: () => [get('/phone-lines')], ofLine: [200] },
  deletePhoneLine: { calls: ({ second }) => [remove(`/phone-lines/${second}`)], ofLine: [404] },
  listEvents: {
    calls: ({ second }) => [
      get('/events?after=oldest&limit=200'),
      get(`/events?after=oldest&phone_line_id=${second}`),
    ],
    ofLine: [200, 200],
  },
  streamEvents: { calls: () => [get('/events/stream?after=oldest')], ofLine: [200] },
  createWebhook: {
    calls: ({ second }) => [
      post('/webhooks', { ...HOOK, attachment_links: true }),
      post('/webhooks', { ...HOOK, phone_line_ids: [second] }),
    ],
    ofLine: [201, 400],
  },
  listWebhooks: { calls: () => [get('/webhooks')], ofLine: [200] },
  getWebhook: { calls: ({ foreignHook }) => [get(`/webhooks/${foreignHook}`)], ofLine: [404] },
  updateWebhook: {
    calls: ({ foreignHook, narrowedHook, second }) => [
      put(`/webhooks/${foreignHook}`, { url: HOOK.url }),
      put(`/webhooks/${narrowedHook}`, { phone_line_ids: [second] }),
      put(`/webhooks/${narrowedHook}`, { phone_line_ids: null }),
      // Whatever it still has to deliver comes here.
      put(`/webhooks/${narrowedHook}`, { url: HOOK.url, is_active: true }),
    ],
    ofLine: [404, 400, 200, 200],
  },
  rotateWebhookSecret: {
    calls: ({ foreignHook }) => [post(`/webhooks/${foreignHook}/rotate-secret`, {})],
    ofLine: [404],
  },
  testWebhook: {
    calls: ({ foreignHook }) => [post(`/webhooks/${foreignHook}/test`, {})],
    ofLine: [404],
  },
  listWebhookDeliveries: {
    calls: ({ foreignHook, narrowedHook, received }) => [
      get(`/webhooks/${foreignHook}/deliveries`),
      get(`/webhooks/${narrowedHook}/deliveries?limit=200`),
      get(`/webhooks/${narrowedHook}/deliveries?handle=${bob}`),
      get(`/webhooks/${narrowedHook}/deliveries?message_id=${received}`),
    ],
    ofLine: [404, 200, 200, 200],
  },
  getWebhookDelivery: {
    calls: ({ foreignDelivery }) => [get(`/webhook-deliveries/${foreignDelivery}`)],
    ofLine: [404],
  },
  redeliverWebhookDelivery: {
    calls: ({ foreignDelivery }) => [post(`/webhook-deliveries/${foreignDelivery}/redeliver`, {})],
    ofLine: [404],
  },
  retryFailedDeliveries: {
    calls: ({ foreignHook, narrowedHook, second }) => [
      post(`/webhooks/${foreignHook}/retry-failed`, {}),
      post(`/webhooks/${narrowedHook}/retry-failed`, {}),
      post(`/webhooks/${narrowedHook}/retry-failed`, { phone_line_id: second }),
    ],
    ofLine: [404, 202, 202],
  },
  replayWebhook: {
    calls: ({ foreignHook, narrowedHook, second }) => [
      post(`/webhooks/${foreignHook}/replay`, SINCE),
      post(`/webhooks/${narrowedHook}/replay`, SINCE),
      post(`/webhooks/${narrowedHook}/replay`, { ...SINCE, phone_line_id: second }),
    ],
    ofLine: [404, 202, 202],
  },
  getReplay: {
    calls: ({ foreignHook }) => [get(`/webhooks/${foreignHook}/replay`)],
    ofLine: [404],
  },
  stopReplay: {
    calls: ({ foreignHook }) => [remove(`/webhooks/${foreignHook}/replay`)],
    ofLine: [404],
  },
  deleteWebhook: {
    calls: ({ foreignHook }) => [remove(`/webhooks/${foreignHook}`)],
    ofLine: [404],
  },
  listKeys: { calls: () => [get('/keys')], ofLine: [200] },
  getOwnKey: { calls: () => [get('/keys/self')], ofLine: [200] },
  rotateKey: {
    calls: ({ otherKey }) => [post(`/keys/${otherKey}/rotate`, {})],
    ofLine: [404],
  },
  revokeKey: { calls: ({ otherKey }) => [remove(`/keys/${otherKey}`)], ofLine: [404] },
  deleteBridge: {
    calls: () => [remove('/bridges/brg_00000000000000000000000000')],
    ofLine: [403],
  },
  listAudit: { calls: () => [get('/audit?limit=200')], ofLine: [403] },
  listAlerts: { calls: () => [get('/alerts?limit=200')], ofLine: [200] },
  listAlertChannels: { calls: () => [get('/alerts/channels')], ofLine: [200] },
  listAlertRules: { calls: () => [get('/alerts/rules')], ofLine: [200] },
  listHealthFindings: { calls: () => [get('/health')], ofLine: [200] },
  getLiveness: { calls: () => [{ method: 'GET', path: '/healthz' }], ofLine: [200] },
  getReadiness: { calls: () => [{ method: 'GET', path: '/readyz' }], ofLine: [200] },
  getMetrics: { calls: () => [{ method: 'GET', path: '/metrics' }], ofLine: [404] },
}

/** The statuses for a key that is limited to Anna's conversation, if not each is 403. */
export const OF_CONVERSATION: Readonly<Record<string, readonly number[]>> = {
  bridgeReceive: [401],
  bridgeNext: [401],
  bridgeDone: [401],
  listMessages: [200, 200, 200, 404, 403, 200],
  listConversations: [200, 200, 200],
  listEvents: [200, 200],
  streamEvents: [200],
  uploadAttachment: [201],
  getLiveness: [200],
  getReadiness: [200],
  getMetrics: [404],
}

/** Arguments of each tool of the MCP server. */
export const TOOL_ARGUMENTS: Readonly<Record<string, (world: World) => object>> = {
  list_lines: () => ({}),
  list_conversations: ({ second }) => ({ line_id: second }),
  read_conversation: ({ conversation }) => ({ conversation_id: conversation }),
  search_messages: () => ({ query: 'walnuts' }),
  get_message: ({ received }) => ({ message_id: received }),
  relay_health: () => ({}),
  wait_for_messages: () => ({ after: 'oldest', wait_seconds: 0 }),
  reply: ({ conversation }) => ({ conversation_id: conversation, text }),
  send_message: ({ second }) => ({ to: STRANGER, text, line_id: second }),
  hand_to_person: ({ conversation }) => ({ conversation_id: conversation }),
}
