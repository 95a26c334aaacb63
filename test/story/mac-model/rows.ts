// How the rows of a letter come into chat.db: by what handle, in which chats, with which date, and what of it later.

import { randomUUID } from 'node:crypto'

import { binaryPropertyList } from '../../support/iphone/binary-plist-writer.ts'
import { encodeAttributedBody } from '../../support/mac/attributed-body-encoder.ts'
import type { ColumnValue, MessageValues } from '../../support/mac/chat-db-file.ts'
import { OWN_NUMBER } from '../../support/mac/trace-steps.ts'
import { type Group, type Letter, type Place } from './history.ts'
import type { Person } from './people.ts'
import type { MacWorld } from './world.ts'

export const OWNER = 'Owner@Example.com'
export const DESK = 'desk@example.com'

const MARK = '\uFFFC'
const PHOTO = 'photo'
const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
const SOON_MS = 1_200
const LATE_FILE_MS = 3_000
const LATE_CHAT_MS = 12_000
/** Two people's thumbs are not faster. */
const SAME_WORDS_MS = 300

const AGES_MS: Readonly<Partial<Record<Letter['dated'], number>>> = {
  ahead: -4 * YEAR_MS,
  'two years ago': 2 * YEAR_MS,
  'minutes ago': 15 * MINUTE_MS,
}

/** Writes a letter, and plans what comes of it later. `ageMs` is how long it has been on its way. */
export function writeLetter(world: MacWorld, letter: Letter, ageMs = 0): void {
  const at = world.clock.now() - ageMs - (AGES_MS[letter.dated] ?? 0)
  writeRow(world, letter, { at, spelling: letter.spelling })
  if (letter.isTwice) writeRow(world, letter, { at: at + SAME_WORDS_MS, spelling: letter.spelling })
  for (const { afterMs, spelling } of letter.copies) {
    const whole = letter.body === 'late text' ? ({ ...letter, body: 'whole' } as const) : letter
    world.later(afterMs, () => writeRow(world, whole, { at, spelling }))
  }
}

type How = { readonly at: number; readonly spelling: string | null }

function writeRow(world: MacWorld, letter: Letter, { at, spelling }: How): void {
  const { file } = world
  const { place, body, text } = letter
  const guid = randomUUID().toUpperCase()
  const values = { ...bodyOf(letter, guid), ...valuesOf(letter, at), at, guid }
  file.db.transaction(() => {
    const handle_id = spelling === null ? 0 : file.addHandle(spelling)
    const { rowId } = file.addMessage({ ...values, handle_id })
    if (place !== 'late chat') joinChats(world, rowId, letter)
    if (body === 'file') joinFile(world, rowId, guid)
    if (body === 'named file') nameFile(world, guid)
  })()
  const later = (ms: number, act: (row: number) => void) =>
    world.later(ms, () => withRow(world, guid, act))
  if (place === 'late chat') later(LATE_CHAT_MS, (row) => joinChats(world, row, letter))
  if (body === 'late text') later(SOON_MS, (row) => file.set(row, { text }))
  if (body === 'late file') later(LATE_FILE_MS, (row) => joinFile(world, row, guid))
  if (body !== 'late mark') return
  later(LATE_FILE_MS, (row) => {
    file.set(row, fileBody('', guid))
    joinFile(world, row, guid)
  })
}

function valuesOf(letter: Letter, at: number): MessageValues {
  const { by, dated, service } = letter
  const sent = by === 'owner' ? { is_from_me: 1, is_sent: 1, is_delivered: 0 } : {}
  const date = { never: { date: 0 }, 'before 2001': { date: -5 } }[dated as 'never'] ?? {}
  return { service, destination_caller_id: OWN_NUMBER, ...sent, ...date, ...unsent(letter, at) }
}

/** What a summary says of a message that was edited after its time had come. */
function unsent({ body }: Letter, at: number): MessageValues {
  if (body !== 'retracted text') return {}
  const summary = binaryPropertyList({ otr: { '0': { lo: 0, le: 7 } }, rp: [0] })
  const date_edited = BigInt(at - 978_307_200_000) * 1_000_000n
  return { date_edited, message_summary_info: new Uint8Array(summary) }
}

