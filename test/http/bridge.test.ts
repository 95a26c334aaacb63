// The routes of bridges: what they ask of the modules behind them, and what they refuse.

import { expect, test } from 'bun:test'

import { listen } from '../../src/http/listener.ts'
import { silentLog } from '../../src/system/log.ts'
import { BRIDGE, BRIDGE_TOKEN, bridgeStandIns } from './bridge-stand-ins.ts'
import { ORIGIN, createRig, issuesIn, type Asked, type More } from './http-rig.ts'

const TOKEN = { authorization: `Bearer ${BRIDGE_TOKEN}` }
const HEARD: Asked = ['bridges.noteCall', BRIDGE.id]
const MESSAGE = { id: 'a', from: '+12025550123', text: 'hello' }
const REPORT = { id: 'msg_a', sent: false }
const LISTED = { data: [BRIDGE], has_more: false, next_cursor: null }

type Story = readonly [
  name: string,
  ask: readonly [method: string, path: string, more?: More],
  status: number,
  body: unknown,
  asked: readonly Asked[],
]

const STORIES: readonly Story[] = [
  [
    'bridges are listed',
    ['GET', '/api/v1/bridges?limit=2'],
    200,
    LISTED,
    [['bridges.list', { limit: 2, cursor: null }]],
  ],
  [
    'a bridge is made',
    ['POST', '/api/v1/bridges', { body: { phone_number: '+12025550147', label: 'Shop' } }],
    201,
    { ...BRIDGE, token: 'hlb_new' },
    [['bridges.create', { number: '+12025550147', label: 'Shop', origin: ORIGIN }]],
  ],
  [
    'a bridge gets another token',
    ['POST', `/api/v1/bridges/${BRIDGE.id}/token`],
    200,
    { id: BRIDGE.id, token: 'hlb_newer' },
    [['bridges.renewToken', BRIDGE.id, ORIGIN]],
  ],
  [
    'a bridge is removed',
    ['DELETE', `/api/v1/bridges/${BRIDGE.id}`],
    200,
    { id: BRIDGE.id, deleted: true },
    [['bridges.remove', BRIDGE.id, ORIGIN]],
  ],
  [
    'a message comes in',
    ['POST', '/bridge/v1/receive', { body: MESSAGE, headers: TOKEN }],
    200,
    { stored: true },
    [HEARD, ['bridge.receive', BRIDGE.id, { ...MESSAGE, at: null }]],
  ],
  [
    'the end of a message is told',
    ['POST', '/bridge/v1/done', { body: REPORT, headers: TOKEN }],
    200,
    { noted: true },
    [HEARD, ['bridge.done', BRIDGE.id, { id: 'msg_a', isSent: false, error: null }]],
  ],
]

for (const [name, [method, path, more], status, body, asked] of STORIES) {
  test(name, async () => {
    const rig = createRig()

    const response = await rig.call(method, path, more)

    expect(response.status).toBe(status)
    expect(await response.json()).toEqual(body)
    expect(rig.asked).toEqual(asked)
  })
}

test('a shortcut that asks may wait for longer than a connection may be silent', async () => {
  const rig = createRig()

  const response = await rig.call('POST', '/bridge/v1/next', { headers: TOKEN })

  expect(await response.json()).toEqual({ message: null })
  expect(rig.asked[1]).toMatchObject(['bridge.next', BRIDGE.id, { waitMs: 25_000 }])
  expect(rig.lifted).toEqual([35])
})

test('fields that are missing, unknown or too long are named', async () => {
  const rig = createRig()
  const ask = (path: string, body: object) => rig.call('POST', path, { body, headers: TOKEN })

  const issues = await Promise.all(
    [
      await ask('/bridge/v1/receive', { from: '', text: 'hello', id: 'x'.repeat(201) }),
      await ask('/bridge/v1/receive', { ...MESSAGE, form: '+12025550123' }),
      await ask('/bridge/v1/done', { id: 'msg_a', sent: 'yes' }),
      await ask('/bridge/v1/next', { wait: 60 }),
    ].map(issuesIn),
  )

  expect(issues.map((each) => each.map(([path]) => path).sort())).toEqual([
    ['from', 'id'],
    ['form'],
    ['sent'],
    ['wait'],
  ])
  expect(rig.asked.every(([name]) => name === 'bridges.noteCall')).toBe(true)
})

test('a body that is too large or no JSON is refused like everywhere', async () => {
  const rig = createRig()
  const ask = (more: More) =>
    rig.call('POST', '/bridge/v1/receive', { ...more, headers: { ...TOKEN, ...more.headers } })

  const large = await ask({ body: { ...MESSAGE, text: 'x'.repeat(300_000) } })
  const form = await ask({ raw: 'a=1', headers: { 'content-type': 'text/plain' } })
  const byGet = await rig.call('GET', '/bridge/v1/next', { headers: TOKEN })

  expect([large.status, form.status, byGet.status]).toEqual([413, 415, 405])
})

for (const [name, authorization] of [
  ['nothing', ''],
  ['another token', `Bearer hlb_${'b'.repeat(43)}`],
  ['a token without its word', BRIDGE_TOKEN],
  ['another scheme', `Basic ${BRIDGE_TOKEN}`],
  ['a token with more behind it', `Bearer ${BRIDGE_TOKEN}x`],
] as const) {
  test(`${name} in Authorization is 401, whatever else the request has`, async () => {
    const rig = createRig()

    const response = await rig.call('POST', '/bridge/v1/receive', {
      body: MESSAGE,
      headers: { authorization },
    })

    expect(response.status).toBe(401)
    expect(rig.asked).toEqual([])
    expect(rig.logged.map(({ message }) => message)).toEqual(['authentication failed'])
  })
}

test('a token in the address is none', async () => {
  const rig = createRig()

  const response = await rig.call('POST', `/bridge/v1/next?token=${BRIDGE_TOKEN}`)

  expect(response.status).toBe(401)
})

test('the control socket has no routes of shortcuts', async () => {
  const rig = createRig()

  const withToken = await rig.control('POST', '/bridge/v1/next', { headers: TOKEN })
  const without = await rig.control('POST', '/bridge/v1/next')

  expect([withToken.status, without.status]).toEqual([404, 404])
})

test('an iPhone reaches the relay under whatever name it has there', async () => {
  const rig = createRig()

  const response = await rig.call('POST', '/bridge/v1/receive', {
    body: MESSAGE,
    headers: { ...TOKEN, host: 'relay.fritz.box:4665' },
  })

  expect(response.status).toBe(200)
})

test('a client that hangs up ends its wait', async () => {
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const standIns = bridgeStandIns((_name, answer) => () => answer)
  const next = async (_key: string, { signal }: { readonly signal: AbortSignal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    over.resolve()
    return { answer: 'nothing' as const }
  }
  const rig = createRig({ ...standIns, bridge: { ...standIns.bridge, next } })
  const listener = listen(rig.http, { hostname: '127.0.0.1', port: 0, log: silentLog })
  const controller = new AbortController()

  const { signal } = controller
  const call = fetch(`${listener.url}/bridge/v1/next`, { method: 'POST', headers: TOKEN, signal })
  await begun.promise
  controller.abort()
  const failed = await call.catch((error: unknown) => error instanceof Error && error.name)
  await over.promise

  expect(failed).toBe('AbortError')
  await listener.stop(0)
})
