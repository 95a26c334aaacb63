// Messages with files: each file and then the text is a row of its own, and proven by it; what a crash, a
// late row or a refusal leaves of them.

import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import type { AttachmentId } from '../../../../src/domain/ids.ts'
import type { OutgoingAttachment, OutgoingMessage } from '../../../../src/domain/message.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import {
  carryMessage,
  guidOf,
  inTime,
  messageOf,
  messagesOf,
  receiptsOf,
  runLine,
  settledOf,
} from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { eventually } from '../../../support/eventually.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** A file in the relay's own store. */
function storedFile(rig: MacRig, name: string, size = 5): OutgoingAttachment {
  const path = join(rig.folder, `stored-${name}`)
  writeFileSync(path, 'x'.repeat(size))
  const id = `att_${name}` as AttachmentId // Drivers take an id as it is.
  return { id, path, filename: name, mimeType: 'image/jpeg', size, sha256: '' }
}

function withFiles(rig: MacRig, text: string, names: readonly string[]): OutgoingMessage {
  return { ...messageOf(rig, text), attachments: names.map((name) => storedFile(rig, name)) }
}

/** Lets time pass until Messages was asked to send so many files: copies are made on the real disk. */
async function untilFilesSent({ clock, model }: MacRig, count: number): Promise<void> {
  const isSo = () => model.calls.filter(({ mode }) => mode === 'send_file').length === count
  await eventually('the files are handed over', async () => {
    await clock.advanceUntil(isSo, 1_000)
    return isSo() ? true : null
  })
}

function stagedNames({ stagingFolder }: MacRig): readonly string[] {
  if (!existsSync(stagingFolder)) return []
  return readdirSync(stagingFolder).flatMap((folder) =>
    readdirSync(join(stagingFolder, folder)).filter((name) => !name.startsWith('.')),
  )
}

function sentBy(rig: MacRig): readonly string[] {
  return rig.model.letters.map(({ text, file }) => (file === undefined ? text : basename(file)))
}

test('files go first, in order, and the text after them; the text gives the guid', async () => {
  await using rig = await attendedMac()

  const { outcome } = await carryMessage(
    rig,
    rig.line,
    withFiles(rig, 'the menu', ['a.jpg', 'b.pdf']),
  )
  await rig.clock.advance(10_000)

  expect(sentBy(rig)).toEqual(['a.jpg', 'b.pdf', 'the menu'])
  expect(outcome).toMatchObject({ outcome: 'accepted', service: 'iMessage' })
  const guids = rig.model.file.db
    .query<{ guid: string }, []>('SELECT guid FROM message ORDER BY ROWID')
    .all()
    .map(({ guid }) => guid)
  expect(outcome).toMatchObject({ guid: guids[2], partGuids: guids.slice(0, 2) })
  expect(messagesOf(rig.line.events)).toEqual([])
})

test('a file alone is a message, and its own guid', async () => {
  await using rig = await attendedMac()

  const { outcome } = await carryMessage(rig, rig.line, withFiles(rig, '', ['a.jpg']))

  expect(sentBy(rig)).toEqual(['a.jpg'])
  expect(outcome).toMatchObject({ outcome: 'accepted', partGuids: [] })
})

