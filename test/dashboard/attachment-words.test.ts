// Words for files, people and groups.

import { expect, test } from 'bun:test'

import {
  absenceWords,
  fileIcon,
  filesWords,
  isPicture,
  largeVariant,
  mayHavePicture,
  messageExcerpt,
  partWords,
  plainName,
  smallVariant,
} from '../../src/dashboard/words/attachments.ts'
import { ATTACHMENT_STATES } from '../../src/domain/attachment.ts'
import { attachment, message } from './samples.ts'

const NO_SIZE = { width: null, height: null }

test('a type has an icon, and an unknown type that of a file', () => {
  const types = ['image/heic', 'video/mp4', 'audio/x-caf', 'application/pdf', 'text/html', 'x/y']

  expect(types.map((mime_type) => fileIcon({ mime_type }))).toEqual([
    'picture',
    'video',
    'audio',
    'document',
    'document',
    'file',
  ])
})

test('every state but `available` says why there is no file', () => {
  const silent = ATTACHMENT_STATES.filter((state) => absenceWords({ state }) === null)

  expect(silent).toEqual(['available'])
})

test('a part says what became of it only where its message does not', () => {
  const words = ([sent, status]: readonly [boolean | null, 'sent' | 'failed' | 'uncertain']) =>
    partWords(attachment({ sent }), message({ status }))?.text ?? null

  expect(
    (
      [
        [true, 'sent'],
        [null, 'sent'],
        [true, 'failed'],
        [false, 'failed'],
        [true, 'uncertain'],
        [null, 'uncertain'],
      ] as const
    ).map(words),
  ).toEqual([null, null, 'Sent', 'Not sent', 'Sent', 'Unconfirmed'])
  expect(partWords(attachment(), message())).toBeNull()
})

test('only raster pictures that fit into memory are opened as they are', () => {
  const photo = attachment({ mime_type: 'image/jpeg', width: 4_000, height: 3_000 })
  const all = ['original', 'compatible', 'thumbnail'] as const

  expect(largeVariant(photo)).toBe('original')
  expect(largeVariant({ ...photo, width: 100_000, height: 100_000 })).toBeNull()
  expect(largeVariant({ ...photo, width: 100_000, height: 100_000, variants: all })).toBe(
    'thumbnail',
  )
  expect(largeVariant({ ...photo, ...NO_SIZE })).toBeNull()
  expect(largeVariant({ ...photo, state: 'deleted' })).toBeNull()
  expect(largeVariant({ ...photo, mime_type: 'image/heic', variants: all })).toBe('compatible')
})

test('what may have scripts is never a picture', () => {
  for (const mime_type of ['image/svg+xml', 'text/html', 'application/pdf']) {
    expect(isPicture(mime_type)).toBe(false)
    expect(largeVariant(attachment({ mime_type, width: 10, height: 10 }))).toBeNull()
  }
})

test('the thumbnail is shown, and without one a picture of few bytes as it is', () => {
  const photo = attachment({ mime_type: 'image/png', width: 800, height: 600, size: 500_000 })
  const shown = (more: object) => smallVariant({ ...photo, ...more })

  expect(shown({ variants: ['original', 'thumbnail'] })).toBe('thumbnail')
  expect(shown({})).toBe('original')
  expect(shown({ size: 9_000_000 })).toBeNull()
  expect(shown(NO_SIZE)).toBeNull()
  expect(shown({ mime_type: 'image/heic' })).toBeNull()
  expect(shown({ mime_type: 'image/svg+xml' })).toBeNull()
  expect(shown({ state: 'deleted' })).toBeNull()
  expect(mayHavePicture(attachment({ mime_type: 'image/png' }))).toBe(true)
  expect(mayHavePicture(attachment({ mime_type: 'image/png', state: 'pending' }))).toBe(false)
  expect(mayHavePicture(attachment({ mime_type: 'application/pdf' }))).toBe(false)
})

test('a message without a text is named by its files, and an unsent one by that', () => {
  const photo = attachment({ mime_type: 'image/jpeg' })

  expect(filesWords([photo])).toBe('Picture')
  expect(filesWords([photo, photo])).toBe('2 pictures')
  expect(filesWords([photo, attachment()])).toBe('2 files')
  expect(filesWords([attachment({ mime_type: 'x/y', filename: 'a.zip' })])).toBe('a.zip')
  expect(messageExcerpt(message({ text: '', attachments: [photo] }))).toBe('Picture')
  expect(messageExcerpt(message({ text: 'Look', attachments: [photo] }))).toBe('Look')
  expect(messageExcerpt(message({ text: '', unsent_at: '2026-11-21T10:00:00.000Z' }))).toBe(
    'Message unsent',
  )
})

test('the name of a file stands in the order of its characters', () => {
  expect(plainName('invoice\u202Efdp.exe')).toBe('invoicefdp.exe')
})
