import { expect, test } from 'bun:test'

import { PNG, startWithFiles } from '../attachments/attachment-relay.ts'

const LIES: readonly (readonly [bytes: string, says: string, served: string])[] = [
  ['<html><script>alert(1)</script>', 'image/png', 'text/plain'],
  ['<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', 'image/svg+xml', 'text/plain'],
  ['<!doctype html><script>alert(1)</script>', 'text/html', 'application/octet-stream'],
  // A GIF that is also a script.
  ['GIF89a/*\u0001\u0000*/=1;alert(1)', 'text/javascript', 'image/gif'],
]

test('what a browser could take for a page or a script is kept, and never handed out as one', async () => {
  await using relay = await startWithFiles()

  for (const [bytes, says, served] of LIES) {
    const { status, body } = await relay.upload(bytes, '?filename=x.html', { 'content-type': says })
    const response = await relay.content(body.id)

    expect(status).toBe(201)
    expect(response.headers.get('content-type')).toBe(served)
    expect(response.headers.get('content-disposition')).toStartWith('attachment;')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toBe('sandbox')
    expect(await response.text()).toBe(bytes)
  }
})

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

test('a range of a file, or its head, is what was asked for, by sockets too; behind the end it is 416', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('0123456789')
  const url = `${relay.address()}${body.url}`

  for (const [range, status, got, says] of RANGES) {
    const direct = await relay.content(body.id, { headers: { range } })
    const listened = await fetch(url, { headers: { ...relay.credentials, range } })

    for (const response of [direct, listened]) {
      expect([range, response.status]).toEqual([range, status])
      expect(response.headers.get('content-range')).toBe(says)
      expect(await response.text()).toBe(got)
    }
    expect(listened.headers.get('content-length')).toBe(String(got.length))
    expect(listened.headers.get('accept-ranges')).toBe('bytes')
  }
  const head = await fetch(url, { method: 'HEAD', headers: relay.credentials })
  const whole = await fetch(url, { headers: relay.credentials })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(head.headers.get('content-length')).toBe('10')
  for (const name of ['content-length', 'etag', 'content-type', 'content-disposition']) {
    expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
  }
  const behind = await relay.content(body.id, { headers: { range: 'bytes=10-' } })
  expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */10'])
  expect(await behind.json()).toMatchObject({ error: { code: 'range_not_satisfiable' } })
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
  const make = (span: unknown) =>
    relay.ask('POST', `/api/v1/attachments/${body.id}/link`, { body: { expires_in: span } })
  const open = (path: string) =>
    relay.call('GET', path, { headers: { 'x-api-key': '', 'x-api-secret': '' } })

  const made = await make(60)
  const refused = [await make(59), await make(7 * 86_400 + 1), await make('x')]
  const { pathname, origin } = new URL(made.body.url)
  const path = pathname.replace(/^\/x/, '')
  const opened = await open(path)
  const forged = await open(path.replace(body.id.slice(4), other.body.id.slice(4)))
  const longer = await open(path.replace(/\.([0-9a-z]+)\./, '.zzzzzzzz.'))
  await relay.clock.advance(60_000)
  const late = await open(path)

  expect(made.body.expires_at).toBe('2026-11-21T10:01:00.000Z')
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(origin).toBe('https://relay.example.com')
  expect(opened.status).toBe(200)
  expect(Buffer.from(await opened.arrayBuffer())).toEqual(PNG)
  expect(opened.headers.get('content-security-policy')).toBe('sandbox')
  expect([forged.status, longer.status, late.status]).toEqual([404, 404, 404])
})

test('deleting takes the bytes, unless another attachment has them too, and leaves what is known', async () => {
  await using relay = await startWithFiles()
  const [{ body: one }, { body: two }] = [await relay.upload(PNG), await relay.upload(PNG)]
  await relay.clock.advance(60_000)
  const remove = (id: string) => relay.ask('DELETE', `/api/v1/attachments/${id}`)

  const removed = await remove(one.id)
  const contents = [await relay.content(one.id), await relay.content(two.id)]
  await remove(two.id)
  const again = await remove(one.id)
  const link = await relay.ask('POST', `/api/v1/attachments/${one.id}/link`, { body: {} })

  expect(removed.body).toEqual({ id: one.id, deleted: true })
  expect(contents.map(({ status }) => status)).toEqual([410, 200])
  expect(again.status).toBe(200)
  expect(relay.files()).toEqual([])
  expect((await relay.ask('GET', `/api/v1/attachments/${one.id}`)).body.state).toBe('deleted')
  expect([link.status, link.error.code]).toEqual([410, 'attachment_gone'])
})
