// Who is refused before anything else, and how that is counted. Wrong and missing credentials are in test/spec.

import { expect, test } from 'bun:test'

import { startHttp } from './http-relay.ts'

const REFUSED = {
  error: {
    code: 'unauthorized',
    message: expect.stringMatching(
      /^Invalid or missing API credentials\. X-API-Secret must begin /,
    ),
    details: { reason: 'malformed_secret' },
    doc_url: '/guide/errors#unauthorized',
    request_id: expect.stringMatching(/^req_/),
  },
}

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

test('failures are counted, and logged once a minute for each address, which only a trusted proxy may name', async () => {
  await using rig = await startHttp()
  const fail = (address: string, forwarded = '198.51.100.7') =>
    rig.call('GET', '/api/v1/keys', {
      address,
      headers: { 'x-api-key': 'x', 'x-forwarded-for': forwarded },
    })

  for (let i = 0; i < 3; i += 1) await fail('192.0.2.1')
  await fail('10.0.0.1', '203.0.113.9, 198.51.100.7, 10.0.0.1')
  await rig.clock.advance(60_000)
  await fail('192.0.2.1')

  expect(rig.logged('authentication failed').map(([, fields]) => fields)).toEqual([
    { address: '192.0.2.1', failures: 1 },
    { address: '198.51.100.7', failures: 1 },
    { address: '192.0.2.1', failures: 3 },
  ])
  expect(await rig.metrics()).toContain('hookline_authentication_failures_total 5\n')
})
