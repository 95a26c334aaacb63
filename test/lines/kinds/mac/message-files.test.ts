// Files of received messages: which are available, pending or missing, and in which order they come.

import { expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { MessageFiles } from '../../../../src/lines/kinds/mac/message-files.ts'
import { messagesOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'
import type { MessageValues } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TestClock } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const HOUR_MS = 3_600_000
const PATH = '~/Library/Messages/Attachments/ab/11/photo.heic'

type Columns = Readonly<Record<string, string | number | null>>

/** Writes the bytes of a file below the folder of Messages. */
function writeBytes(rig: MacRig, path: string, size = 4): string {
  const whole = join(rig.folder, path.replace('~/Library/Messages/', ''))
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, 'x'.repeat(size))
  return whole
}

/** A message with files, in the order of its text. */
function receiveFiles(
  { model: { file }, clock }: MacRig,
  guids: readonly string[],
  rows: readonly (Columns & { readonly guid: string })[],
  values: MessageValues = {},
) {
  const text = guids.map(() => '\uFFFC').join('')
  const attributedBody = encodeAttributedBody(text, { attachments: guids })
  return file.db.transaction(() => {
    const received = { attributedBody, cache_has_attachments: 1, ...values }
    const { rowId, guid } = file.receive({
      from: FRIEND,
      text: '',
      at: clock.now(),
      values: received,
    })
    const attachments = rows.map((row) => file.addAttachment(rowId, row))
    return { rowId, guid, attachments }
  })()
}

function filesOf(events: readonly LineEvent[]) {
  return messagesOf(events).flatMap(({ attachments = [] }) => attachments)
}

function laterFilesOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'attachment' ? [event.attachment] : []))
}

const PHOTO = { guid: 'P', filename: PATH, transfer_name: 'photo.heic', mime_type: 'image/heic' }

test('a file that has arrived is available, by its path below the folder of Messages', async () => {
  using rig = makeMacRig()
  const path = writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)

  receiveFiles(rig, ['P'], [{ ...PHOTO, total_bytes: 4 }])
  await rig.clock.advance(1_000)

  expect(filesOf(line.events)).toEqual([
    {
      guid: 'P',
      filename: 'photo.heic',
      declaredType: 'image/heic',
      size: 4,
      file: { state: 'available', path },
    },
  ])
})

test('files come in the order of the text, which is not that of their rows', async () => {
  using rig = makeMacRig()
  for (const name of ['a', 'b', 'c']) writeBytes(rig, `${PATH}.${name}`)
  await using line = await runLine(rig, rig.driver)

  const row = (name: string) => ({
    ...PHOTO,
    guid: name,
    filename: `${PATH}.${name}`,
    total_bytes: 4,
  })
  receiveFiles(rig, ['c', 'a', 'b'], [row('a'), row('b'), row('c')])
  await rig.clock.advance(1_000)

  expect(filesOf(line.events).map(({ guid }) => guid)).toEqual(['c', 'a', 'b'])
})

test('neither the preview of a link nor a hidden file is a file of the message', async () => {
  using rig = makeMacRig()
  writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)

  const rows = [
    { ...PHOTO, filename: '~/Library/Messages/Attachments/x.pluginPayloadAttachment' },
    { ...PHOTO, guid: 'H', hide_attachment: 1 },
  ]
  const values = { attributedBody: encodeAttributedBody('look: https://example.com') }
  receiveFiles(rig, [], rows, values)
  await rig.clock.advance(1_000)

  expect(messagesOf(line.events)).toMatchObject([
    { text: 'look: https://example.com', attachments: undefined },
  ])
})

test('a message without a body has the files of its rows', async () => {
  using rig = makeMacRig()
  writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)

  receiveFiles(rig, [], [{ ...PHOTO, total_bytes: 4 }], { attributedBody: null })
  await rig.clock.advance(1_000)

  expect(filesOf(line.events)).toMatchObject([{ guid: 'P', file: { state: 'available' } }])
})

test('an inline emoji is a word of the text, and no file', async () => {
  await using rig = await attendedMac()

  const emoji = { __kIMFileTransferGUIDAttributeName: 'E', __kIMEmojiImageAttributeName: 1 }
  const attributedBody = encodeAttributedBody('hi \uFFFC', {
    runs: [
      { length: 3, attributes: { __kIMMessagePartAttributeName: 0 } },
      { length: 1, attributes: { __kIMMessagePartAttributeName: 0, ...emoji } },
    ],
  })
  const row = { ...PHOTO, guid: 'E', emoji_image_short_description: 'cat' }
  receiveFiles(rig, [], [row], { attributedBody })
  await rig.clock.advance(1_000)

  expect(messagesOf(rig.line.events)).toMatchObject([{ text: 'hi (cat)', attachments: undefined }])
})

/** Paths below which nothing is read, and one that nobody knows. */
const OUTSIDE = [
  '~/Library/Messages/Attachments/../../../secret',
  '/etc/passwd',
  '~/Documents/secret',
  'Attachments/photo',
  '~/Library/Messages/Attachments/link-to-file',
  '~/Library/Messages/Attachments/link-to-folder/passwd',
  '~/Library/Messages/Attachments/folder',
  '~/Library/Messages/Attachments/none',
  // iCloud has taken it back.
  null,
]

