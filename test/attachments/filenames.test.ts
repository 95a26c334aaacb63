// Names of files that a caller sends by their address, or uploads without one.

import { expect, test } from 'bun:test'

import { serve } from '../support/post-rig.ts'
import { startRich } from '../support/rich-relay.ts'
import { PNG, startWithFiles } from './attachment-relay.ts'

const PDF = '%PDF-1.4\n%EOF'

const ANSWERS: readonly (readonly [
  path: string,
  disposition: string | null,
  body: string | Uint8Array<ArrayBuffer>,
  name: string,
])[] = [
  [
    '/f/x',
    `attachment; filename="rates.png"; filename*=UTF-8''%E2%82%AC%20rates.png`,
    PNG,
    '€ rates.png',
  ],
  ['/latin', `inline; filename*=iso-8859-1'de'Men%FC.pdf`, PDF, 'Menü.pdf'],
  ['/cd2', 'attachment; filename=menu.pdf', PDF, 'menu.pdf'],
  ['/quoted', String.raw`attachment; filename="a \"b\"; c.pdf"`, PDF, 'a "b"; c.pdf'],
  ['/bad', `attachment; filename*=UTF-8''%E2%82.pdf`, PDF, 'â.pdf'],
  ['/out', 'attachment; filename="../../etc/passwd"', 'text', 'passwd.txt'],
  ['/d/3fa9?sig=1.2', null, PNG, '3fa9.png'],
  ['/d/report%203.5', 'attachment', PDF, 'report 3.5.pdf'],
  ['/photo.php', null, PNG, 'photo.php'],
  ['/', null, PNG, 'attachment.png'],
  ['/blob', null, new Uint8Array([0, 1, 2]), 'blob'],
]

test('a file by its address has the name that its answer says, else that of the address, with the ending of its type', async () => {
  const answers = new Map(ANSWERS.map((row) => [row[0], row]))
  const port = serve(({ url }) => {
    const { pathname, search } = new URL(url)
    const [, disposition = null, body = ''] = answers.get(pathname + search) ?? []
    return new Response(body, {
      headers: disposition === null ? {} : { 'content-disposition': disposition },
    })
  })
  await using relay = await startRich()

  for (const [path, , , name] of ANSWERS) {
    const attachments = [{ url: `http://127.0.0.1:${port}${path}` }]
    const { body } = await relay.send({ to: '+12025550147', text: path, attachments })
    const message = await relay.message(body.id ?? body.message_id)

    expect([path, message.attachments?.[0]?.filename]).toEqual([path, name])
  }
})

test('an upload without a name is named by its type, and a given name stays as it is', async () => {
  await using relay = await startWithFiles()

  const unnamed = await relay.upload(PNG)
  const named = await relay.upload(PNG, '?filename=menu')

  expect([unnamed.body.filename, named.body.filename]).toEqual(['attachment.png', 'menu'])
})