test('Messages gets a copy of the bytes, which only the owner can read, and keeps it', async () => {
  await using rig = await attendedMac()

  await carryMessage(rig, rig.line, withFiles(rig, '', ['a.jpg']))

  const [letter] = rig.model.letters
  const path = letter?.file ?? ''
  expect(path.startsWith(`${rig.stagingFolder}/`)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('xxxxx')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

const NAMES: readonly (readonly [name: string, shown: string])[] = [
  ['../../evil.sh', 'evil.sh'],
  ['.hidden', 'file.hidden'],
  ['a\nb.txt', 'a_b.txt'],
  ['a:b.txt', 'a_b.txt'],
  ['ö'.repeat(150) + '.jpeg', `${'ö'.repeat(97)}.jpeg`],
]

test.each([...NAMES])('a file that is called %j is one file of its folder', async (name, shown) => {
  await using rig = await attendedMac()
  const attachment = { ...storedFile(rig, 'a.jpg'), filename: name }

  await carryMessage(rig, rig.line, { ...messageOf(rig, ''), attachments: [attachment] })

  expect(stagedNames(rig)).toEqual([shown])
  expect(sentBy(rig)).toEqual([shown])
})

test('a file that is gone, or shorter than it was, sends nothing and leaves nothing', async () => {
  await using rig = await attendedMac()
  const gone = { ...storedFile(rig, 'b.jpg'), path: join(rig.folder, 'nowhere') }
  const short = { ...storedFile(rig, 'c.jpg'), size: 6 }

  for (const broken of [gone, short]) {
    const attachments = [storedFile(rig, 'a.jpg'), broken]
    const { outcome, note } = await carryMessage(rig, rig.line, {
      ...messageOf(rig, 'hi'),
      attachments,
    })
    const reason = 'attachment_missing'
    expect(outcome).toEqual({ outcome: 'not_sent', reason, blame: 'message' })
    expect(note).toBeNull()
  }

  expect(sentBy(rig)).toEqual([])
  expect(stagedNames(rig)).toEqual([])
})

test('where the folder of Messages takes no file, the line is to blame, and doctor says so', async () => {
  using rig = makeMacRig()
  writeFileSync(join(rig.folder, 'Attachments'), 'in the way')
  await using line = await runLine(rig, rig.driver)

  const { outcome } = await carryMessage(rig, line, withFiles(rig, 'hi', ['a.jpg']))
  const findings = await rig.driver.checkup(NEVER)

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'staging_failed', blame: 'line' })
  expect(findings.map(({ code }) => code)).toContain('staging_denied')
})

test('without the point of no return no copy is left', async () => {
  await using rig = await attendedMac()

  const refused = rig.line.session().send(withFiles(rig, 'hi', ['a.jpg']), async () => false, NEVER)

  expect(await inTime(rig, refused)).toMatchObject({ outcome: 'not_sent', reason: 'withdrawn' })
  expect(stagedNames(rig)).toEqual([])
})

test('a file whose row comes minutes later is waited for, and the text waits for the file', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('row_5min_late')

  const { outcome } = await carryMessage(rig, rig.line, withFiles(rig, 'the menu', ['a.jpg']))

  expect(sentBy(rig)).toEqual(['a.jpg', 'the menu'])
  expect(outcome).toMatchObject({ outcome: 'accepted' })
})

test('the text waits for a file that is slow to leave', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('slow_sending')

  const { outcome } = await carryMessage(rig, rig.line, withFiles(rig, 'the menu', ['a.jpg']))

  expect(sentBy(rig)).toEqual(['a.jpg', 'the menu'])
  expect(outcome).toMatchObject({ outcome: 'accepted', partGuids: [expect.any(String)] })
})

test('a file that never has a row ends uncertain after twenty minutes, and the text never leaves', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('happy', 'no_row')

  const { outcome } = await carryMessage(
    rig,
    rig.line,
    withFiles(rig, 'the menu', ['a.jpg', 'b.jpg']),
  )

  expect(sentBy(rig)).toEqual(['a.jpg'])
  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_row', sent: ['att_a.jpg' as never] })
})

test('a first file that is refused fails the message, a later one leaves it partly sent', async () => {
  const outcomes: unknown[] = []
  for (const before of [[], ['happy'], ['happy', 'happy']] as const) {
    await using rig = await attendedMac()
    rig.model.nextSend(...before, 'failed25_after_2s')

    const { outcome } = await carryMessage(
      rig,
      rig.line,
      withFiles(rig, 'the menu', ['a.jpg', 'b.jpg']),
    )
    outcomes.push(outcome)
    expect(sentBy(rig)).toEqual(['a.jpg', 'b.jpg'].slice(0, before.length))
  }

  const reason = 'attachment_failed'
  expect(outcomes).toEqual([
    { outcome: 'not_sent', reason, blame: 'message' },
    { outcome: 'partly_sent', reason, sent: ['att_a.jpg'] },
    { outcome: 'partly_sent', reason, sent: ['att_a.jpg', 'att_b.jpg'] },
  ])
})

test('a file that was deleted from its folder meanwhile fails, as in the sandbox of Messages', async () => {
  await using rig = await attendedMac()
  const message = withFiles(rig, '', ['a.jpg'])
  const pass = async () => {
    const [folder = ''] = readdirSync(rig.stagingFolder)
    rmSync(join(rig.stagingFolder, folder, 'a.jpg'))
    return true
  }

  const outcome = await inTime(rig, rig.line.session().send(message, pass, NEVER))

  expect(outcome).toMatchObject({ outcome: 'not_sent', reason: 'attachment_failed' })
})

