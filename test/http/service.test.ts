// The endpoints without keys: liveness, readiness, metrics, the OpenAPI document and its page.

import { expect, test } from 'bun:test'

import { Validator } from '@seriousme/openapi-schema-validator'

import { createRig, type More } from './http-rig.ts'

type Operation = {
  operationId: string
  summary: string
  tags: string[]
  security?: unknown
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>
  parameters: readonly { name: string; schema: { example?: unknown; examples?: unknown } }[]
  requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
}
type Document = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  security: unknown
  components: {
    securitySchemes: Record<string, unknown>
    schemas: Record<string, { properties?: Record<string, { example?: unknown }> }>
  }
}

const ROUTES = `
DELETE /api/v1/bridges/{id} deleteBridge
DELETE /api/v1/keys/{id} revokeKey
DELETE /api/v1/phone-lines/{id} deletePhoneLine
DELETE /api/v1/webhooks/{id} deleteWebhook
GET /api/v1/bridges listBridges
GET /api/v1/conversations listConversations
GET /api/v1/conversations/{id} getConversation
GET /api/v1/health listHealthFindings
GET /api/v1/keys listKeys
GET /api/v1/messages listMessages
GET /api/v1/messages/{id} getMessage
GET /api/v1/phone-lines listPhoneLines
GET /api/v1/webhook-deliveries/{id} getWebhookDelivery
GET /api/v1/webhooks listWebhooks
GET /api/v1/webhooks/{id} getWebhook
GET /api/v1/webhooks/{id}/deliveries listWebhookDeliveries
GET /healthz getLiveness
GET /metrics getMetrics
GET /readyz getReadiness
PATCH /api/v1/conversations/{id} updateConversation
PATCH /api/v1/phone-lines/{id} updatePhoneLine
POST /api/v1/bridges createBridge
POST /api/v1/bridges/{id}/token renewBridgeToken
POST /api/v1/keys createKey
POST /api/v1/messages/send sendMessage
POST /api/v1/messages/{id}/resolve resolveMessage
POST /api/v1/webhook-deliveries/{id}/redeliver redeliverWebhookDelivery
POST /api/v1/webhooks createWebhook
POST /api/v1/webhooks/{id}/replay replayWebhook
POST /api/v1/webhooks/{id}/rotate-secret rotateWebhookSecret
POST /api/v1/webhooks/{id}/test testWebhook
POST /bridge/v1/done bridgeDone
POST /bridge/v1/next bridgeNext
POST /bridge/v1/receive bridgeReceive
PUT /api/v1/webhooks/{id} updateWebhook`

const LINE_ID = 'line_01k5c3qv7yfxn8t2w9r4d6m0ab'

async function readDocument(): Promise<Document> {
  const response = await createRig().call('GET', '/swagger/json')
  return (await response.json()) as Document
}

function operationsOf(document: Document): (readonly [string, Operation])[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      return [`${method.toUpperCase()} ${path}`, operation] as const
    }),
  )
}

test('the OpenAPI document is valid 3.1', async () => {
  const document = await readDocument()

  const verdict = await new Validator().validate(structuredClone(document))

  expect(verdict.errors ?? []).toEqual([])
  expect(verdict.valid).toBe(true)
  expect([document.openapi, document.info.version]).toEqual(['3.1.0', '0.0.0'])
})

