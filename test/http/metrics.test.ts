// Who may read the metrics.

import { expect, test } from 'bun:test'

import { createRig, type More } from './http-rig.ts'

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
    const isStorageFull = () => false
    const life = { phase: () => 'running' as const, isReady: () => true, isStorageFull }
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
