// The endpoints without keys: liveness, readiness, the OpenAPI document and its page.

import { expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'

import type { Json } from '../support/test-relay.ts'
import { startHttp } from './http-relay.ts'
import { readDocument as readAny, type DOCUMENTS } from './openapi-document.ts'

const ROUTES: Readonly<Record<string, string>> = {
  '/api/v1/attachments': 'post uploadAttachment',
  '/api/v1/attachments/{id}': 'delete deleteAttachment, get getAttachment',
  '/api/v1/attachments/{id}/content': 'get downloadAttachment',
  '/api/v1/attachments/{id}/link': 'post createAttachmentLink',
  '/api/v1/audit': 'get listAudit',
  '/api/v1/bridges': 'get listBridges, post createBridge',
  '/api/v1/bridges/{id}': 'delete deleteBridge',
  '/api/v1/bridges/{id}/token': 'post renewBridgeToken',
  '/api/v1/contacts': 'get listContacts',
  '/api/v1/contacts/export': 'get exportContacts',
  '/api/v1/contacts/import': 'post importContacts',
  '/api/v1/contacts/{handle}': 'delete deleteContact, get getContact, put putContact',
  '/api/v1/conversations': 'get listConversations',
  '/api/v1/conversations/{id}': 'get getConversation, patch updateConversation',
  '/api/v1/conversations/{id}/export': 'get exportConversation',
  '/api/v1/conversations/{id}/messages': 'post sendInConversation',
  '/api/v1/conversations/{id}/read': 'post markConversationRead',
  '/api/v1/events': 'get listEvents',
  '/api/v1/events/stream': 'get streamEvents',
  '/api/v1/alerts': 'get listAlerts',
  '/api/v1/alerts/channels': 'get listAlertChannels',
  '/api/v1/alerts/rules': 'get listAlertRules',
  '/api/v1/health': 'get listHealthFindings',
  '/api/v1/keys': 'get listKeys, post createKey',
  '/api/v1/keys/self': 'get getOwnKey',
  '/api/v1/keys/{id}': 'delete revokeKey',
  '/api/v1/keys/{id}/rotate': 'post rotateKey',
  '/api/v1/messages': 'get listMessages',
  '/api/v1/messages/send': 'post sendMessage',
  '/api/v1/messages/{id}': 'delete cancelMessage, get getMessage',
  '/api/v1/messages/{id}/approve': 'post approveMessage',
  '/api/v1/messages/{id}/deny': 'post denyMessage',
  '/api/v1/messages/{id}/resolve': 'post resolveMessage',
  '/api/v1/opt-outs': 'get listOptOuts',
  '/api/v1/opt-outs/{handle}': 'delete deleteOptOut, put putOptOut',
  '/api/v1/phone-lines': 'get listPhoneLines',
  '/api/v1/phone-lines/{id}': 'delete deletePhoneLine, patch updatePhoneLine',
  '/api/v1/recipients/{handle}': 'get getRecipient',
  '/api/v1/search': 'get search',
  '/api/v1/simulated/lines/{id}/events': 'post simulateEvent',
  '/api/v1/sites': 'get listSites',
  '/api/v1/sites/{id}': 'get getSite',
  '/api/v1/stats': 'get getStats',
  '/api/v1/timeline': 'get getTimeline',
  '/api/v1/webhook-deliveries/{id}': 'get getWebhookDelivery',
  '/api/v1/webhook-deliveries/{id}/redeliver': 'post redeliverWebhookDelivery',
  '/api/v1/webhooks': 'get listWebhooks, post createWebhook',
  '/api/v1/webhooks/{id}': 'delete deleteWebhook, get getWebhook, put updateWebhook',
  '/api/v1/webhooks/{id}/deliveries': 'get listWebhookDeliveries',
  '/api/v1/webhooks/{id}/replay': 'delete stopReplay, get getReplay, post replayWebhook',
  '/api/v1/webhooks/{id}/retry-failed': 'post retryFailedDeliveries',
  '/api/v1/webhooks/{id}/rotate-secret': 'post rotateWebhookSecret',
  '/api/v1/webhooks/{id}/test': 'post testWebhook',
  '/bridge/v1/done': 'post bridgeDone',
  '/bridge/v1/next': 'post bridgeNext',
  '/bridge/v1/receive': 'post bridgeReceive',
  '/healthz': 'get getLiveness',
  '/metrics': 'get getMetrics',
  '/readyz': 'get getReadiness',
}

const LINE_ID = 'line_01k5c3qv7yfxn8t2w9r4d6m0ab'

const readDocument = (path: (typeof DOCUMENTS)[number] = '/swagger/whole.json'): Promise<Json> =>
  readAny(path)

function operationsOf({ paths }: Json): (readonly [route: string, operation: Json])[] {
  return Object.entries<Json>(paths).flatMap(([path, operations]) =>
    Object.entries<Json>(operations).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  )
}

test('the document has every route with a readable operation id, and no route besides', async () => {
  const document = await readDocument()

  const routes = Object.entries<Json>(document.paths).map(([path, operations]) => {
    const ids = Object.entries<Json>(operations).map(
      ([method, each]) => `${method} ${each.operationId}`,
    )
    return [path, ids.toSorted().join(', ')]
  })

  expect(Object.fromEntries(routes)).toEqual(ROUTES)
})

test('clients are made of a document without what only shortcuts call, and know where the relay is', async () => {
  const [api, whole] = [await readDocument('/swagger/json'), await readDocument()]
  await using rig = await startHttp()
  const ofPublicUrl: Json = await (await rig.call('GET', '/swagger/json')).json()

  const left = Object.keys(whole.paths).filter((path) => !(path in api.paths))

  expect(left).toEqual(['/bridge/v1/receive', '/bridge/v1/next', '/bridge/v1/done'])
  expect(Object.keys(api.components.securitySchemes)).toEqual(['apiKey', 'apiSecret'])
  expect(JSON.stringify(api)).not.toContain('Shortcuts"')
  expect(api.servers).toEqual([{ url: 'http://127.0.0.1:4665' }])
  expect(ofPublicUrl.servers).toEqual([{ url: 'https://relay.example.com/x' }])
  // The page asks the relay that it was loaded from, by the name that the browser knows.
  expect(whole.servers).toEqual([{ url: '/' }])
})

test('spec 5.1: both headers are needed together, but on the service endpoints and by shortcuts', async () => {
  const document = await readDocument()

  const open = operationsOf(document).filter(([, operation]) => operation.security !== undefined)

  expect(document.components.securitySchemes).toEqual({
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    apiSecret: { type: 'apiKey', in: 'header', name: 'X-API-Secret' },
    bridgeToken: { type: 'http', scheme: 'bearer' },
  })
  expect(document.security).toEqual([{ apiKey: [], apiSecret: [] }])
  expect(open.map(([route, { security }]) => [route, security])).toEqual([
    ['GET /healthz', []],
    ['GET /readyz', []],
    ['GET /metrics', []],
    ['POST /bridge/v1/receive', [{ bridgeToken: [] }]],
    ['POST /bridge/v1/next', [{ bridgeToken: [] }]],
    ['POST /bridge/v1/done', [{ bridgeToken: [] }]],
  ])
})

/** Types of the bodies that may be files. */
const FILE_TYPES: Readonly<Record<string, string[]>> = {
  'POST /api/v1/attachments': ['application/octet-stream'],
  'POST /api/v1/contacts/import': ['application/octet-stream'],
  'POST /bridge/v1/receive': ['application/json', 'multipart/form-data'],
}

test('bodies are JSON, but for files, required where something must be said, and every error has the one shape', async () => {
  const document = await readDocument()

  for (const [route, operation] of operationsOf(document)) {
    const body = Object.keys(operation.requestBody?.content ?? { 'application/json': 1 })
    expect([route, body]).toEqual([route, FILE_TYPES[route] ?? ['application/json']])
    for (const [status, answer] of Object.entries<Json>(operation.responses)) {
      if (Number(status) < 400) continue
      const name = answer.$ref?.split('/').at(-1) ?? ''
      const { content } = document.components.responses[name] ?? {}
      const schema = content?.['application/json']?.schema
      expect([route, schema]).toEqual([route, { $ref: '#/components/schemas/ErrorAnswer' }])
    }
    const isShut = route.includes('/v1/')
    expect('401' in operation.responses).toBe(isShut)
  }
  const { paths } = document
  expect(paths['/api/v1/keys'].post.requestBody.required).toBe(false)
  expect(paths['/api/v1/messages/send'].post.requestBody.required).toBe(true)
  expect(paths['/api/v1/webhooks/{id}'].put.requestBody.required).toBe(true)
  expect(paths['/api/v1/webhooks/{id}/test'].post.requestBody).toBeUndefined()
})

test('spec 2.3: the message of the document has the fields of the specification, with examples', async () => {
  const document = await readDocument()

  const properties = document.components.schemas['Message']?.properties ?? {}

  const specified = [
    'id',
    'guid',
    'to',
    'text',
    'service',
    'phone_line_id',
    'phone_number',
    'created_at',
  ]
  for (const name of specified) expect(properties[name]?.examples).toEqual([expect.any(String)])
  expect(Object.keys(properties)).toContain('status')
})

test('who tries an operation on the page sends what it needs, and nothing of the other examples', async () => {
  const document = await readDocument()

  const parameters = operationsOf(document).flatMap(([, operation]) => operation.parameters)
  const lineIds = parameters.filter(({ name }) => name === 'phone_line_id')
  const send = document.paths['/api/v1/messages/send']?.['post']?.requestBody

  expect(parameters.filter(({ schema }) => 'example' in schema)).toEqual([])
  expect(lineIds.map(({ schema }) => schema.examples)).toEqual(lineIds.map(() => [LINE_ID]))
  expect(send?.content['application/json']?.example).toEqual({
    to: '+12025550147',
    text: 'Your table is ready.',
  })
})

test('the page loads nothing from elsewhere, and its policy forbids it', async () => {
  await using rig = await startHttp()

  const page = await rig.call('GET', '/swagger')
  const html = await page.text()
  const files = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(
    (match) => match[1] ?? '',
  )
  const answers = await Promise.all(files.map((file) => rig.call('GET', file)))

  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'",
  )
  expect(files.every((file) => file.startsWith('/swagger/') || file === '/icon.svg')).toBe(true)
  expect(answers.map((answer) => [answer.status, answer.headers.get('content-type')])).toEqual([
    [200, 'image/svg+xml'],
    [200, 'text/css; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
    [200, 'text/css; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
  ])
})

test('a file of the page is compressed, and comes once for as long as it stays the same', async () => {
  await using rig = await startHttp()
  const source = Bun.file(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui.css')))
  const ask = (headers: Readonly<Record<string, string>>) =>
    rig.call('GET', '/swagger/swagger-ui.css', { headers })
  const formOfScript = async (accepted: string) => {
    const headers = { 'accept-encoding': accepted }
    const script = await rig.call('HEAD', '/swagger/swagger-ui-bundle.js', { headers })
    return script.headers.get('content-encoding')
  }

  const plain = await ask({ 'accept-encoding': 'identity' })
  const brotli = await ask({ 'accept-encoding': 'br' })
  const etag = brotli.headers.get('etag') ?? ''
  const again = await ask({ 'accept-encoding': 'br', 'if-none-match': etag })
  const packed = Buffer.from(await brotli.arrayBuffer())

  expect(await plain.text()).toBe(await source.text())
  expect(brotliDecompressSync(packed).toString()).toBe(await source.text())
  expect(packed.length).toBeLessThan(source.size / 3)
  expect(brotli.headers.get('cache-control')).toBe('no-cache')
  expect([again.status, await again.text()]).toEqual([304, ''])
  // The script is too large to go out as it is.
  const forms = await Promise.all(['identity', '', 'br'].map(formOfScript))
  expect(forms).toEqual(['gzip', 'gzip', 'br'])
})

test('a relay whose disk is nearly full is ready, and says that it accepts nothing', async () => {
  const disk = { free: Number.MAX_SAFE_INTEGER }
  await using rig = await startHttp({ parts: { disk: { freeBytes: () => disk.free } } })
  const headers = { 'x-api-key': '', 'x-api-secret': '' }

  const before = await rig.call('GET', '/readyz', { headers })
  disk.free = 0
  await rig.clock.advance(60_000)
  const full = await rig.call('GET', '/readyz', { headers })

  expect([before.status, full.status]).toEqual([200, 200])
  expect(await before.json()).toEqual({ status: 'ready' })
  expect(await full.json()).toEqual({ status: 'ready', storage_full: true })
})
