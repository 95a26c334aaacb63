// Answers of receivers that say too much.

import { expect, test } from 'bun:test'

import { postTo, serve, servers } from '../support/post-rig.ts'

test('of a huge answer the first KiB is kept and the rest is not read', async () => {
  let sent = 0
  const port = serve(() => {
    const body = new ReadableStream({
      async pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(120))
        await new Promise((resolve) => setImmediate(resolve))
        if (sent > 200_000_000) controller.close()
      },
    })
    return new Response(body)
  })

  const result = await postTo(`http://127.0.0.1:${port}/`)

  expect(result).toMatchObject({ result: 'answered', excerpt: 'x'.repeat(1_024) })
  expect(sent).toBeLessThan(100_000_000)
})

test('an answer without end is let go of, however short it says it is', async () => {
  const lengths = ['Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked']
  const receivers = [...lengths, ...lengths].map(endless)
  const before = process.memoryUsage.rss()

  const results = await Promise.all(
    receivers.map(({ port }) => postTo(`http://127.0.0.1:${port}/`)),
  )

  const answer = { result: 'answered', statusCode: 200, excerpt: 'x'.repeat(1_024) }
  expect(results).toMatchObject([answer, answer, answer, answer])
  expect(process.memoryUsage.rss() - before).toBeLessThan(10 * 1_048_576)
})

test('headers without end break the exchange off', async () => {
  const { port } = endless('X-More: '.padEnd(10_000_000, 'x'))

  expect(await postTo(`http://127.0.0.1:${port}/`)).toMatchObject({ error: 'network_error' })
})

test('an answer that is packed stays packed, however much it would unpack to', async () => {
  const bomb = Bun.gzipSync(new Uint8Array(10_000_000))
  const port = serve(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }))

  const result = await postTo(`http://127.0.0.1:${port}/`)

  expect(result).toMatchObject({ result: 'answered', statusCode: 200 })
})

/** A receiver that answers with `headers`, and then with chunks for as long as somebody reads. */
function endless(headers: string): { readonly port: number } {
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
    },
  })
  servers.push(listener)
  return listener
}
