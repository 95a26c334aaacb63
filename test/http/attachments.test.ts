import { expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'

import { PNG, startWithFiles } from '../attachments/attachment-relay.ts'
import { eventually } from '../support/eventually.ts'
import { testNeeding } from '../support/needs.ts'
import { canMountDisk, SmallDisk } from '../support/small-disk.ts'

const HASH = '6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0'

test('an upload is typed by its own bytes, and stored once under its hash', async () => {
  await using relay = await startWithFiles()

  const { status, body } = await relay.upload(PNG, '?filename=dot.png', {
    'content-type': 'text/html',
  })
  const others = await Promise.all([relay.upload(PNG), relay.upload(PNG)])

  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.stringMatching(/^att_[0-9a-z]{26}$/),
    filename: 'dot.png',
    mime_type: 'image/png',
    declared_type: 'text/html',
    size: PNG.length,
    sha256: HASH,
    width: 1,
    height: 1,
    duration_ms: null,
    direction: 'outbound',
    state: 'available',
    message_id: null,
    url: `/api/v1/attachments/${body.id}/content`,
    variants: expect.arrayContaining(['original']),
    created_at: '2026-11-21T10:00:00.000Z',
    expires_at: '2026-11-22T10:00:00.000Z',
  })
  const path = `${relay.folder.path}/attachments/6b/${HASH}`
  expect(readFileSync(path)).toEqual(PNG)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(new Set([body.id, ...others.map((other) => other.body.id)]).size).toBe(3)
  expect(relay.files()).toEqual([HASH])
  expect(await relay.ask('GET', `/api/v1/attachments/${body.id}`)).toMatchObject({ body })
})

test('a retry under an Idempotency-Key gets the same attachment, and anything else a conflict', async () => {
  await using relay = await startWithFiles()
  const key = { 'idempotency-key': 'menu' }

  const first = await relay.upload(PNG, '', key)
  const again = await relay.upload(PNG, '', key)
  const others = [
    await relay.upload('other', '', key),
    await relay.upload(PNG, '?filename=other.png', key),
    await relay.upload(PNG, '', { ...key, 'content-type': 'image/gif' }),
  ]

  expect(again.body).toEqual(first.body)
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  expect(others.map(({ status, error }) => [status, error.code])).toEqual(
    others.map(() => [409, 'idempotency_conflict']),
  )
})

