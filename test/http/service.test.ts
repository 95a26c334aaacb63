// The endpoints without keys: liveness, readiness, the OpenAPI document and its page.

import { expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'

import { startHttp } from './http-relay.ts'
import { readDocument as readAny, type DOCUMENTS } from './openapi-document.ts'

type Operation = {
  operationId: string
  summary: string
  tags: string[]
  security?: unknown
  responses: Record<string, { $ref?: string }>
  parameters: readonly { name: string; schema: { example?: unknown; examples?: unknown } }[]
  requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
}
type Document = {
  servers: readonly unknown[]
  paths: Record<string, Record<string, Operation>>
  security: unknown
  components: {
    securitySchemes: Record<string, unknown>
    responses: Record<string, { content?: Record<string, { schema: unknown }> }>
    schemas: Record<string, { properties?: Record<string, { examples?: unknown[] }> }>
  }
}

const ROUTES = `
DELETE /api/v1/attachments/{id} deleteAttachment
DELETE /api/v1/bridges/{id} deleteBridge
DELETE /api/v1/contacts/{handle} deleteContact
DELETE /api/v1/keys/{id} revokeKey
DELETE /api/v1/messages/{id} cancelMessage
DELETE /api/v1/opt-outs/{handle} deleteOptOut
DELETE /api/v1/phone-lines/{id} deletePhoneLine
DELETE /api/v1/webhooks/{id} deleteWebhook
DELETE /api/v1/webhooks/{id}/replay stopReplay
GET /api/v1/attachments/{id} getAttachment
GET /api/v1/attachments/{id}/content downloadAttachment
GET /api/v1/audit listAudit
GET /api/v1/bridges listBridges
GET /api/v1/contacts listContacts
GET /api/v1/contacts/export exportContacts
GET /api/v1/contacts/{handle} getContact
GET /api/v1/conversations listConversations
GET /api/v1/conversations/{id} getConversation
GET /api/v1/conversations/{id}/export exportConversation
GET /api/v1/events listEvents
GET /api/v1/events/stream streamEvents
GET /api/v1/health listHealthFindings
GET /api/v1/keys listKeys
GET /api/v1/keys/self getOwnKey
GET /api/v1/messages listMessages
GET /api/v1/messages/{id} getMessage
GET /api/v1/opt-outs listOptOuts
GET /api/v1/phone-lines listPhoneLines
GET /api/v1/recipients/{handle} getRecipient
GET /api/v1/search search
GET /api/v1/stats getStats
GET /api/v1/webhook-deliveries/{id} getWebhookDelivery
GET /api/v1/webhooks listWebhooks
GET /api/v1/webhooks/{id} getWebhook
GET /api/v1/webhooks/{id}/deliveries listWebhookDeliveries
GET /api/v1/webhooks/{id}/replay getReplay
GET /healthz getLiveness
GET /metrics getMetrics
GET /readyz getReadiness
PATCH /api/v1/conversations/{id} updateConversation
PATCH /api/v1/phone-lines/{id} updatePhoneLine
POST /api/v1/attachments uploadAttachment
POST /api/v1/attachments/{id}/link createAttachmentLink
POST /api/v1/bridges createBridge
POST /api/v1/bridges/{id}/token renewBridgeToken
POST /api/v1/contacts/import importContacts
POST /api/v1/conversations/{id}/messages sendInConversation
POST /api/v1/conversations/{id}/read markConversationRead
POST /api/v1/keys createKey
POST /api/v1/messages/send sendMessage
POST /api/v1/messages/{id}/approve approveMessage
POST /api/v1/messages/{id}/deny denyMessage
POST /api/v1/messages/{id}/resolve resolveMessage
POST /api/v1/simulated/lines/{id}/events simulateEvent
POST /api/v1/webhook-deliveries/{id}/redeliver redeliverWebhookDelivery
POST /api/v1/webhooks createWebhook
POST /api/v1/webhooks/{id}/replay replayWebhook
POST /api/v1/webhooks/{id}/retry-failed retryFailedDeliveries
POST /api/v1/webhooks/{id}/rotate-secret rotateWebhookSecret
POST /api/v1/webhooks/{id}/test testWebhook
POST /bridge/v1/done bridgeDone
POST /bridge/v1/next bridgeNext
POST /bridge/v1/receive bridgeReceive
PUT /api/v1/contacts/{handle} putContact
PUT /api/v1/opt-outs/{handle} putOptOut
PUT /api/v1/webhooks/{id} updateWebhook
`

const LINE_ID = 'line_01k5c3qv7yfxn8t2w9r4d6m0ab'

async function readDocument(
  path: (typeof DOCUMENTS)[number] = '/swagger/whole.json',
): Promise<Document> {
  // The rules of openapi-rules.test.ts keep its shape.
  return (await readAny(path)) as unknown as Document
}

function operationsOf(document: Document): (readonly [string, Operation])[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      return [`${method.toUpperCase()} ${path}`, operation] as const
    }),
  )
}

