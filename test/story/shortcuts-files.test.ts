// Files that come to an iPhone whose shortcuts call the relay: a form in place of JSON.

import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'

import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'
import { FRIEND, startBridged } from './shortcuts-relay.ts'

const MB = 1_024 * 1_024

test('a form brings a file with its message, once for each id', async () => {
  await using world = await start()

  const photo = new File(['a picture'], 'IMG_1.HEIC', { type: 'image/heic' })
  const answers = [await world.post({ attachment: photo }), await world.post({ attachment: photo })]

  const [message, ...others] = await world.inbound()
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [200, { stored: true }],
    [200, { stored: true }],
  ])
  expect(others).toEqual([])
  expect([message.handle, message.text]).toEqual([FRIEND, 'look'])
  expect(message.attachments).toMatchObject([
    { filename: 'IMG_1.HEIC', size: 'a picture'.length, state: 'available' },
  ])
  expect(readdirSync(world.folder.file('shortcuts-incoming'))).toEqual([])
})

test('an empty file, or none, is a message without one', async () => {
  await using world = await start()

  const answers = [
    await world.post({ attachment: new File([], '') }),
    await world.post({ id: '2', text: 'and this' }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const messages = await world.inbound()
  expect(messages.map((message) => message.attachments ?? [])).toEqual([[], []])
  expect(existsSync(world.folder.file('shortcuts-incoming'))).toBe(false)
})

test('a file of 25 MB comes in, and a form above that is refused', async () => {
  await using world = await start()

  const whole = await world.post({ attachment: new File([new Uint8Array(25 * MB)], 'a.mov') })
  const more = await world.post({ id: '2', attachment: new File([new Uint8Array(26 * MB)], 'b') })

  expect([whole.status, more.status, more.body.error.code]).toEqual([200, 413, 'payload_too_large'])
  expect((await world.inbound()).map(({ attachments }) => attachments[0].size)).toEqual([25 * MB])
})

const BAD: readonly Readonly<Record<string, string | File>>[] = [
  // A file under another name.
  { photo: new File(['x'], 'a') },
  { attachment: 'not a file' },
  { text: new File(['x'], 'a') },
  { id: '' },
]

test('a form with what is of another kind, or that cannot be read, is 400', async () => {
  await using world = await start()

  const answers = [
    ...(await Promise.all(BAD.map(world.post))),
    await world.send('--x\r\nnothing', 'multipart/form-data; boundary=x'),
  ]

  const invalid = answers.map(() => [400, 'invalid_request'])
  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(invalid)
  expect(await world.inbound()).toEqual([])
})

async function start() {
  const folder = new ScratchFolder()
  const box = await startBridged({ folder: folder.path })
  const { relay, phone } = box
  return {
    folder,
    send: (body: string, type: string) => phone.post('/bridge/v1/receive', body, { type }),
    post: (fields: Readonly<Record<string, string | File>>) =>
      phone.receiveForm({ text: 'look', ...fields }),
    inbound: async (): Promise<readonly Json[]> =>
      (await relay.get('/api/v1/messages?direction=inbound')).data,
    async [Symbol.asyncDispose]() {
      await box[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
