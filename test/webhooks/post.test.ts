// What goes over real sockets goes to loopback; what needs an odd network uses a false resolver.

import { expect, spyOn, test } from 'bun:test'

import type { Lookup } from '../../src/system/network-address.ts'
import { createGet, type PostResult } from '../../src/webhooks/post.ts'
import { SELF_SIGNED } from '../fixtures/self-signed.ts'
import { never, partsWith, postTo, resolving, serve, servers } from '../support/post-rig.ts'
import { TestClock } from '../support/test-clock.ts'

test('what the receiver gets is the body, the headers and the host of the url', async () => {
  let seen: unknown = null
  const port = serve(async (request) => {
    const { headers, method, url } = request
    seen = {
      method,
      path: new URL(url).pathname + new URL(url).search,
      host: headers.get('host'),
      id: headers.get('webhook-id'),
      body: await request.text(),
    }
    return new Response('thanks')
  })

  const result = await postTo(`http://receiver.example:${port}/hook?key=1#part`)

  expect(result).toEqual({
    result: 'answered',
    statusCode: 200,
    excerpt: 'thanks',
    retryAfterSeconds: null,
    isPrivateTarget: true,
  })
  expect(seen).toEqual({
    method: 'POST',
    path: '/hook?key=1',
    host: `receiver.example:${port}`,
    id: 'evt_1',
    body: '{"a":1}',
  })
})

test('a redirect is an answer and is not followed', async () => {
  let hits = 0
  const port = serve(() => {
    hits += 1
    return new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${port}/b` } })
  })

  const result = await postTo(`http://127.0.0.1:${port}/a`)

  expect(result).toMatchObject({ result: 'answered', statusCode: 307, excerpt: null })
  expect(hits).toBe(1)
})

test('a receiver that never answers times out; a stop ends it at once', async () => {
  const clock = new TestClock()
  const { promise: bothCame, resolve: onBoth } = Promise.withResolvers<void>()
  let requests = 0
  const port = serve(() => {
    requests += 1
    if (requests === 2) onBoth()
    return new Promise<Response>(() => {})
  })
  const stop = new AbortController()
  const [slow, stopped] = [
    postTo(`http://127.0.0.1:${port}/`, { clock }),
    postTo(`http://127.0.0.1:${port}/`, { clock }, stop.signal),
  ]
  await bothCame

  stop.abort()
  const early = await stopped
  await clock.advance(10_000)

  expect(early).toEqual({ result: 'aborted' })
  expect(await slow).toEqual({ result: 'failed', error: 'timeout', isPrivateTarget: true })
})

test('a fetch that ignores its signal ends at the deadline all the same, and at a stop', async () => {
  using fetching = spyOn(globalThis, 'fetch')
  fetching.mockImplementation((() => new Promise(() => {})) as unknown as typeof fetch)
  const clock = new TestClock()
  const stop = new AbortController()
  const stopped = postTo('http://127.0.0.1:9/', { clock }, stop.signal)
  const slow = postTo('http://127.0.0.1:9/', { clock })

  stop.abort()
  await clock.advance(10_000)

  expect(await stopped).toEqual({ result: 'aborted' })
  expect(await slow).toEqual({ result: 'failed', error: 'timeout', isPrivateTarget: true })
})

test('a closed port, a cut connection and a port that speaks no TLS are distinguished', async () => {
  const rude = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: (socket) => void socket.end(), data: () => {} },
  })
  const plain = serve(() => new Response())

  expect(await postTo('http://127.0.0.1:1/')).toMatchObject({ error: 'connection_refused' })
  expect(await postTo(`http://127.0.0.1:${rude.port}/`)).toMatchObject({
    error: 'connection_reset',
  })
  expect(await postTo(`https://127.0.0.1:${plain}/`)).toMatchObject({ error: 'tls_error' })
  rude.stop()
})

test('a certificate that nobody vouches for is a tls_error, and nothing is sent', async () => {
  let hits = 0
  const port = serve(() => {
    hits += 1
    return new Response()
  }, SELF_SIGNED)

  expect(await postTo(`https://right.example:${port}/`)).toEqual({
    result: 'failed',
    error: 'tls_error',
    isPrivateTarget: true,
  })
  expect(hits).toBe(0)
})

