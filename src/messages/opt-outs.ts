// People who want no more messages. A keyword counts in the transaction of the message that consists of it;
// the owner and programs add and end opt-outs by hand. Whatever waits to be sent to the person then fails.

import type { OptOut as OptOutResource } from '../api/contacts.ts'
import { cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import { parseId, type LineId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { OPTED_OUT, keywordIn } from '../domain/opt-out.ts'
import type { LineLimit } from '../domain/routing.ts'
import type { Audit } from '../storage/audit.ts'
import type { Db, Tx } from '../storage/database.ts'
import { handleAsked, handleIn, knownHandle } from '../storage/handles.ts'
import { getLine } from '../storage/lines.ts'
import { waitingTo } from '../storage/message-queue.ts'
import {
  deleteOptOut,
  insertOptOut,
  listOptOuts,
  optOutFields,
  optOutsOf,
  type OptOut,
} from '../storage/opt-outs.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Signal } from '../system/signal.ts'
import type { OptOutCause, PublishUnplaced } from '../webhooks/publish.ts'
import { failMessage, type SettleTools } from './settle.ts'

type RecordTools = SettleTools & {
  readonly publish: PublishUnplaced
  readonly settings: Pick<Settings, 'get'>
}

/** Records the keyword of a received message, for all lines. Any other text means nothing, and nothing does in a group. */
export function takeKeyword(tools: RecordTools, tx: Tx, message: Message): void {
  if (message.direction === 'outbound' || message.isGroup) return
  const found = tools.settings.get('opt_out') === 'off' ? null : keywordIn(message.text)
  if (found === null) return
  const { keyword, meaning } = found
  const { handle, id: messageId, createdAt } = message
  const optOut = { handle, lineId: null, keyword, messageId, source: 'keyword', createdAt } as const
  if (meaning === 'out') return begin(tools, tx, optOut, message)
  for (const ended of optOutsOf(tx, handle)) {
    if (ended.lineId !== null && ended.lineId !== message.lineId) continue
    deleteOptOut(tx, ended)
    const by = { ...optOut, lineId: ended.lineId }
    tools.publish.optOut(tx, 'contact.opted_in', by, message)
  }
}

/** An opt-out that there is already stays as it is, and is announced no second time. */
function begin(tools: RecordTools, tx: Tx, optOut: OptOut, cause: OptOutCause): void {
  if (!insertOptOut(tx, optOut)) return
  tools.publish.optOut(tx, 'contact.opted_out', optOut, cause)
  if (tools.settings.get('opt_out') !== 'enforce') return
  for (const message of waitingTo(tx, { handle: optOut.handle, lineId: optOut.lineId })) {
    if (message.extras?.isConfirmed !== true) failMessage(tools, tx, message, OPTED_OUT)
  }
}

type Tools = RecordTools & {
  readonly db: Db
  readonly writer: Pick<Writer, 'write'>
  readonly audit: Pick<Audit, 'record'>
  readonly dispatchSignal: Signal
}

export type OptOutFilter = { readonly handle?: string | undefined; readonly lines: LineLimit }

/** The opt-outs of the API. */
export function createOptOuts(tools: Tools) {
  const { db, writer, ids, audit, dispatchSignal } = tools
  const byHand = (origin: Origin) => {
    const { kind } = origin.actor
    const source = kind === 'dashboard' || kind === 'cli' ? kind : 'api'
    return { keyword: null, messageId: null, source, createdAt: ids.now() } as const
  }
  return {
    list({ handle, lines }: OptOutFilter, page: PageRequest): Page<OptOutResource> {
      const before = cursorSeq(page.cursor)
      const filter = { handle: handle === undefined ? null : handleAsked(db, handle), lines }
      const found = listOptOuts(db, filter, { limit: page.limit + 1, before })
      return pageOf(found, page.limit, resourceOf, ({ seq }) => [seq])
    },
    /** `line` is null for all lines. */
    async put(written: string, line: string | null, origin: Origin): Promise<OptOutResource> {
      const handle = knownHandle(db, written)
      const lineId = line === null ? null : existingLine(db, line)
      const optOut = await writer.write((tx) => {
        const known = optOutsOf(tx, handle).find((one) => one.lineId === lineId)
        if (known !== undefined) return known
        const added = { handle, lineId, ...byHand(origin) }
        begin(tools, tx, added, null)
        const after = { handle, phone_line_id: lineId }
        audit.record(tx, origin, { action: 'opt_out.added', about: ABOUT, after })
        return added
      })
      dispatchSignal.notify()
      return resourceOf(optOut)
    },
    /** Ends that of one line, or every one of the person. */
    async remove(written: string, line: string | undefined, origin: Origin): Promise<void> {
      const handle = handleIn(db, written)
      await writer.write((tx) => {
        const known = optOutsOf(tx, handle)
        const ended = known.filter(({ lineId }) => line === undefined || lineId === line)
        if (ended.length === 0) {
          throw new RelayError('not_found', 'There is no opt-out of this handle.')
        }
        for (const one of ended) {
          deleteOptOut(tx, one)
          const by = { handle, lineId: one.lineId, ...byHand(origin) }
          tools.publish.optOut(tx, 'contact.opted_in', by, null)
          const before = { handle, phone_line_id: one.lineId, keyword: one.keyword }
          audit.record(tx, origin, { action: 'opt_out.removed', about: ABOUT, before })
        }
      })
    },
  }
}

function resourceOf(optOut: OptOut): OptOutResource {
  return optOutFields(optOut, isoTime(optOut.createdAt))
}

/** Its fields name the person: the log, which repeats the id, must not. */
const ABOUT = { kind: 'opt_out', id: null } as const

function existingLine(db: Db, id: string): LineId {
  const known = parseId('line', id)
  const line = known === null ? null : getLine(db, known)
  if (line !== null) return line.id
  throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
}
