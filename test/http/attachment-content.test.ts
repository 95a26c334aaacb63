import { expect, test } from 'bun:test'

import { PNG, startWithFiles } from '../attachments/attachment-relay.ts'

const LIES: readonly (readonly [name: string, bytes: string, says: string, mime: string])[] = [
  ['HTML as PNG', '<html><script>alert(1)</script>', 'image/png', 'text/plain'],
  [
    'SVG with script',
    '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>',
    'image/svg+xml',
    'text/plain',
  ],
  [
    'HTML that says so',
    '<!doctype html><script>alert(1)</script>',
    'text/html',
    'application/octet-stream',
  ],
  [
    'a GIF that is also a script',
    'GIF89a/*\u0001\u0000*/=1;alert(1)',
    'text/javascript',
    'image/gif',
  ],
]

for (const [name, bytes, says, served] of LIES) {
  test(`${name} is kept, and never handed out as a page`, async () => {
    await using relay = await startWithFiles()
    const { status, body } = await relay.upload(bytes, '?filename=x.html', { 'content-type': says })

    const response = await relay.content(body.id)

    expect(status).toBe(201)
    expect(response.headers.get('content-type')).toBe(served)
    expect(response.headers.get('content-disposition')).toStartWith('attachment;')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe('sandbox')
    expect(await response.text()).toBe(bytes)
  })
}

test('a name outside of ASCII comes in both forms', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('x', `?filename=${encodeURIComponent('Menü "1%".pdf')}`)

  const response = await relay.content(body.id)

  expect(response.headers.get('content-disposition')).toBe(
    `attachment; filename="Men_ _1__.pdf"; filename*=UTF-8''Men%C3%BC%20%221%25%22.pdf`,
  )
})

const RANGES: readonly (readonly [
  range: string,
  status: number,
  got: string,
  says: string | null,
])[] = [
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=7-', 206, '789', 'bytes 7-9/10'],
  ['bytes=-2', 206, '89', 'bytes 8-9/10'],
  ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
  ['bytes=0-1,4-5', 200, '0123456789', null],
  ['bytes=5-3', 200, '0123456789', null],
  ['lines=1-2', 200, '0123456789', null],
]

for (const [range, status, got, says] of RANGES) {
  test(`${range} of ten bytes is ${status}`, async () => {
    await using relay = await startWithFiles()
    const { body } = await relay.upload('0123456789')

    const direct = await relay.content(body.id, { headers: { range } })
    const listened = await fetch(`${relay.address()}${body.url}`, {
      headers: { ...relay.credentials, range },
    })

    for (const response of [direct, listened]) {
      expect(response.status).toBe(status)
      expect(response.headers.get('content-range')).toBe(says)
      expect(await response.text()).toBe(got)
    }
    expect(listened.headers.get('content-length')).toBe(String(got.length))
    expect(listened.headers.get('accept-ranges')).toBe('bytes')
  })
}

test('a range behind the end is 416 and says how long the file is', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('0123456789')

  const response = await relay.content(body.id, { headers: { range: 'bytes=10-' } })

  expect(response.status).toBe(416)
  expect(response.headers.get('content-range')).toBe('bytes */10')
  expect(await response.json()).toMatchObject({ error: { code: 'range_not_satisfiable' } })
})

test('a client that has the file gets 304, and a range only of the file that it knows', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('0123456789')
  const etag = (await relay.content(body.id)).headers.get('etag') ?? ''

  const known = await relay.content(body.id, { headers: { 'if-none-match': `"x", ${etag}` } })
  const same = await relay.content(body.id, { headers: { range: 'bytes=0-1', 'if-range': etag } })
  const other = await relay.content(body.id, { headers: { range: 'bytes=0-1', 'if-range': '"x"' } })

  expect(etag).toBe(`"${body.sha256}"`)
  expect([known.status, same.status, other.status]).toEqual([304, 206, 200])
})

test('HEAD says all that GET says, without the bytes', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('0123456789')
  const url = `${relay.address()}${body.url}`
  const headers = relay.credentials

  const head = await fetch(url, { method: 'HEAD', headers })
  const got = await fetch(url, { headers })

  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  for (const name of ['content-length', 'etag', 'content-type', 'content-disposition']) {
    expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)])
  }
  expect(head.headers.get('content-length')).toBe('10')
})

test('without a key there is nothing to get, and an unknown id is 404', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('x')

  const headers = { 'x-api-key': 'x', 'x-api-secret': 'y' }
  const stranger = await relay.content(body.id, { headers })
  const strangersUpload = await relay.upload('x', '', headers)
  const unknown = await relay.content('att_00000000000000000000000000')

  expect([stranger.status, strangersUpload.status, unknown.status]).toEqual([401, 401, 404])
})

test('a link opens one attachment without a key, until it ends', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload(PNG, '?filename=dot.png')
  const other = await relay.upload('other')

  const made = await relay.ask('POST', `/api/v1/attachments/${body.id}/link`, {
    body: { expires_in: 60 },
  })
  const { pathname, origin } = new URL(made.body.url)
  const open = (path: string) =>
    relay.call('GET', path, { headers: { 'x-api-key': '', 'x-api-secret': '' } })
  const path = pathname.replace(/^\/x/, '')
  const opened = await open(path)
  const forged = await open(path.replace(body.id.slice(4), other.body.id.slice(4)))
  const longer = await open(path.replace(/\.([0-9a-z]+)\./, '.zzzzzzzz.'))
  await relay.clock.advance(60_000)
  const late = await open(path)

  expect(made.body.expires_at).toBe('2026-11-21T10:01:00.000Z')
  expect(origin).toBe('https://relay.example.com')
  expect(opened.status).toBe(200)
  expect(Buffer.from(await opened.arrayBuffer())).toEqual(PNG)
  expect(opened.headers.get('content-security-policy')).toBe('sandbox')
  expect([forged.status, longer.status, late.status]).toEqual([404, 404, 404])
})

const BAD_SPANS = [59, 7 * 86_400 + 1, 'x']

for (const span of BAD_SPANS) {
  test(`a link of ${span} seconds is refused`, async () => {
    await using relay = await startWithFiles()
    const { body } = await relay.upload(PNG)

    const { status } = await relay.ask('POST', `/api/v1/attachments/${body.id}/link`, {
      body: { expires_in: span },
    })

    expect(status).toBe(400)
  })
}

test('deleting takes the bytes and leaves what is known', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload(PNG)
  await relay.clock.advance(60_000)

  const removed = await relay.ask('DELETE', `/api/v1/attachments/${body.id}`)
  const again = await relay.ask('DELETE', `/api/v1/attachments/${body.id}`)
  const content = await relay.content(body.id)
  const link = await relay.ask('POST', `/api/v1/attachments/${body.id}/link`, { body: {} })

  expect(removed.body).toEqual({ id: body.id, deleted: true })
  expect(again.status).toBe(200)
  expect(relay.files()).toEqual([])
  expect((await relay.ask('GET', `/api/v1/attachments/${body.id}`)).body.state).toBe('deleted')
  expect([content.status, link.status]).toEqual([410, 410])
  expect(link.error.code).toBe('attachment_gone')
})

test('bytes that another attachment has stay', async () => {
  await using relay = await startWithFiles()
  const [one, two] = [await relay.upload(PNG), await relay.upload(PNG)]
  await relay.clock.advance(60_000)

  await relay.ask('DELETE', `/api/v1/attachments/${one.body.id}`)

  expect((await relay.content(one.body.id)).status).toBe(410)
  expect((await relay.content(two.body.id)).status).toBe(200)
})