test('the document has every route with a readable operation id, and no route besides', async () => {
  const document = await readDocument()

  const routes = operationsOf(document).map(
    ([route, operation]) => `${route} ${operation.operationId}`,
  )

  expect(routes.toSorted()).toEqual(ROUTES.trim().split('\n'))
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

test('bodies are JSON only, and every error has the one shape', async () => {
  const document = await readDocument()

  for (const [route, operation] of operationsOf(document)) {
    expect(operation.summary).not.toBe('')
    const body = Object.keys(operation.requestBody?.content ?? { 'application/json': 1 })
    expect([route, body]).toEqual([route, ['application/json']])
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue
      const schema = answer.content?.['application/json']?.schema
      expect([route, schema]).toEqual([route, { $ref: '#/components/schemas/Error' }])
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
  for (const name of specified) expect(properties[name]?.example).toBeString()
  expect(Object.keys(properties)).toContain('status')
})

test('who tries an operation on the page sends what it needs, and nothing of the other examples', async () => {
  const document = await readDocument()

  const parameters = operationsOf(document).flatMap(([, operation]) => operation.parameters)
  const lineIds = parameters.filter(({ name }) => name === 'phone_line_id')
  const send = document.paths['/api/v1/messages/send']?.['post']?.requestBody

  expect(parameters.filter(({ schema }) => 'example' in schema)).toEqual([])
  expect(lineIds.map(({ schema }) => schema.examples)).toEqual([[LINE_ID], [LINE_ID]])
  expect(send?.content['application/json']?.example).toEqual({
    to: '+12025550147',
    text: 'Your table is ready.',
  })
})

test('the page loads nothing from elsewhere, and its policy forbids it', async () => {
  const rig = createRig()

  const page = await rig.call('GET', '/swagger')
  const html = await page.text()
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
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

test('liveness and readiness need no key', async () => {
  const rig = createRig()
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

/** A relay without a public url, which strangers ask without a key. */
const HOSTS = { hostname: 'relay', publicUrl: null, isOwnAddress: () => true }
const NO_KEY = { 'x-api-key': '', 'x-api-secret': '' }

type Outsider = readonly [who: string, more: More, parts?: Parameters<typeof createRig>[0]]

const OUTSIDERS: readonly Outsider[] = [
  ['another machine', { address: '192.168.1.9' }],
  ['a Host that is no loopback name', { headers: { host: '192.168.1.5' } }],
  ['a proxy on this machine', { headers: { 'x-forwarded-for': '198.51.100.7' } }],
  ['a proxy that says so by Forwarded', { headers: { forwarded: 'for=198.51.100.7' } }],
  ['a proxy that says so by Via', { headers: { via: '1.1 shop' } }],
  ['a proxy that tells the scheme only', { headers: { 'x-forwarded-proto': 'https' } }],
  ['a tunnel', { headers: { 'cf-connecting-ip': '198.51.100.7' } }],
  ['a trusted proxy that says nothing', {}, { isTrustedProxy: (at) => at === '127.0.0.1' }],
  [
    'this machine where a public url tells of a proxy',
    {},
    { hosts: { ...HOSTS, publicUrl: 'https://shop.example' } },
  ],
  ['a wrong key', { address: '192.168.1.9', headers: { 'x-api-key': 'hl_live_wrong' } }],
]

for (const [name, { headers, ...more }, parts] of OUTSIDERS) {
  test(`the metrics do not answer ${name}, unless the setting opens them`, async () => {
    const asking = { ...more, headers: { ...NO_KEY, ...headers } }
    const closed = createRig({ hosts: HOSTS, ...parts })
    const { metrics } = closed
    const life = { phase: () => 'running' as const, isReady: () => true }
    const findings = () => Promise.resolve([])
    const health = { metrics, life, findings, isMetricsOpen: () => true }
    const open = createRig({ hosts: HOSTS, ...parts, health })

    const answers = [
      await closed.call('GET', '/metrics', asking),
      await open.call('GET', '/metrics', asking),
    ]

    expect(answers.map((answer) => answer.status)).toEqual([404, 200])
  })
}

test('the metrics answer this machine in the text format of Prometheus', async () => {
  const rig = createRig({ hosts: HOSTS })
  await rig.call('GET', '/healthz')

  const response = await rig.call('GET', '/metrics', { address: '::1', headers: NO_KEY })

  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await response.text()).toContain('hookline_http_responses_total{status="200"} 1\n')
})

test('the metrics answer a key and the control socket wherever they come from', async () => {
  const rig = createRig({ hosts: { ...HOSTS, publicUrl: 'https://shop.example' } })

  const answers = [
    await rig.call('GET', '/metrics', { address: '192.168.1.9' }),
    await rig.control('GET', '/metrics'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 200])
})