test('the document has every route with a readable operation id, and no route besides', async () => {
  const document = await readDocument()

  const routes = operationsOf(document).map(
    ([route, operation]) => `${route} ${operation.operationId}`,
  )

  expect(routes.toSorted()).toEqual(ROUTES.trim().split('\n'))
})

test('clients are made of a document without what only shortcuts call, and know where the relay is', async () => {
  const [api, whole] = [await readDocument('/swagger/json'), await readDocument()]

  const left = Object.keys(whole.paths).filter((path) => !(path in api.paths))

  expect(left).toEqual(['/bridge/v1/receive', '/bridge/v1/next', '/bridge/v1/done'])
  expect(Object.keys(api.components.securitySchemes)).toEqual(['apiKey', 'apiSecret'])
  expect(JSON.stringify(api)).not.toContain('Shortcuts"')
  expect(api.servers).toEqual([{ url: 'http://127.0.0.1:4665' }])
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

test('bodies are JSON, but for files, and every error has the one shape', async () => {
  const document = await readDocument()

  for (const [route, operation] of operationsOf(document)) {
    expect(operation.summary).not.toBe('')
    const body = Object.keys(operation.requestBody?.content ?? { 'application/json': 1 })
    expect([route, body]).toEqual([route, FILE_TYPES[route] ?? ['application/json']])
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue
      const name = answer.$ref?.split('/').at(-1) ?? ''
      const { content } = document.components.responses[name] ?? {}
      const schema = content?.['application/json']?.schema
      expect([route, schema]).toEqual([route, { $ref: '#/components/schemas/ErrorAnswer' }])
    }
    const isShut = route.includes('/v1/')
    expect('401' in operation.responses).toBe(isShut)
  }
})

test('a body is required only where it has something that must be said', async () => {
  const document = await readDocument()

  expect(document.paths['/api/v1/keys']?.['post']?.requestBody?.required).toBe(false)
  expect(document.paths['/api/v1/messages/send']?.['post']?.requestBody?.required).toBe(true)
  expect(document.paths['/api/v1/webhooks/{id}']?.['put']?.requestBody?.required).toBe(true)
  expect(document.paths['/api/v1/webhooks/{id}/test']?.['post']?.requestBody).toBeUndefined()
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
  const local = files.filter((file) => file !== 'data:,')
  const answers = await Promise.all(local.map((file) => rig.call('GET', file)))

  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'",
  )
  expect(local.every((file) => file.startsWith('/swagger/'))).toBe(true)
  expect(answers.map((answer) => [answer.status, answer.headers.get('content-type')])).toEqual([
    [200, 'text/css; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
    [200, 'text/javascript; charset=utf-8'],
  ])
})

test('the script of the page is too large to go out as it is', async () => {
  await using rig = await startHttp()
  const ask = (accepted: string) =>
    rig.call('HEAD', '/swagger/swagger-ui-bundle.js', { headers: { 'accept-encoding': accepted } })

  const answers = await Promise.all([ask('identity'), ask(''), ask('br')])

  const forms = answers.map(({ headers }) => headers.get('content-encoding'))
  expect(forms).toEqual(['gzip', 'gzip', 'br'])
})

test('a file of the page is compressed, and comes once for as long as it stays the same', async () => {
  await using rig = await startHttp()
  const path = '/swagger/swagger-ui.css'
  const source = Bun.file(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui.css')))
  const ask = (headers: Readonly<Record<string, string>>) => rig.call('GET', path, { headers })

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
})

test('liveness and readiness need no key', async () => {
  await using rig = await startHttp()
  const headers = { 'x-api-key': '', 'x-api-secret': '' }

  const answers = await Promise.all([
    rig.call('GET', '/healthz', { headers }),
    rig.call('GET', '/readyz', { headers }),
  ])

  expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
    { status: 'ok' },
    { status: 'ready' },
  ])
})

test('a relay whose disk is nearly full is ready, and says that it accepts nothing', async () => {
  await using rig = await startHttp({ parts: { freeBytes: () => 0 } })
  await rig.clock.advance(60_000)

  const ready = await rig.call('GET', '/readyz')

  expect(ready.status).toBe(200)
  expect(await ready.json()).toEqual({ status: 'ready', storage_full: true })
})
