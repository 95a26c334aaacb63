// Files of a send that lie at an address: fetched from receivers on loopback, over real sockets.

import { expect, test } from 'bun:test'

import { createDownload } from '../../src/webhooks/post.ts'
import { partsWith, resolving, serve } from '../support/post-rig.ts'
import { startRich } from '../support/rich-relay.ts'
import { TestClock } from '../support/test-clock.ts'
import { PNG } from './attachment-relay.ts'

const MB = 1_024 * 1_024

/** Sends a message with the file at an address. */
async function sendUrl(url: string, more: object = {}) {
  await using relay = await startRich()
  const answer = await relay.send({
    to: '+12025550147',
    text: 'Our menu',
    attachments: [{ url, ...more }],
  })
  const rows = relay.db.sqlite.query('SELECT * FROM attachments').all()
  const messages = relay.db.sqlite.query('SELECT * FROM messages').all()
  return { ...answer, rows, messages, given: relay.device.given }
}

test('a file at an address is fetched before the message is accepted, and named after its path', async () => {
  const port = serve(() => new Response(PNG, { headers: { 'content-type': 'image/x-own' } }))

  const { status, rows } = await sendUrl(`http://127.0.0.1:${port}/a/Men%C3%BC.png?v=1`)

  expect(status).toBe(200)
  expect(rows).toMatchObject([
    {
      filename: 'Menü.png',
      mime_type: 'image/png',
      declared_type: 'image/x-own',
      expires_at: null,
    },
  ])
})

test('a redirect is followed, and the name may be given', async () => {
  const port = serve((request) =>
    new URL(request.url).pathname === '/a'
      ? Response.redirect('/b', 302)
      : new Response('the menu'),
  )

  const { status, rows } = await sendUrl(`http://127.0.0.1:${port}/a`, { filename: '../menu.txt' })

  expect(status).toBe(200)
  expect(rows).toMatchObject([{ filename: 'menu.txt', size: 8 }])
})

const REFUSED: Readonly<Record<string, readonly [answer: () => Response, why: string]>> = {
  'answers 404': [() => new Response('no', { status: 404 }), 'It answers 404.'],
  'is empty': [() => new Response(''), 'empty'],
  'has more than 25 MB': [() => new Response(new Uint8Array(25 * MB + 1)), '25 MB'],
  'redirects without end': [() => Response.redirect('/again', 302), 'more than 5 times'],
  'redirects to a metadata service': [
    () => Response.redirect('http://169.254.169.254/latest/meta-data', 302),
    'none that the relay may call',
  ],
  'redirects to a file': [() => Response.redirect('file:///etc/passwd', 302), 'no http or https'],
  'redirects to a door with a password': [
    () => Response.redirect('http://me:secret@127.0.0.1:1/', 302),
    'no http or https',
  ],
  'redirects to a port where nobody listens': [
    () => Response.redirect('http://127.0.0.1:1/', 302),
    'refuses the connection',
  ],
  'is compressed though that was not asked for': [
    () => new Response(Bun.gzipSync('x'), { headers: { 'content-encoding': 'gzip' } }),
    'encoding gzip',
  ],
}

for (const [name, [answer, why]] of Object.entries(REFUSED)) {
  test(`a file whose address ${name} is 422, and nothing is accepted`, async () => {
    const port = serve(answer)
    const url = `http://127.0.0.1:${port}/menu.pdf`

    const { status, body, rows, messages, given } = await sendUrl(url)

    expect([status, body.error.code]).toEqual([422, 'attachment_fetch_failed'])
    expect(body.error.message).toContain(why)
    expect(body.error.details).toEqual({ url })
    expect([rows, messages, given]).toEqual([[], [], []])
  })
}

test('where webhooks may go to public addresses only, so may a fetch, redirects too', async () => {
  const rules = { policy: () => 'public' as const, isOwnListener: () => false }
  const download = createDownload(partsWith({ rules, lookup: resolving('10.0.0.5') }))

  const found = await download('http://files.example/menu.pdf', async () => 'read')

  expect(found).toEqual({ why: 'Its address is none that the relay may call.' })
})

test('an address that drips is given up after 20 seconds', async () => {
  const clock = new TestClock()
  const port = serve(() => {
    const body = new ReadableStream({
      async pull(controller) {
        await Bun.sleep(5)
        controller.enqueue(new Uint8Array([120]))
      },
    })
    return new Response(body)
  })
  const download = createDownload(partsWith({ clock }))

  const found = download(`http://127.0.0.1:${port}/`, (response) => response.text())
  await Bun.sleep(50)
  await clock.advance(20_000)

  expect(await found).toEqual({ why: 'It took more than 20 seconds.' })
})