test('a name is looked up once, and only an address that was judged is connected to', async () => {
  const port = serve(() => new Response('here'))
  let asked = 0
  // The second answer would be the trap of a name that rebinds.
  const lookup: Lookup = async () => {
    asked += 1
    return { answer: 'addresses', addresses: [asked === 1 ? '127.0.0.1' : '169.254.169.254'] }
  }

  const result = await postTo(`http://rebinds.example:${port}/`, { lookup })

  expect(result).toMatchObject({ result: 'answered', excerpt: 'here' })
  expect(asked).toBe(1)
})

test('of several addresses the forbidden are left out, and one allowed opens no other', async () => {
  const port = serve(() => new Response('here'))
  const forbidden = resolving('169.254.169.254', 'fe80::1')
  const mixed = resolving('169.254.169.254', '127.0.0.1')

  expect(await postTo(`http://name.example:${port}/`, { lookup: forbidden })).toEqual({
    result: 'failed',
    error: 'forbidden_target',
    isPrivateTarget: true,
  })
  expect(await postTo(`http://name.example:${port}/`, { lookup: mixed })).toMatchObject({
    excerpt: 'here',
  })
})

test('an address that refuses is followed by the next one of the same name', async () => {
  const port = serve(() => new Response('here'))

  const result = await postTo(`http://name.example:${port}/`, {
    lookup: resolving('::1', '127.0.0.1'),
  })

  expect(result).toMatchObject({ result: 'answered', excerpt: 'here' })
})

test('the policy `public` and the own listener are asked at each post', async () => {
  let hits = 0
  const port = serve(() => {
    hits += 1
    return new Response()
  })
  const closed = { policy: () => 'public' as const, isOwnListener: () => false }
  const own = { policy: () => 'any-private' as const, isOwnListener: () => true }

  for (const rules of [closed, own]) {
    expect(await postTo(`http://127.0.0.1:${port}/`, { rules })).toMatchObject({
      error: 'forbidden_target',
    })
    expect(await postTo(`http://localhost:${port}/`, { rules })).toMatchObject({
      error: 'forbidden_target',
    })
  }
  expect(hits).toBe(0)
})

test('a name that does not exist is a failed attempt, a resolver out of reach an own outage', async () => {
  const unknown: Lookup = async () => ({ answer: 'no_such_name' })
  const cutOff: Lookup = async () => ({ answer: 'out_of_reach' })

  expect(await postTo('http://gone.example/', { lookup: unknown })).toEqual({
    result: 'failed',
    error: 'dns_error',
    isPrivateTarget: false,
  })
  expect(await postTo('http://gone.example/', { lookup: cutOff })).toEqual({
    result: 'unreachable',
  })
})

test('a look-up that hangs is a time-out', async () => {
  const clock = new TestClock()
  const posted = postTo('http://slow.example/', { clock, lookup: () => new Promise(() => {}) })

  await clock.advance(10_000)

  expect(await posted).toMatchObject({ result: 'failed', error: 'timeout' })
})

