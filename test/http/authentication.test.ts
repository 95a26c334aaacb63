import { expect, test } from 'bun:test'

import { startHttp } from './http-relay.ts'

const REFUSED = {
  error: { code: 'unauthorized', message: 'Invalid or missing API credentials' },
}

const WRONG: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['without a key', { 'x-api-key': '' }],
  ['without a secret', { 'x-api-secret': '' }],
  ['with a wrong key', { 'x-api-key': 'hl_live_wrong' }],
  ['with a wrong secret', { 'x-api-secret': 'hl_secret_wrong' }],
]

for (const [name, headers] of WRONG) {
  test(`spec 5.3, 7: a call ${name} is 401 with the specified body`, async () => {
    await using rig = await startHttp()

    const response = await rig.call('GET', '/api/v1/messages', { headers })

    expect(response.status).toBe(401)
    expect(await response.json()).toEqual(REFUSED)
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  })
}

test('spec 5.1: a call with neither header is 401', async () => {
  await using rig = await startHttp()
  const request = new Request('http://localhost/api/v1/keys')

  const response = await rig.http.fetch(request, {
    address: '127.0.0.1',
    isControl: false,
    liftTimeout() {},
  })

  expect(response.status).toBe(401)
  expect(await response.json()).toEqual(REFUSED)
})

test('a call with bad credentials learns nothing of routes, bodies or the state of the relay', async () => {
  await using rig = await startHttp({ phase: 'starting' })
  const headers = { 'x-api-secret': 'wrong' }

  const answers = await Promise.all([
    rig.call('GET', '/api/v1', { headers }),
    rig.call('GET', '/api/v1/nowhere', { headers }),
    rig.call('PUT', '/api/v1/keys', { headers }),
    rig.call('OPTIONS', '/api/v1/messages/send', { headers }),
    rig.call('POST', '/api/v1/messages/send', { raw: '{', headers }),
    rig.call('POST', '/api/v1/messages/send', { raw: 'x'.repeat(300_000), headers }),
    rig.call('GET', '/api/v1/messages?limit=nine', { headers }),
  ])

  for (const answer of answers) {
    expect(answer.status).toBe(401)
    expect(await answer.json()).toEqual(REFUSED)
  }
})

test('credentials in the query count for nothing', async () => {
  await using rig = await startHttp()

  const response = await rig.call(
    'GET',
    `/api/v1/keys?${new URLSearchParams(rig.credentials).toString()}`,
    { headers: { 'x-api-key': '', 'x-api-secret': '' } },
  )

  expect(response.status).toBe(401)
})

test('failures are counted, and logged once a minute for each address', async () => {
  await using rig = await startHttp()
  const fail = (address: string) =>
    rig.call('GET', '/api/v1/keys', { address, headers: { 'x-api-key': 'x' } })

  for (let i = 0; i < 3; i += 1) await fail('192.0.2.1')
  await fail('192.0.2.2')
  await rig.clock.advance(60_000)
  await fail('192.0.2.1')

  expect(rig.logged('authentication failed').map(([, fields]) => fields)).toEqual([
    { address: '192.0.2.1', failures: 1 },
    { address: '192.0.2.2', failures: 1 },
    { address: '192.0.2.1', failures: 3 },
  ])
  expect(await rig.metrics()).toContain('hookline_authentication_failures_total 5\n')
})

test('the address behind a proxy is believed only from a trusted one', async () => {
  await using rig = await startHttp()
  const fail = (address: string, forwarded: string) =>
    rig.call('GET', '/api/v1/keys', {
      address,
      headers: { 'x-api-key': 'x', 'x-forwarded-for': forwarded },
    })

  await fail('192.0.2.1', '198.51.100.7')
  await fail('10.0.0.1', '203.0.113.9, 198.51.100.7, 10.0.0.1')

  const addresses = rig.logged('authentication failed').map(([, fields]) => fields['address'])
  expect(addresses).toEqual(['192.0.2.1', '198.51.100.7'])
})

test('the control socket asks for no key', async () => {
  await using rig = await startHttp()

  const response = await rig.control('POST', '/api/v1/keys', { body: { name: 'shop' } })

  expect(response.status).toBe(201)
  expect(await response.json()).toMatchObject({ name: 'shop', created_by: 'cli' })
})
