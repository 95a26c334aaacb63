// The attachments of outbound messages. A caller names uploads, and URLs that are fetched before the message is
// accepted. On the device each file is a message of its own, and so is the text: marks say which of these parts were
// sent.

import type { SendAttachment } from '../api/attachments.ts'
import {
  noAttachment,
  requireAttachment,
  requireBytes,
  type Attachments,
} from '../attachments/attachments.ts'
import type { AttachmentStore } from '../attachments/store.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { AttachmentId, MemberId } from '../domain/ids.ts'
import type { Outbound, Progress } from '../domain/message.ts'
import {
  callerId,
  hasScope,
  type CallerId,
  type ConversationLimit,
  type KeyCaller,
} from '../domain/permissions.ts'
import type { LineLimits } from '../domain/routing.ts'
import type { SentParts } from '../lines/driver.ts'
import { attachmentsOf, linkAttachments, markFound, markParts } from '../storage/attachments.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { rememberGuid, takeReceipts } from '../storage/intake-records.ts'
import { isSeenBy, type Viewer } from '../storage/line-limits.ts'

type FilesHere = Pick<AttachmentStore, 'has'>

type Given = {
  readonly attachments: readonly SendAttachment[]
  readonly key: KeyCaller | null
  readonly limits: LineLimits
  readonly conversationIds: ConversationLimit
  readonly memberId?: MemberId | undefined
  /** Throws if the message can't be accepted; called before anything is fetched. */
  readonly requireTarget: () => void
}

export async function attachmentsFor(
  db: Db,
  store: FilesHere,
  files: Pick<Attachments, 'fetch'>,
  { attachments: given, key, limits, conversationIds, memberId, requireTarget }: Given,
): Promise<readonly AttachmentId[]> {
  const caller = callerId(key, memberId)
  const viewer = { lineIds: linesWithin(db, limits), limits, conversationIds, caller }
  const uploads = given.flatMap((file) => ('id' in file ? file.id : []))
  const twice = uploads.some((id, place) => uploads.indexOf(id) !== place)
  if (twice) throw invalidRequest({ path: 'attachments', message: 'must not name a file twice' })
  for (const id of uploads) requireFile(db, store, id, viewer)
  if (uploads.length < given.length) requireTarget()
  const isPublicOnly = key !== null && !hasScope(key.permissions, 'webhooks:private')
  const fetching = { caller, isPublicOnly }
  const found = await Promise.allSettled(given.map((file) => idOf(files, file, fetching)))
  // If one fetch fails, the other files stay as unused uploads.
  return found.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** Links a new message's attachments; throws if one was deleted in between. */
export function attach(tx: Tx, message: Pick<Outbound, 'id'>, ids: readonly AttachmentId[]): void {
  for (const id of ids) {
    // The bytes were checked before the transaction.
    const { sha256 } = requireBytes({ has: () => true }, requireAttachment(tx, id))
    markFound(tx, sha256)
  }
  linkAttachments(tx, message.id, ids)
}

async function idOf(
  files: Pick<Attachments, 'fetch'>,
  file: SendAttachment,
  fetching: { readonly caller: CallerId; readonly isPublicOnly: boolean },
): Promise<AttachmentId> {
  if ('id' in file) return file.id as AttachmentId // It was found before.
  const { url, filename = null } = file
  const { id } = await files.fetch({ url, filename, ...fetching })
  return id
}

function requireFile(db: Db, store: FilesHere, id: string, viewer: Viewer): void {
  if (!isSeenBy(db, viewer, id)) throw noAttachment()
  requireBytes(store, requireAttachment(db, id))
}

export function provenParts(tx: Tx, { id }: Outbound): SentParts {
  return attachmentsOf(tx, id).flatMap(({ id, isSent }) => (isSent === true ? id : []))
}

/** Marks these parts as sent, in addition to the proven ones. `isSent` applies to the rest; null means unknown. */
export function markSent(tx: Tx, message: Outbound, sent: SentParts, isSent: boolean | null): void {
  markParts(tx, message.id, [...provenParts(tx, message), ...sent], isSent)
}

/** Marks the parts by the whole message's outcome. Returns whether any part was sent. */
export function markByEnd(tx: Tx, message: Outbound, { status, error, sentAt }: Progress): boolean {
  const hasFailed = status === 'failed' || status === 'expired'
  const proven = provenParts(tx, message)
  if (!hasFailed) markParts(tx, message.id, [], true)
  else if (message.sentAt === null) {
    // If none is proven although one was sent, it is unknown which.
    const isUnclear = error?.code === 'partly_sent' && proven.length === 0
    if (!isUnclear) markParts(tx, message.id, proven, false)
  } else if (message.text === '' && error?.code !== 'partly_sent') {
    // It was sent, and then its last part failed.
    markParts(tx, message.id, filesOf(tx, message).slice(0, -1), false)
  }
  return sentAt !== null || proven.length > 0
}

/** The first parts are proven sent: the device gave their guids along with the last part's. */
export function markFirst(tx: Tx, message: Outbound, count: number): void {
  markSent(tx, message, filesOf(tx, message).slice(0, count), null)
}

/** After a part before the last failed, and it is unknown which: all files are unknown, but the last if it was sent. */
export function markUnknownButLast(tx: Tx, message: Outbound): void {
  const isLastSent = message.sentAt !== null && message.text === ''
  markParts(tx, message.id, isLastSent ? filesOf(tx, message).slice(-1) : [], null)
}

/** Remembers the other parts' guids. Returns whether the device has already reported that one failed. */
export function rememberParts(tx: Tx, message: Outbound, guids: readonly string[]): boolean {
  let hasFailed = false
  for (const guid of guids) {
    rememberGuid(tx, message.lineId, guid, message.id)
    const receipts = takeReceipts(tx, message.lineId, guid)
    hasFailed ||= receipts.some(({ kind }) => kind === 'failed')
  }
  return hasFailed
}

function filesOf(tx: Tx, { id }: Outbound): SentParts {
  return attachmentsOf(tx, id).map(({ id }) => id)
}