function bodyOf({ body, text }: Letter, guid: string): MessageValues {
  switch (body) {
    case 'whole':
    case 'retracted text':
      return { text }
    case 'column':
      return { textColumn: text }
    case 'late text':
      return {}
    case 'late mark':
      return { textColumn: MARK }
    case 'file':
    case 'late file':
    case 'named file':
      return fileBody(text, guid)
  }
}

/** The body names the file, whose guid is made from that of the message. */
function fileBody(text: string, guid: string): MessageValues {
  return { attributedBody: encodeAttributedBody(MARK + text, { attachments: [fileGuid(guid)] }) }
}

function fileGuid(guid: string): string {
  return `at_0_${guid}`
}

function fileColumns(world: MacWorld, guid: string): Readonly<Record<string, string | number>> {
  const name = `Attachments/${guid}/${PHOTO}.txt`
  world.writeFile(name, 'photo')
  const filename = `~/Library/Messages/${name}`
  return { filename, transfer_name: `${PHOTO}.txt`, mime_type: 'text/plain', total_bytes: 5 }
}

function joinFile(world: MacWorld, rowId: number, guid: string): void {
  world.file.addAttachment(rowId, { guid: fileGuid(guid), ...fileColumns(world, guid) })
  world.file.set(rowId, { cache_has_attachments: 1 })
}

function nameFile(world: MacWorld, guid: string): void {
  const { filename, transfer_name, total_bytes } = fileColumns(world, guid)
  const sql = `INSERT INTO attachment (guid, original_guid, filename, transfer_name, total_bytes, transfer_state)
    VALUES ($guid, $guid, $filename, $transfer_name, $total_bytes, 5)`
  const values = { guid: fileGuid(guid), filename, transfer_name, total_bytes }
  world.file.db.query(sql).run(values as Record<string, string | number>)
}

/** A database that was rebuilt has other ROWIDs. */
export function withRow(world: MacWorld, guid: string, act: (rowId: number) => void): void {
  const sql = 'SELECT ROWID AS id FROM message WHERE guid = $guid'
  const found = world.file.db.query<{ id: number }, [{ guid: string }]>(sql).get({ guid })
  if (found !== null) world.file.db.transaction(() => act(found.id))()
}

function joinChats(world: MacWorld, rowId: number, letter: Letter): void {
  const { file } = world
  const { group, person, place, spelling } = letter
  const chats =
    group === null ? chatsOf(world, person, { place, spelling }) : [groupChat(world, group)]
  for (const chat of chats) file.joinChat(rowId, chat)
}

/** ROWIDs of the chats of a place; that of a merged contact comes first. */
export function chatsOf(
  { file }: MacWorld,
  person: Person,
  { place, spelling }: { readonly place: Place; readonly spelling: string | null },
): readonly number[] {
  const named = spelling ?? person.handle
  if (place === 'no chat') return []
  if (place === 'merged chat') return [file.directChat(person.merged)]
  if (place === 'two chats') return [file.directChat(person.merged), file.directChat(named)]
  return [file.directChat(place === 'bare chat' ? person.handle.replace(/^\+1/, '') : named)]
}

export function groupChat({ file }: MacWorld, { identifier, members }: Group): number {
  const sql = 'SELECT ROWID AS id FROM chat WHERE chat_identifier = $identifier'
  const found = file.db.query<{ id: number }, [{ identifier: string }]>(sql).get({ identifier })
  if (found !== null) return found.id
  const spelled = members.map(({ spellings }, index) => spellings[index % spellings.length] ?? '')
  return file.addChat({ identifier, style: 43, members: [...spelled, OWN_NUMBER] })
}

/** A message of ours that was sent, or its echo, as a row and nothing more. */
export function writeOwn(
  { file, clock }: MacWorld,
  values: MessageValues & { readonly to: string; readonly chat?: number },
): void {
  const { to, chat, at = clock.now(), ...columns } = values
  const sent: Readonly<Record<string, ColumnValue>> = { is_from_me: 1, is_sent: 1, is_delivered: 0 }
  const row = { destination_caller_id: OWN_NUMBER, ...sent, ...columns, at }
  file.db.transaction(() => {
    const { rowId } = file.addMessage({ ...row, handle_id: file.addHandle(to) })
    file.joinChat(rowId, chat ?? file.directChat(to))
  })()
}
