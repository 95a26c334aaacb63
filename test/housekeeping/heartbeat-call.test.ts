// The heartbeat's call over real sockets, on loopback.

import { afterAll, expect, test } from 'bun:test'

import { callOut } from '../../src/housekeeping/heartbeat.ts'
import { VERSION } from '../../src/system/version.ts'

const never = new AbortController().signal

const servers: { stop(force: boolean): unknown }[] = []

afterAll(() => {
  for (const server of servers) void server.stop(true)
})

function serve(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}

test('the call is a plain GET of the whole address', async () => {
  let seen: unknown = null
  const base = serve((request) => {
    const { pathname, search } = new URL(request.url)
    seen = [request.method, pathname + search, request.headers.get('user-agent')]
    return new Response('ok')
  })

  const result = await callOut(`${base}/ping/a?status=up`, never)

  expect(result).toEqual({ result: 'answered', statusCode: 200 })
  expect(seen).toEqual(['GET', '/ping/a?status=up', `Hookline/${VERSION}`])
})

test('a redirect is not followed', async () => {
  const paths: string[] = []
  const base = serve((request) => {
    paths.push(new URL(request.url).pathname)
    return new Response(null, { status: 302, headers: { location: '/elsewhere' } })
  })

  const result = await callOut(`${base}/ping`, never)

  expect([result, paths]).toEqual([{ result: 'answered', statusCode: 302 }, ['/ping']])
})

test('of an answer without an end nothing is read', async () => {
  let sent = 0
  const base = serve(() => {
    const body = new ReadableStream({
      async pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
        await new Promise((resolve) => setImmediate(resolve))
        if (sent > 200_000_000) controller.close()
      },
    })
    return new Response(body)
  })

  const result = await callOut(base, never)

  expect(result).toEqual({ result: 'answered', statusCode: 200 })
  expect(sent).toBeLessThan(50_000_000)
})

test('no proxy of the environment comes between', async () => {
  const base = serve(() => new Response('ok'))
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1'

  const result = await callOut(base, never)
  delete process.env['HTTP_PROXY']

  expect(result).toEqual({ result: 'answered', statusCode: 200 })
})

test('where nobody listens the call fails with a code', async () => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  await server.stop(true)

  const result = await callOut(`http://127.0.0.1:${port}/`, never)

  expect(result).toEqual({ result: 'failed', code: 'ECONNREFUSED' })
})

test('a call over the network ends with its signal', async () => {
  const base = serve(() => new Promise<Response>(() => {}))
  const stop = new AbortController()
  const calling = callOut(base, stop.signal)
  await new Promise((resolve) => setImmediate(resolve))

  stop.abort()

  expect(await calling).toEqual({ result: 'failed', code: 'timeout' })
})
