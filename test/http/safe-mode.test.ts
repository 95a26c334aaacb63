import { expect, test } from 'bun:test'

import { createSafeMode } from '../../src/http/safe-mode.ts'

const MODE = {
  reason: 'The copy is in /data/backups & <elsewhere>.',
  nextStep: 'Run: hookline restore FILE',
  code: 'starting' as const,
}
const WHOLE =
  'The relay is in safe mode and serves nothing. The copy is in /data/backups & <elsewhere>. ' +
  'Run: hookline restore FILE'

type Asking = {
  readonly publicUrl?: string
  readonly trustedProxy?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string | null
}

/** Asks from this machine, or by the control socket where the address is null. */
function ask(path: string, asking: Asking = {}) {
  const { headers = {}, address = '127.0.0.1', publicUrl = null } = asking
  const isTrustedProxy = (proxy: string) => proxy === asking.trustedProxy
  const random = { bytes: (length: number) => new Uint8Array(length), chance: () => 0 }
  const request = new Request(`http://localhost:4665${path}`, {
    headers: { host: 'localhost:4665', ...headers },
  })
  const peer = { address, isControl: address === null, liftTimeout: () => {} }
  const options = { random, hosts: { publicUrl, isTrustedProxy } }
  return createSafeMode(MODE, options).fetch(request, peer)
}

test('every path of the API answers 503 in the one shape, with the reason and the next step', async () => {
  // A browser gets JSON of the API too.
  const asked = { '/api/v1/messages': 'text/html', '/readyz': '*/*', '/swagger/json': '*/*' }

  for (const [path, accept] of Object.entries(asked)) {
    const answer = await ask(path, { headers: { accept } })

    expect(answer.headers.get('content-type')).toBe('application/json')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60'])
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(await answer.json()).toMatchObject({ error: { code: 'starting', message: WHOLE } })
  }
})

test('a browser gets one plain page on every path, and nothing in it is taken for markup', async () => {
  for (const path of ['/', '/swagger', '/anything']) {
    const answer = await ask(path, { headers: { accept: 'text/html,*/*' } })
    const html = await answer.text()

    expect(answer.status).toBe(503)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+='; frame-ancestors 'none'$/,
    )
    expect(html).toContain('/data/backups &amp; &lt;elsewhere&gt;.')
    expect(html).toContain('Run: hookline restore FILE')
  }
})

test('the process is alive, and says on this machine what the matter is', async () => {
  const answers = [await ask('/healthz'), await ask('/healthz', { address: null })]

  for (const answer of answers) {
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      status: 'safe_mode',
      reason: MODE.reason,
      next_step: MODE.nextStep,
    })
  }
})

const OTHERS: readonly (readonly [who: string, asking: Asking])[] = [
  ['another machine', { address: '192.168.1.9' }],
  ['a proxy on this machine', { headers: { 'x-forwarded-for': '198.51.100.7' } }],
  ['a trusted proxy that adds no header', { trustedProxy: '127.0.0.1' }],
  ['whoever came by a public url', { publicUrl: 'https://shop.example' }],
  ['a page whose name was bound to this address', { headers: { host: 'evil.example' } }],
]

test.each(OTHERS)('%s learns no reason and no folder', async (_who, asking) => {
  const page = await ask('/', { ...asking, headers: { accept: 'text/html', ...asking.headers } })
  const answers = [page, await ask('/api/v1/messages', asking), await ask('/healthz', asking)]

  for (const answer of answers) expect(await answer.text()).not.toContain('backups')
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 200])
})