function form(...parts: readonly (readonly [head: string, content: string])[]): string {
  const fields = parts.map(
    ([head, content]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`,
  )
  return `${fields.join('')}--b--\r\n`
}

const FORM = { 'content-type': 'multipart/form-data; boundary=b' }

test('a form as browsers and programs write it brings its file with its name', async () => {
  await using relay = await startWithFiles()
  const data = new FormData()
  const big = new Uint8Array(300_000).map((_, i) => (i * 31) & 0xff)
  data.append('file', new Blob([big], { type: 'video/mp4' }), 'Ferien "am" Meer.mp4')
  const request = new Request('http://localhost', { method: 'POST', body: data })
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }

  const { status, body } = await relay.upload(
    new Uint8Array(await request.arrayBuffer()),
    '',
    headers,
  )

  expect(status).toBe(201)
  expect(body).toMatchObject({
    filename: 'Ferien "am" Meer.mp4',
    size: big.length,
    declared_type: 'video/mp4',
    mime_type: 'application/octet-stream',
  })
  const content = await relay.content(body.id)
  expect(new Uint8Array(await content.arrayBuffer())).toEqual(big)
})

const BAD_FORMS = {
  'of another field': form(['name="photo"; filename="a"', 'x']),
  'of two fields': form(['name="file"; filename="a"', 'x'], ['name="text"', 'y']),
  'without an end': form(['name="file"; filename="a"', 'x']).slice(0, -8),
  'without a boundary': 'x',
  'of an empty file': form(['name="file"; filename="a"', '']),
}

const MB = 1_024 * 1_024

test('a file over the limit is 413: by what it announces, and by what it has', async () => {
  await using relay = await startWithFiles()
  await relay.set('attachment_max_mb', '1')

  const announced = await relay.upload('x', '', { 'content-length': String(2_048 * MB) })
  const long = await relay.upload(new Uint8Array(MB + 1))
  const fits = await relay.upload(new Uint8Array(MB))

  expect([announced.status, announced.error.code]).toEqual([413, 'payload_too_large'])
  expect([long.status, long.error.code]).toEqual([413, 'payload_too_large'])
  expect(long.error.details).toEqual({ max_bytes: MB })
  expect(fits.status).toBe(201)
  expect(relay.files()).toEqual([fits.body.sha256])
})

test('a form that is not one file, an empty file, and one of another length than announced are 400', async () => {
  await using relay = await startWithFiles()
  const refused = {
    'an empty file': await relay.upload(''),
    'a short one': await relay.upload('abc', '', { 'content-length': '5' }),
    'a long one': await relay.upload('abcdef', '', { 'content-length': '5' }),
  }
  const forms = Object.entries(BAD_FORMS).map(async ([name, raw]) => {
    return [name, await relay.upload(raw, '', FORM)] as const
  })

  for (const [name, { status, error }] of [
    ...Object.entries(refused),
    ...(await Promise.all(forms)),
  ]) {
    expect([name, status, error.code]).toEqual([name, 400, 'invalid_request'])
  }
  expect(relay.files()).toEqual([])
})

test('an upload that is cut in the middle leaves nothing, whether its length was announced or not', async () => {
  await using relay = await startWithFiles()
  const port = Number(new URL(relay.address()).port)
  const credentials = Object.entries(relay.credentials).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head = `POST /api/v1/attachments HTTP/1.1\r\nHost: localhost\r\n${credentials.join('')}`
  await relay.set('attachment_max_mb', '2048')
  const uploads = [
    `Content-Length: ${2_048 * MB - 1}\r\n\r\n${'x'.repeat(MB)}`,
    'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
  ]

  for (const upload of uploads) {
    const socket = connect(port, '127.0.0.1', () => socket.write(head + upload))
    socket.on('error', () => {})
    await eventually('the file is begun', () => (relay.files().length === 1 ? true : null))
    socket.destroy()
    await eventually('the file is gone', () => (relay.files().length === 0 ? true : null))
  }

  const rows = relay.db.sqlite.query('SELECT * FROM attachments').all()
  expect(rows).toEqual([])
})

test('where the room for attachments is full, an upload is 503 and a finding says so', async () => {
  await using relay = await startWithFiles()
  await relay.set('attachment_quota_gb', '1')
  relay.occupy(1_024 * MB - 10)

  const announced = await relay.upload('more than ten bytes')
  const streamed = await relay.upload('more than ten bytes', '', { 'content-length': '' })
  const small = await relay.upload('ten bytes.')
  const { body } = await relay.ask('GET', '/api/v1/health')

  for (const { status, error } of [announced, streamed]) {
    expect([status, error.code]).toEqual([503, 'storage_full'])
    expect(error.details).toEqual({ limit: 'attachment_quota' })
  }
  expect(small.status).toBe(201)
  expect(relay.files()).toHaveLength(2)
  expect(body.data).toContainEqual(
    expect.objectContaining({ code: 'attachment_quota', severity: 'error' }),
  )
})

test('the finding comes at nine tenths of the room', async () => {
  await using relay = await startWithFiles()
  await relay.set('attachment_quota_gb', '1')
  relay.occupy(921 * MB)
  const before = await relay.ask('GET', '/api/v1/health')

  await relay.upload(new Uint8Array(MB))
  const { body } = await relay.ask('GET', '/api/v1/health')

  expect(before.body.data).toEqual([])
  expect(body.data).toMatchObject([{ code: 'attachment_quota', severity: 'warning' }])
})

testNeeding('root on Linux, to mount a disk', canMountDisk())(
  'a disk that is full half-way is 503, and nothing is kept',
  async () => {
    await using relay = await startWithFiles()
    await relay.upload('first')
    using disk = new SmallDisk(`${relay.folder.path}/attachments`)
    disk.leave(2 * MB)

    const { status, error } = await relay.upload(new Uint8Array(5 * MB))
    const during = relay.files()
    disk.clear()
    const again = await relay.upload(new Uint8Array(5 * MB))

    expect([status, error.code]).toEqual([503, 'storage_full'])
    expect(during).toHaveLength(1)
    expect(relay.db.sqlite.query('SELECT * FROM attachments').all()).toHaveLength(2)
    expect(again.status).toBe(201)
  },
)

const NAMES: readonly (readonly [given: string, kept: string])[] = [
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\me\\menu.pdf', 'menu.pdf'],
  ['a\u0000b\r\nc.txt', 'abc.txt'],
  ['photo\u202Egpj.exe', 'photogpj.exe'],
  ['..', 'attachment.txt'],
  ['', 'attachment.txt'],
  [`${'ä'.repeat(200)}.jpeg`, `${'ä'.repeat(125)}.jpeg`],
  ['x'.repeat(300), 'x'.repeat(255)],
  ['日本語.pdf', '日本語.pdf'],
]

test('a file keeps of its name what can do no harm', async () => {
  await using relay = await startWithFiles()

  for (const [given, kept] of NAMES) {
    const { body } = await relay.upload('x', `?filename=${encodeURIComponent(given)}`)

    expect([given, body.filename]).toEqual([given, kept])
  }
})
