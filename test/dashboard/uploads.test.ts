// Files that are attached to a message, against an upload that the test answers.

import { expect, test } from 'bun:test'

import type { Attachment } from '../../src/api/attachments.ts'
import type { AnyCall, Answer, UploadOptions } from '../../src/dashboard/api.ts'
import { FILES_MAX, Uploads } from '../../src/dashboard/uploads.ts'
import { UNREACHABLE, ok } from './page-rig.ts'
import { attachment } from './samples.ts'

const TOO_LARGE = { ...UNREACHABLE, code: 'payload_too_large', status: 413 }

test('each file is uploaded under its name, with its progress', async () => {
  const { uploads, started } = rig()

  uploads.add([file('menu & wine.pdf')])
  started[0]?.options.onProgress(0.4)

  expect(started[0]?.name).toBe('menu & wine.pdf')
  expect(uploads.now.value).toMatchObject([{ name: 'menu & wine.pdf', size: 4, progress: 0.4 }])
  expect(uploads.isComplete).toBe(false)
})

test('files are sent in the order in which they were attached, whichever is uploaded first', async () => {
  const { uploads, started, answer } = rig()

  uploads.add([file('a'), file('b')])
  await answer(1, ok(attachment({ id: 'att_b' })))
  const halfway = uploads.isComplete
  await answer(0, ok(attachment({ id: 'att_a' })))

  expect(started).toHaveLength(2)
  expect(halfway).toBe(false)
  expect(uploads.isComplete).toBe(true)
  expect(uploads.ids).toEqual(['att_a', 'att_b'])
})

test('an error stands beside its file, and holds the message back until it is gone', async () => {
  const { uploads, answer } = rig()

  uploads.add([file('a'), file('b')])
  await answer(0, { ok: false, failure: TOO_LARGE })
  await answer(1, ok(attachment({ id: 'att_b' })))
  const [failed] = uploads.now.value
  const before = uploads.isComplete
  uploads.remove(failed?.key ?? 0)

  expect(failed?.failure).toEqual(TOO_LARGE)
  expect(before).toBe(false)
  expect(uploads.isComplete).toBe(true)
  expect(uploads.ids).toEqual(['att_b'])
})

test('a file whose upload failed is uploaded again when asked', async () => {
  const { uploads, started, answer } = rig()

  uploads.add([file('a')])
  await answer(0, { ok: false, failure: UNREACHABLE })
  uploads.retry(uploads.now.value[0]?.key ?? 0)
  await answer(1, ok(attachment({ id: 'att_a' })))

  expect(started).toHaveLength(2)
  expect(uploads.ids).toEqual(['att_a'])
})

test('two are uploaded at a time, and one that is done or removed makes room for the next', async () => {
  const { uploads, started, answer } = rig()

  uploads.add(['a', 'b', 'c', 'd'].map(file))
  const counts = [started.length]
  uploads.remove(uploads.now.value[0]?.key ?? 0)
  counts.push(started.length)
  await answer(1, ok(attachment()))
  counts.push(started.length)

  expect(started[0]?.options.signal.aborted).toBe(true)
  expect(counts).toEqual([2, 3, 4])
  expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
})

test('no more files are taken than a message can have', () => {
  const { uploads } = rig()

  uploads.add(Array.from({ length: FILES_MAX + 2 }, (_, index) => file(`${index}`)))

  expect(uploads.now.value).toHaveLength(FILES_MAX)
  expect(uploads.refusal.value).toBe('A message can have 10 attachments at most.')
})

test('files that were attached while a message was sent belong to the next one', async () => {
  const { uploads, answer } = rig()
  uploads.add([file('a')])
  await answer(0, ok(attachment({ id: 'att_a' })))
  const sent = uploads.ids

  uploads.add([file('b')])
  await answer(1, ok(attachment({ id: 'att_b' })))
  uploads.removeSent(sent)

  expect(uploads.ids).toEqual(['att_b'])
})

function file(name: string): File {
  return new File(['1234'], name, { type: 'application/pdf' })
}

type Started = { readonly name: string; readonly options: UploadOptions }

function rig() {
  const started: Started[] = []
  const pending: PromiseWithResolvers<Answer<Attachment>>[] = []
  const api = {
    upload: <T>(_id: string, { query }: AnyCall, _: Blob, options: UploadOptions) => {
      const answer = Promise.withResolvers<Answer<Attachment>>()
      started.push({ name: String(query?.['filename']), options })
      pending.push(answer)
      return answer.promise as Promise<Answer<T>> // Only attachments are uploaded.
    },
  }
  const answer = async (index: number, value: Answer<Attachment>) => {
    pending[index]?.resolve(value)
    await Bun.sleep(0)
  }
  return { uploads: new Uploads(api), started, answer }
}
