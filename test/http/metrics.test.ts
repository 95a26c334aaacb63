// Who may read the metrics.

import { expect, test } from 'bun:test'
import { hostname } from 'node:os'

import { localName } from '../../src/http/hosts.ts'
import { startHttp, type More } from './http-relay.ts'

/** A relay without a public url, which strangers ask without a key. */
const ALONE = { HOOKLINE_PUBLIC_URL: '', HOOKLINE_TRUSTED_PROXIES: '' }
const NO_KEY = { 'x-api-key': '', 'x-api-secret': '' }

const OUTSIDERS: Readonly<Record<string, More>> = {
  'another machine': { address: '192.168.1.9' },
  'a Host that is no loopback name': { headers: { host: localName(hostname()) } },
  'a proxy on this machine': { headers: { 'x-forwarded-for': '198.51.100.7' } },
  'a proxy that says so by Forwarded': { headers: { forwarded: 'for=198.51.100.7' } },
  'a proxy that says so by Via': { headers: { via: '1.1 shop' } },
  'a proxy that tells the scheme only': { headers: { 'x-forwarded-proto': 'https' } },
  'a tunnel': { headers: { 'cf-connecting-ip': '198.51.100.7' } },
  'a wrong key': { address: '192.168.1.9', headers: { 'x-api-key': 'hl_live_wrong' } },
}

test.each([
  ['whoever is not proven to be on this machine', {}, OUTSIDERS],
  ['a trusted proxy that says nothing', { HOOKLINE_TRUSTED_PROXIES: '127.0.0.1' }, { proxy: {} }],
  ['this machine behind a public url', { HOOKLINE_PUBLIC_URL: 'https://shop.example' }, { it: {} }],
] as const)(
  'the metrics do not answer %s, unless the setting opens them',
  async (_who, environment, asking: Readonly<Record<string, More>>) => {
    await using rig = await startHttp({ environment: { ...ALONE, ...environment } })
    const ask = async ([who, { headers, ...more }]: [string, More]) => {
      const response = await rig.call('GET', '/metrics', {
        ...more,
        headers: { ...NO_KEY, ...headers },
      })
      return [who, response.status]
    }
    const names = Object.keys(asking)

    const closed = await Promise.all(Object.entries(asking).map(ask))
    await rig.control('PUT', '/api/v1/settings/open_metrics', { body: { value: 'on' } })
    const open = await Promise.all(Object.entries(asking).map(ask))

    expect(closed).toEqual(names.map((who) => [who, 404]))
    expect(open).toEqual(names.map((who) => [who, 200]))
  },
)

test('the metrics answer this machine, a key and the control socket in the text format of Prometheus', async () => {
  await using rig = await startHttp({ environment: ALONE })
  await rig.call('GET', '/healthz')

  const response = await rig.call('GET', '/metrics', { address: '::1', headers: NO_KEY })
  const byKey = await rig.call('GET', '/metrics', { address: '192.168.1.9' })
  const onSocket = await rig.control('GET', '/metrics')

  expect([response, byKey, onSocket].map(({ status }) => status)).toEqual([200, 200, 200])
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await response.text()).toContain('hookline_http_responses_total{status="200"} 1\n')
})