test('no file elsewhere is ever read, nor a folder: each is missing', async () => {
  using rig = makeMacRig()
  const attachments = join(rig.folder, 'Attachments')
  mkdirSync(join(attachments, 'folder'), { recursive: true })
  symlinkSync('/etc/passwd', join(attachments, 'link-to-file'))
  symlinkSync('/etc', join(attachments, 'link-to-folder'))
  await using line = await runLine(rig, rig.driver)

  const filenames = [...OUTSIDE, `${rig.folder}-beside/secret`]
  for (const [index, filename] of filenames.entries()) {
    receiveFiles(rig, [`P${index}`], [{ ...PHOTO, guid: `P${index}`, filename }])
  }
  await rig.clock.advance(15_000)

  const later = laterFilesOf(line.events).toSorted((a, b) => a.guid.localeCompare(b.guid))
  const states = (state: string) =>
    filenames.map((_, index) => ({ guid: `P${index}`, file: { state } }))
  expect(filesOf(line.events)).toMatchObject(states('pending'))
  expect(later).toMatchObject(states('missing'))
})

test('a file on its way is pending, and reported once it is there and its size stands still', async () => {
  await using rig = await attendedMac()
  const { guid, attachments } = receiveFiles(rig, ['P'], [{ ...PHOTO, transfer_state: 3 }])
  await rig.clock.advance(60_000)
  const before = laterFilesOf(rig.line.events)

  const path = writeBytes(rig, PATH, 10)
  rig.model.file.setAttachment(attachments[0] ?? 0, { transfer_state: 5 })
  await rig.clock.advance(200)
  truncateSync(path, 20)
  await rig.clock.advance(600)
  const growing = laterFilesOf(rig.line.events)
  await rig.clock.advance(2_000)

  expect(filesOf(rig.line.events)).toMatchObject([{ file: { state: 'pending' } }])
  expect([before, growing]).toEqual([[], []])
  const events = rig.line.events.filter(({ type }) => type === 'attachment')
  expect(events).toMatchObject([
    { messageGuid: guid, attachment: { guid: 'P', file: { state: 'available', path } } },
  ])
})

test('a file whose row is still to come is pending by its name in the body', async () => {
  using rig = makeMacRig()
  const path = writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)
  const { rowId } = receiveFiles(rig, ['P'], [])
  await rig.clock.advance(3_000)

  rig.model.file.addAttachment(rowId, { ...PHOTO, total_bytes: 4 })
  await rig.clock.advance(6_000)

  expect(filesOf(line.events)).toMatchObject([{ guid: 'P', file: { state: 'pending' } }])
  expect(laterFilesOf(line.events)).toMatchObject([
    { filename: 'photo.heic', file: { state: 'available', path } },
  ])
})

test('after ten minutes a file is looked for every hour, and after a day it has failed', async () => {
  using opened = new OpenedChatDb()
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const files = new MessageFiles(clock, folder.path)
  const { rowId } = opened.file.receive({ from: FRIEND, text: 'hello', at: clock.now() })
  for (const guid of ['P', 'Q'])
    opened.file.addAttachment(rowId, { ...PHOTO, guid, transfer_state: 0 })
  const [row] = opened.chatDb.rowsAt([rowId])
  if (row !== undefined) files.attachmentsOf(row, false)
  const ends: (readonly [minutes: number, found: readonly string[]])[] = []
  const look = async (minutes: number) => {
    await clock.advance(minutes * 60_000)
    const found = laterFilesOf(files.takeEnded(opened.chatDb))
    ends.push([minutes, found.map(({ guid, file }) => `${guid} ${file.state}`)])
  }

  await look(11)
  // One is said to have arrived, and iCloud took its file back meanwhile.
  opened.file.setAttachment(1, { transfer_state: 5, filename: null })
  await look(30)
  await look(31)
  await look(23 * 60)

  expect(ends).toEqual([
    [11, []],
    [30, []],
    [31, ['P missing']],
    [23 * 60, ['Q failed']],
  ])
})

test('a file that an earlier run left pending is looked for again, one of a deleted message is missing', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const { guid, attachments } = receiveFiles(rig, ['P'], [{ ...PHOTO, transfer_state: 0 }])
  await rig.clock.advance(1_000)
  await first.end()

  writeBytes(rig, PATH)
  rig.model.file.setAttachment(attachments[0] ?? 0, { transfer_state: 5, total_bytes: 4 })
  const awaited = [
    { messageGuid: guid, attachmentGuid: 'P' },
    { messageGuid: 'GONE', attachmentGuid: 'G' },
  ]
  const checkpoint = first.checkpoint()
  await using second = await runLine(rig, rig.restart(), { checkpoint, awaited })
  await rig.clock.advance(6_000)

  expect(messagesOf(second.events)).toEqual([])
  expect(laterFilesOf(second.events)).toMatchObject([
    { guid: 'P', file: { state: 'available' } },
    { guid: 'G', file: { state: 'missing' } },
  ])
})

test('the files of history stay with Messages', async () => {
  using rig = makeMacRig()
  writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)

  const date = rig.model.file.date(rig.clock.now() - 48 * HOUR_MS)
  receiveFiles(rig, ['P'], [{ ...PHOTO, total_bytes: 4 }], {})
  rig.model.file.db.run('UPDATE message SET date = ?', [date])
  await rig.clock.advance(3_000)

  expect(messagesOf(line.events)).toMatchObject([{ isHistory: true }])
  expect(filesOf(line.events)).toMatchObject([{ size: 4, file: { state: 'not_kept' } }])
})

test('a file that is sent from the device is one of the message', async () => {
  using rig = makeMacRig()
  writeBytes(rig, PATH)
  await using line = await runLine(rig, rig.driver)

  const own = { is_from_me: 1, is_sent: 1 }
  receiveFiles(rig, ['P'], [{ ...PHOTO, total_bytes: 4, is_outgoing: 1 }], own)
  await rig.clock.advance(3_000)

  expect(messagesOf(line.events)).toMatchObject([{ isFromMe: true }])
  expect(filesOf(line.events)).toMatchObject([{ file: { state: 'available' } }])
})
