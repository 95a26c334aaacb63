// How rows of one kind are written into chat.db: each takes the place of the row, and who wrote it.

import { encodeAttributedBody } from './attributed-body-encoder.ts'
import type { ChatDbFile, MessageValues } from './chat-db-file.ts'
import type { SchemaName } from './chat-db-schemas.ts'
import { OWN_NUMBER } from './trace-steps.ts'

type Place = {
  readonly file: ChatDbFile
  readonly from: string
  readonly at: number
  /** Does something a second, or 12 s, later. */
  readonly after: (ms: 1_000 | 12_000, act: () => void) => void
}

export type RowKind = {
  readonly write: (place: Place) => void
  /** What the relay makes of it: "announced: text", "kept: text"; nothing if it publishes none. */
  readonly expected?: string | undefined
  /** Handle that it is published with, if that is not its writer. */
  readonly handle?: string | undefined
  readonly counts?: string | readonly string[] | undefined
  /** The first macOS that writes such a row. */
  readonly since?: SchemaName | undefined
}

/** How it is written, or the values of a row in the direct chat. */
type Written = RowKind['write'] | MessageValues
type More = Pick<RowKind, 'since' | 'handle'>

/** What the relay announces with that text. */
export function announced(written: Written, text = 'hello', more: More = {}): RowKind {
  return { write: writeOf(written), expected: `announced: ${text}`, ...more }
}

/** What it lists and does not announce. */
export function kept(written: Written, counts?: string, more: More = {}): RowKind {
  return { write: writeOf(written), expected: 'kept: hello', counts, ...more }
}

/** What it publishes nothing of. */
export function silent(written: Written, counts?: string, more: More = {}): RowKind {
  return { write: writeOf(written), counts, ...more }
}

/** A message from another sender, and as whom the relay lists it. */
export function from(
  sender: string,
  { handle, service = 'iMessage' }: { readonly handle: string; readonly service?: string },
): RowKind {
  const write: RowKind['write'] = ({ file, at }) => {
    file.receive({ from: sender, text: 'hello', at, values: { service } })
  }
  return service === 'SMS' ? kept(write, 'sms', { handle }) : announced(write, 'hello', { handle })
}

function writeOf(written: Written): RowKind['write'] {
  return typeof written === 'function' ? written : direct(written)
}

/** A row in the direct chat with who wrote it. */
export function direct(values: MessageValues, ageMs = 0): RowKind['write'] {
  return ({ file, from, at }) => void file.receive({ from, text: 'hello', at: at - ageMs, values })
}

export function inGroup(values: MessageValues = {}): RowKind['write'] {
  return ({ file, from, at }) => {
    const chat = file.addChat({ identifier: `chat${from.slice(1)}`, style: 43 })
    file.receive({ from, text: 'secret of the group', at, chat, values })
  }
}

/** A row that is joined to no chat. */
export function unjoined(values: MessageValues = {}): RowKind['write'] {
  return ({ file, from, at }) =>
    void file.addMessage({ text: 'hello', handle_id: file.addHandle(from), ...values, at })
}

export function own(values: MessageValues): RowKind['write'] {
  const sent = { is_from_me: 1, is_sent: 1, is_delivered: 0, destination_caller_id: OWN_NUMBER }
  return direct({ ...sent, ...values })
}

export function body(text: string, attachments: readonly string[] = []): MessageValues {
  const hasAttachments = { cache_has_attachments: text.includes('\uFFFC') }
  return { attributedBody: encodeAttributedBody(text, { attachments }), ...hasAttachments }
}

export function genmoji(guid: string): Uint8Array {
  const part = { __kIMMessagePartAttributeName: 0 }
  const picture = { __kIMFileTransferGUIDAttributeName: guid, __kIMEmojiImageAttributeName: 1 }
  return encodeAttributedBody('hi \uFFFC there', {
    runs: [
      { length: 3, attributes: part },
      { length: 1, attributes: { ...part, ...picture } },
      { length: 6, attributes: part },
    ],
  })
}

export function reaction(type: number, values: MessageValues = {}): RowKind {
  const about = { associated_message_type: type, associated_message_guid: 'p:0/some-message' }
  return { write: direct({ ...about, ...values }) }
}

/** Joins the latest row to a chat 12 s later. */
export function lateJoin({ file, after }: Place, chatRowId: number): void {
  const row = file.db.query<{ id: number }, []>('SELECT max(ROWID) AS id FROM message').get()
  after(12_000, () => file.joinChat(row?.id ?? 0, chatRowId))
}