test('a slow last part is held, and its receipt settles the message', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('happy', 'slow_sending')

  const { outcome } = await carryMessage(rig, rig.line, withFiles(rig, 'the menu', ['a.jpg']))
  await rig.clock.advance(60_000)

  expect(outcome).toMatchObject({ outcome: 'held', partGuids: [expect.any(String)] })
  const kinds = receiptsOf(rig.line.events).filter(({ guid }) => guid === guidOf(outcome))
  expect(kinds.map(({ kind }) => kind)).toEqual(['sent', 'delivered', 'read'])
})

test('after a crash between two parts the first is proven, and the rest stays uncertain', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  rig.model.nextSend('happy', 'no_row')
  const message = withFiles(rig, 'the menu', ['a.jpg', 'b.jpg'])
  const notes: (string | null)[] = []
  const pass = async (note: string | null) => notes.push(note) > 0
  void first.session().send(message, pass, NEVER)
  await untilFilesSent(rig, 2)
  first.abort()

  const more = {
    checkpoint: first.checkpoint(),
    unsettled: [{ message, note: notes[0] ?? null }],
  }
  await using second = await runLine(rig, rig.restart(), more)
  await rig.clock.advance(60_000)

  expect(settledOf(second.events).map(({ outcome }) => outcome)).toEqual([
    { outcome: 'unknown', reason: 'part_unproven', sent: ['att_a.jpg' as never] },
  ])
  expect(sentBy(rig)).toEqual(['a.jpg'])
})

test('a row that comes after the relay gave up on it proves its file, though others of that name went since', async () => {
  await using rig = await attendedMac()
  const ending = new AbortController()
  rig.model.nextSend('row_5min_late', 'row_5min_late')
  const first = { ...withFiles(rig, 'one', ['a.jpg']), id: 'msg_first' as never }
  const sending = rig.line.session().send(first, async () => true, ending.signal)
  await untilFilesSent(rig, 1)
  ending.abort()
  const outcome = await inTime(rig, sending)
  await rig.clock.advance(MINUTE_MS)
  const second = await carryMessage(rig, rig.line, withFiles(rig, '', ['a.jpg']))
  await rig.clock.advance(MINUTE_MS)

  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_row', sent: [] })
  // The row of the first one comes while the second is still waited for.
  const newest = rig.model.file.db
    .query<{ guid: string }, []>('SELECT guid FROM message ORDER BY ROWID DESC LIMIT 1')
    .get()
  expect(second.outcome).toMatchObject({ outcome: 'accepted', guid: newest?.guid })
  expect(settledOf(rig.line.events)).toEqual([
    {
      type: 'settled',
      messageId: first.id,
      outcome: { outcome: 'partly_sent', reason: 'interrupted', sent: ['att_a.jpg' as never] },
    },
  ])
  expect(messagesOf(rig.line.events)).toEqual([])
})

test('an unsettled message with files and without a note proves nothing by its text', async () => {
  using rig = makeMacRig()
  const message = withFiles(rig, 'hello', ['a.jpg'])
  await using line = await runLine(rig, rig.driver, { unsettled: [{ message, note: null }] })
  await carryMessage(rig, line, { ...messageOf(rig, 'hello'), id: 'msg_other' as never })

  expect(settledOf(line.events)).toEqual([])
})

test('copies are kept for thirty days after Messages was done with them, unproven ones for good', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  await carryMessage(rig, first, withFiles(rig, '', ['done.jpg']))
  rig.model.nextSend('no_row')
  const leaving = new AbortController()
  const leave = async () => {
    leaving.abort()
    return true
  }
  await inTime(rig, first.session().send(withFiles(rig, '', ['open.jpg']), leave, leaving.signal))
  await first.end()
  const names: (readonly string[])[] = []
  for (const days of [29, 2]) {
    rig.clock.step(days * DAY_MS)
    const line = await runLine(rig, rig.restart())
    // A run has ended once it has looked through its copies.
    await line.end()
    names.push([...stagedNames(rig)].toSorted())
  }

  expect(names).toEqual([['done.jpg', 'open.jpg'], ['open.jpg']])
})
