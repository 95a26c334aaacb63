// Files of a send that lie at an address: fetched from receivers on loopback, over real sockets.

import { expect, test } from 'bun:test'

import { createDownload } from '../../src/webhooks/network.ts'
import { partsWith, resolving, serve } from '../support/post-rig.ts'
import { startRich, type RichRelay } from '../support/rich-relay.ts'
import { TestClock } from '../support/test-clock.ts'
import { PNG } from './attachment-relay.ts'

const MB = 1_024 * 1_024

const MENU = { to: '+12025550147', text: 'Our menu' }

function rowsOf({ db }: RichRelay, table: 'attachments' | 'messages'): readonly unknown[] {
  return db.sqlite.query(`SELECT * FROM ${table}`).all()
}

test('a file at an address is fetched, through a redirect too, and named after its path or as is said', async () => {
  const port = serve(({ url }) => {
    const { pathname } = new URL(url)
    if (pathname === '/a') return Response.redirect('/b', 302)
    if (pathname === '/b') return new Response('the menu')
    return new Response(PNG, { headers: { 'content-type': 'image/x-own' } })
  })
  const address = `http://127.0.0.1:${port}`
  const files = [
    { url: `${address}/c/Men%C3%BC.png?v=1` },
    { url: `${address}/a`, filename: '../menu.txt' },
  ]
  await using relay = await startRich()

  const statuses: number[] = []
  for (const file of files) {
    statuses.push((await relay.send({ ...MENU, attachments: [file] })).status)
  }

  expect(statuses).toEqual([200, 200])
  expect(rowsOf(relay, 'attachments')).toMatchObject([
    {
      filename: 'Menü.png',
      mime_type: 'image/png',
      declared_type: 'image/x-own',
      expires_at: null,
    },
    { filename: 'menu.txt', size: 8 },
  ])
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
  'redirects to a port without a listener': [
    () => Response.redirect('http://127.0.0.1:1/', 302),
    'refuses the connection',
  ],
  'is compressed though that was not asked for': [
    () => new Response(Bun.gzipSync('x'), { headers: { 'content-encoding': 'gzip' } }),
    'encoding gzip',
  ],
}

test('a file that cannot be had from its address is 422, and nothing is accepted', async () => {
  await using relay = await startRich()

  for (const [name, [answer, why]] of Object.entries(REFUSED)) {
    const url = `http://127.0.0.1:${serve(answer)}/menu.pdf`
    const { status, body } = await relay.send({ ...MENU, attachments: [{ url }] })

    expect([name, status, body.error.code]).toEqual([name, 422, 'attachment_fetch_failed'])
    expect([name, body.error.message]).toEqual([name, expect.stringContaining(why)])
    expect(body.error.details).toEqual({ url })
  }
  expect([rowsOf(relay, 'attachments'), rowsOf(relay, 'messages')]).toEqual([[], []])
  expect(relay.device.given).toEqual([])
})

test('a failure that may end by itself says when to try again, and a lasting one does not', async () => {
  await using relay = await startRich()
  const answers = [429, 503, 404].map((status) => () => new Response('no', { status }))
  const urls = [
    ...answers.map((answer) => `http://127.0.0.1:${serve(answer)}/`),
    'http://127.0.0.1:1/',
  ]
  const { key: api, secret } = relay.key ?? {}

  const responses = await Promise.all(
    urls.map((url) =>
      relay.fetch('/api/v1/messages/send', {
        method: 'POST',
        headers: {
          'X-API-Key': `${api}`,
          'X-API-Secret': `${secret}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...MENU, attachments: [{ url }] }),
      }),
    ),
  )

  expect(responses.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
    [422, '60'],
    [422, '60'],
    [422, null],
    [422, '60'],
  ])
})

test('where webhooks may go to public addresses only, so may a fetch, redirects too', async () => {
  const rules = { policy: () => 'public' as const, isOwnListener: () => false }
  const download = createDownload(partsWith({ rules, lookup: resolving('10.0.0.5') }))

  const found = await download('http://files.example/menu.pdf', async () => 'read')

  expect(found).toEqual({ why: 'Its address is none that the relay may call.' })
})

test('an address that drips is given up after 20 seconds', async () => {
  const clock = new TestClock()
  const drop = new Uint8Array([120])
  const port = serve(() => {
    const body = new ReadableStream({
      async pull(controller) {
        await Bun.sleep(5)
        controller.enqueue(drop)
      },
    })
    return new Response(body)
  })
  const download = createDownload(partsWith({ clock }))
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()

  const found = download(`http://127.0.0.1:${port}/`, (response) => {
    begin()
    return response.text()
  })
  await begun
  await clock.advance(20_000)

  expect(await found).toEqual({ why: 'It took more than 20 seconds.', isPassing: true })
})
