// Opt-outs. A keyword takes effect in the transaction of its message; the owner and programs add and end opt-outs by
// hand. Messages that wait for the person then fail.

import type { OptOut as OptOutResource } from '../api/contacts.ts'
import { cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import { parseId, type LineId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { OPTED_OUT, keywordIn } from '../domain/opt-out.ts'
import type { LineLimit } from '../domain/routing.ts'
import type { Core } from '../storage/core.ts'
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
import { mark } from '../storage/timeline.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Signal } from '../system/signal.ts'
import type { OptOutCause, PublishOther } from '../webhooks/publish.ts'
import type { Outcomes } from './settle.ts'

export class OptOuts {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof OptOuts>[1]

  constructor(
    core: Core,
    deps: {
      readonly publish: PublishOther
      readonly dispatchSignal: Signal
      readonly outcomes: Outcomes
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  /** Applies a received keyword, for all lines. Ignores other texts and groups. */
  takeKeyword(tx: Tx, message: Message): void {
    if (message.direction === 'outbound' || message.isGroup) return
    const found = this.#core.settings.get('opt_out') === 'off' ? null : keywordIn(message.text)
    if (found === null) return
    const { keyword, meaning } = found
    const { handle, id: messageId, createdAt } = message
    const optOut = {
      handle,
      lineId: null,
      keyword,
      messageId,
      source: 'keyword',
      createdAt,
    } as const
    if (meaning === 'out') return this.#begin(tx, optOut, message)
    for (const ended of optOutsOf(tx, handle)) {
      if (ended.lineId !== null && ended.lineId !== message.lineId) continue
      deleteOptOut(tx, ended)
      const by = { ...optOut, lineId: ended.lineId }
      this.#ended(tx, by, message)
    }
  }

  /** An existing opt-out stays as it is and isn't announced again. */
  #begin(tx: Tx, optOut: OptOut, cause: OptOutCause): void {
    if (!insertOptOut(tx, optOut)) return
    markOptOut(tx, 'opt_out', optOut)
    this.#deps.publish.optOut(tx, 'contact.opted_out', optOut, cause)
    if (this.#core.settings.get('opt_out') !== 'enforce') return
    for (const waiting of waitingTo(tx, { handle: optOut.handle, lineId: optOut.lineId })) {
      if (waiting.extras?.isConfirmed !== true) this.#deps.outcomes.failNext(tx, waiting, OPTED_OUT)
    }
  }

  #ended(tx: Tx, by: OptOut, cause: OptOutCause): void {
    markOptOut(tx, 'opt_in', by)
    this.#deps.publish.optOut(tx, 'contact.opted_in', by, cause)
  }

  #byHand(origin: Origin) {
    const { kind } = origin.actor
    const source = kind === 'dashboard' || kind === 'cli' ? kind : 'api'
    return { keyword: null, messageId: null, source, createdAt: this.#core.ids.now() } as const
  }

  list(
    { handle, lines }: { readonly handle?: string | undefined; readonly lines: LineLimit },
    page: PageRequest,
  ): Page<OptOutResource> {
    const { db } = this.#core
    const filter = { handle: handle === undefined ? null : handleAsked(db, handle), lines }
    const bounds = { limit: page.limit + 1, before: cursorSeq(page.cursor) }
    const found = listOptOuts(db, filter, bounds)
    return pageOf(found, page.limit, resourceOf, ({ seq }) => [seq])
  }

  /** `line` null means all lines. */
  async put(written: string, line: string | null, origin: Origin): Promise<OptOutResource> {
    const handle = knownHandle(this.#core.db, written)
    const lineId = line === null ? null : existingLine(this.#core.db, line)
    const optOut = await this.#core.writer.write((tx) => {
      const known = optOutsOf(tx, handle).find((one) => one.lineId === lineId)
      if (known !== undefined) return known
      const added = { handle, lineId, ...this.#byHand(origin) }
      this.#begin(tx, added, null)
      const after = { handle, phone_line_id: lineId }
      this.#core.audit.record(tx, origin, { action: 'opt_out.added', about: ABOUT, after })
      return added
    })
    this.#deps.dispatchSignal.notify()
    return resourceOf(optOut)
  }

  /** Ends the person's opt-out from one line, or all of them. */
  async remove(written: string, line: string | undefined, origin: Origin): Promise<void> {
    const handle = handleIn(this.#core.db, written)
    await this.#core.writer.write((tx) => {
      const known = optOutsOf(tx, handle)
      const ended = known.filter(({ lineId }) => line === undefined || lineId === line)
      if (ended.length === 0) {
        throw new RelayError('not_found', 'There is no opt-out of this handle.')
      }
      for (const one of ended) {
        deleteOptOut(tx, one)
        const by = { handle, lineId: one.lineId, ...this.#byHand(origin) }
        this.#ended(tx, by, null)
        const before = { handle, phone_line_id: one.lineId, keyword: one.keyword }
        this.#core.audit.record(tx, origin, { action: 'opt_out.removed', about: ABOUT, before })
      }
    })
  }
}

/** `by` is the opt-out that began, or how and when one ended. */
function markOptOut(tx: Tx, kind: 'opt_out' | 'opt_in', by: OptOut): void {
  const { handle, lineId, keyword, source, createdAt: at } = by
  mark(tx, { at, kind, lineId, about: handle, detail: { source: keyword ?? source } })
}

function resourceOf(optOut: OptOut): OptOutResource {
  return optOutFields(optOut, isoTime(optOut.createdAt))
}

/** No id: it would name the person, and the log repeats ids. */
const ABOUT = { kind: 'opt_out', id: null } as const

function existingLine(db: Db, id: string): LineId {
  const known = parseId('line', id)
  const line = known === null ? null : getLine(db, known)
  if (line !== null) return line.id
  throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
}