test('Retry-After is read in seconds and as a date', async () => {
  const headers = [
    { 'retry-after': '120' },
    { 'retry-after': 'Sat, 21 Nov 2026 10:02:00 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
    { 'retry-after': 'soon' },
    { 'retry-after': '-5' },
  ]
  const results: PostResult[] = []
  for (const given of headers) {
    const port = serve(() => new Response(null, { status: 503, headers: given }))
    results.push(await postTo(`http://127.0.0.1:${port}/`))
  }

  const seconds = results.map((told) => (told.result === 'answered' ? told.retryAfterSeconds : -1))
  expect(seconds).toEqual([120, 120, null, null])
})

test('proxies of the environment are ignored', async () => {
  const port = serve(() => new Response('direct'))
  const before = process.env['HTTP_PROXY']
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1'

  const result = await postTo(`http://127.0.0.1:${port}/`)

  if (before === undefined) delete process.env['HTTP_PROXY']
  else process.env['HTTP_PROXY'] = before
  expect(result).toMatchObject({ result: 'answered', excerpt: 'direct' })
})

test('a call by GET has no body, and goes by the same rules', async () => {
  const seen: unknown[] = []
  const port = serve(async (request) => {
    const { method, url, headers } = request
    seen.push([method, new URL(url).pathname, headers.get('host'), await request.text()])
    return new Response(null, { status: 302, headers: { location: '/elsewhere' } })
  })
  const get = createGet(partsWith({}))
  const getFrom = (url: string) => get({ url, headers: {} }, never)

  expect(await getFrom(`http://monitor.example:${port}/ping?key=1`)).toMatchObject({
    result: 'answered',
    statusCode: 302,
  })
  expect(await getFrom('http://169.254.169.254/latest/meta-data')).toMatchObject({
    error: 'forbidden_target',
  })
  expect(seen).toEqual([['GET', '/ping', `monitor.example:${port}`, '']])
})

test('of a huge answer the first KiB is read, and the rest is canceled', async () => {
  using fetching = spyOn(globalThis, 'fetch')
  const read = { chunks: 0, isCanceled: false }
  const source = {
    pull(controller: ReadableStreamDefaultController) {
      read.chunks += 1
      controller.enqueue(new Uint8Array(600).fill(120))
    },
    cancel: () => void (read.isCanceled = true),
  }
  fetching.mockResolvedValue(new Response(new ReadableStream(source, { highWaterMark: 0 })))

  const result = await postTo('http://127.0.0.1:9/')

  expect(result).toMatchObject({ result: 'answered', excerpt: 'x'.repeat(1_024) })
  expect(read).toEqual({ chunks: 2, isCanceled: true })
})

test('an answer without end is let go of, however short it says it is', async () => {
  const lengths = ['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked']
  const receivers = [...lengths, ...lengths].map(endless)

  const results = await Promise.all(
    receivers.map(({ port }) => postTo(`http://127.0.0.1:${port}/`)),
  )

  const answer = { result: 'answered', statusCode: 200, excerpt: 'x'.repeat(1_024) }
  expect(results).toMatchObject([answer, answer, answer, answer])
  await Promise.all(receivers.map(({ closed }) => closed))
})

test('headers without end break the exchange off', async () => {
  const { port } = endless('X-More: '.padEnd(10_000_000, 'x'))

  expect(await postTo(`http://127.0.0.1:${port}/`)).toMatchObject({ error: 'network_error' })
})

test('an answer that is packed stays packed, however much it would unpack to', async () => {
  const bombs = [10_000_000, 500_000].map((length) => Bun.gzipSync(new Uint8Array(length)))

  expect(bombs.map(({ length }) => length > 1_024)).toEqual([true, false])
  for (const bomb of bombs) {
    const port = serve(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }))

    const result = await postTo(`http://127.0.0.1:${port}/`)

    const excerpt = new TextDecoder().decode(bomb.subarray(0, 1_024)).replaceAll('\0', '\uFFFD')
    expect(result).toMatchObject({ result: 'answered', statusCode: 200, excerpt })
  }
})

/** Heads of answers that are followed by bytes without end, and the excerpt; null if nothing is taken from them. */
const HEADS: readonly (readonly [head: string, excerpt: number | null])[] = [
  ['Content-Length: 5', 5],
  ['Content-Length: 1024', 1_024],
  ['Content-Length: 1025', 1_024],
  ['Content-Length: 00000000000000005', 5],
  ['Content-Length: 5\r\nTransfer-Encoding:', 5],
  ['Content-Length: 5\r\nContent-Length: 99999999', null],
  ['Content-Length: 99999999\r\nContent-Length: 5', null],
  ['Content-Length: 5\r\nTransfer-Encoding : chunked', null],
  ['Content-Length: +5', null],
  ['Content-Length: 18446744073709551621', null],
]

test.each(HEADS)(
  'of an answer with %j no more is read than its length and 1 KiB',
  async (head, length) => {
    const { port } = endless(head)

    const result = await postTo(`http://127.0.0.1:${port}/`)

    expect(result).toMatchObject(
      length === null
        ? { result: 'failed' }
        : { result: 'answered', excerpt: `10000\r\n${'x'.repeat(2_000)}`.slice(0, length) },
    )
  },
)

/** A receiver that answers with `headers`, and then with chunks until its connection is `closed`. */
function endless(headers: string): { readonly port: number; readonly closed: Promise<void> } {
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>()
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)
  const bytes = (head: string) => Buffer.concat([Buffer.from(head), chunk])
  const send = (socket: Bun.Socket<Buffer>) => {
    for (;;) {
      const written = Math.max(socket.write(socket.data), 0)
      if (written < socket.data.length) {
        socket.data = socket.data.subarray(written)
        return
      }
      socket.data = chunk
    }
  }
  const listener = Bun.listen<Buffer>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = bytes(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`)
      },
      data: send,
      drain: send,
      close: () => onClose(),
    },
  })
  servers.push(listener)
  return { port: listener.port, closed }
}
