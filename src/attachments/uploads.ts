import { UNUSED_UPLOAD_MS_MAX } from '../domain/attachment.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import type { CallerId } from '../domain/permissions.ts'
import {
  findUpload,
  insertAttachment,
  markFound,
  updateAttachment,
  type Attachment,
} from '../storage/attachments.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import type { StoredFile } from './store.ts'

type Named = Pick<Attachment, 'filename' | 'declaredType'> & {
  readonly caller: CallerId
  readonly idempotencyKey: string | null
}

/** Stores the row of an uploaded file. The same file under the same key again returns the first one. */
export function recordUpload({ writer, ids }: Core, file: StoredFile, named: Named) {
  return writer.write((tx) => {
    markFound(tx, file.sha256)
    const known = repeated(tx, file, named)
    if (known !== null) return { attachment: known, isReplay: true }
    const createdAt = ids.now()
    const { filename, declaredType, caller, idempotencyKey } = named
    const attachment: Attachment = {
      ...file,
      filename,
      declaredType,
      id: ids.id('att'),
      direction: 'outbound',
      state: 'available',
      messageId: null,
      deviceGuid: null,
      createdAt,
      expiresAt: timestamp(createdAt + UNUSED_UPLOAD_MS_MAX),
    }
    insertAttachment(tx, { ...attachment, caller, uploadKey: idempotencyKey })
    return { attachment, isReplay: false }
  })
}

/**
 * The caller's first upload under the key, restored if its bytes were gone; null if this is the first. Throws if the
 * file differs, or if the key was used by an unknown caller before an upgrade.
 */
function repeated(tx: Tx, { sha256 }: StoredFile, named: Named): Attachment | null {
  const { caller, idempotencyKey: uploadKey, filename, declaredType } = named
  if (uploadKey === null) return null
  if (findUpload(tx, { caller: '', uploadKey }) !== null) {
    throw conflict('before an upgrade of Hookline')
  }
  const known = findUpload(tx, { caller, uploadKey })
  if (known === null) return null
  const hasSameName = known.filename === filename && known.declaredType === declaredType
  if (known.sha256 !== sha256 || !hasSameName) {
    throw conflict('for an upload with other bytes, another name or another type')
  }
  if (known.state === 'available') return known
  updateAttachment(tx, known.id, { state: 'available' })
  return { ...known, state: 'available' }
}

function conflict(how: string): RelayError {
  return new RelayError('idempotency_conflict', `This Idempotency-Key was used ${how}.`)
}
