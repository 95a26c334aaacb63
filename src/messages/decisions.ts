// People's decisions about messages: approve or deny a held send, cancel a queued one, resolve an uncertain one.

import type * as api from '../api/messages.ts'
import { makerOf, type AuditedChange, type Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import { mendedText, type Outbound } from '../domain/message.ts'
import { hasRules, requirePermission, type KeyCaller } from '../domain/permissions.ts'
import { markAnswered, markRead } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { lineageOf, linesWithin } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import { requireMessage, updateMessage } from '../storage/messages.ts'
import type { Signal } from '../system/signal.ts'
import { countByRules, requireByRules } from './key-rules.ts'
import type { MessageQueue } from './queue.ts'
import { messageResource, type WaitReason } from './resource.ts'
import { conversationTarget } from './send-target.ts'
import type { Outcomes } from './settle.ts'

/** The person or program that decides; `key` is null for the owner and members. */
export type Decider = { readonly origin: Origin; readonly key: KeyCaller | null }

type Pending = Outbound & {
  readonly extras: NonNullable<Outbound['extras']> & { readonly approval: Approval }
}

export class Decisions {
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof Decisions>[1]

  constructor(
    core: Core,
    deps: {
      readonly outcomes: Outcomes
      readonly queue: MessageQueue
      readonly waitReason: WaitReason
      readonly dispatchSignal: Signal
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  /** Approves a message, with a changed `text` if given. */
  approve(id: string, { text }: api.ApprovalRequest, decider: Decider): Promise<api.Message> {
    return this.#decide(id, decider, (tx, message) => {
      const held = pending(message, decider)
      const mended = text === undefined ? held.text : mendedText(text)
      const isChanged = mended !== held.text
      const worded = isChanged ? this.#reword(tx, held, { text: mended, by: decider }) : held
      const originalText = isChanged ? held.text : null
      const resolvedBy = makerOf(decider.origin)
      const decision = { resolvedBy, state: 'approved', originalText } as const
      const approved = this.#deps.outcomes.resolveApproval(tx, worded, decision)
      const now = this.#core.ids.now()
      const waitsFrom = timestamp(Math.max(approved.waitsFrom, now))
      this.#deps.queue.review(tx, updateMessage(tx, approved, { waitsFrom }, now))
      markRead(tx, held.conversationId, held.seq)
      markAnswered(tx, held.conversationId, held.seq)
      const { requestedBy } = held.extras.approval
      const after = { requested_by: requestedBy, is_text_changed: isChanged }
      return { action: 'message.approved', after }
    })
  }

  deny(id: string, request: api.DenialRequest, decider: Decider): Promise<api.Message> {
    return this.#decide(id, decider, (tx, message) => {
      const held = pending(message, decider)
      const { reason = null } = request
      const resolvedBy = makerOf(decider.origin)
      const decision = { resolvedBy, state: 'denied', reason } as const
      this.#deps.outcomes.fail(
        tx,
        this.#deps.outcomes.resolveApproval(tx, held, decision),
        'denied',
      )
      const after = { requested_by: held.extras.approval.requestedBy, reason }
      return { action: 'message.denied', after }
    })
  }

  resolve(id: string, status: 'sent' | 'failed', decider: Decider): Promise<api.Message> {
    return this.#decide(id, decider, (tx, message) => {
      if (message.status !== 'uncertain') {
        throw new RelayError('not_uncertain', `The message is ${message.status}, not uncertain.`)
      }
      requireOwn(tx, message, decider.key)
      const sent = { kind: 'sent', at: this.#core.ids.now(), reason: null } as const
      if (status === 'sent') this.#deps.outcomes.applyReceipt(tx, message, sent)
      else this.#deps.outcomes.fail(tx, message, 'resolved_by_hand')
      return { action: 'message.resolved', before: { status: message.status }, after: { status } }
    })
  }

  /** Also cancels a message that a driver holds but hasn't sent: it is then never sent. */
  cancel(id: string, decider: Decider): Promise<api.Message> {
    return this.#decide(id, decider, (tx, message) => {
      if (message.status !== 'queued' && message.status !== 'deferred') {
        throw new RelayError('not_queued', `The message is ${message.status}, not queued.`)
      }
      const { kind, id: by } = decider.origin.actor
      if (kind === 'member' && message.extras?.memberId !== by) {
        throw new RelayError('forbidden', 'Members cancel only their own messages.')
      }
      requireOwn(tx, message, decider.key)
      this.#deps.outcomes.fail(tx, message, 'canceled')
      return { action: 'message.canceled' }
    })
  }

  /** Cancels a queued message in the caller's transaction, whose commit wakes dispatch. */
  cancelIn(tx: Tx, id: string, origin: Origin): void {
    const message = requireMessage(tx, id)
    this.#deps.outcomes.fail(tx, message, 'canceled')
    const about = { kind: 'message', id: message.id } as const
    this.#core.audit.record(tx, origin, { action: 'message.canceled', about })
    this.#core.writer.afterCommit(() => this.#deps.dispatchSignal.notify())
  }

  async #decide(
    id: string,
    { origin }: Decider,
    act: (tx: Tx, message: Outbound) => Omit<AuditedChange, 'about'>,
  ): Promise<api.Message> {
    const { db, writer, audit } = this.#core
    await writer.write((tx) => {
      const message = requireMessage(tx, id)
      const about = { kind: 'message', id: message.id } as const
      audit.record(tx, origin, { ...act(tx, message), about })
    })
    this.#deps.dispatchSignal.notify()
    return messageResource(db, requireMessage(db, id), this.#deps.waitReason)
  }

  #reword(tx: Tx, held: Pending, to: { readonly text: string; readonly by: Decider }): Outbound {
    const extras = this.#limitedByAuthor(tx, held, to.by)
    return updateMessage(tx, held, { text: to.text, extras }, this.#core.ids.now())
  }

  /**
   * Changing the text is a send by the deciding key, which must be allowed to send it; throws if it isn't. Returns
   * the message's extras, now also limited to that key's lines and quiet hours.
   */
  #limitedByAuthor(tx: Tx, message: Pending, { key }: Decider) {
    const { extras, conversationId } = message
    if (key === null) return extras
    requirePermission(key.permissions, 'messages:send')
    const { limits, rules } = key.permissions
    const lines = linesWithin(tx, limits)
    const target = { ...conversationTarget(tx, conversationId), lines, extras }
    const now = this.#core.ids.now()
    requireByRules(tx, { key, target, histories: new Map() }, now)
    countByRules(tx, key, message.id, now)
    const lineIds = both(extras.lineIds, limits.lineIds)
    const siteIds = both(extras.siteIds, limits.siteIds)
    const approval = { ...extras.approval, quietHours: rules.quietHours ?? undefined }
    return { ...extras, lineIds, siteIds, approval }
  }
}

/** What two limits allow together; undefined for no limit. */
function both<T>(
  first: readonly T[] | undefined,
  second: readonly T[] | null,
): readonly T[] | undefined {
  return second === null ? first : (first ?? second).filter((id) => second.includes(id))
}

function pending(message: Outbound, { origin }: Decider): Pending {
  const { extras } = message
  const approval = extras?.approval
  if (extras === null || approval?.state !== 'pending') {
    const why = approval === undefined ? 'needs no approval' : `is already ${approval.state}`
    throw new RelayError('not_awaiting_approval', `The message ${why}.`)
  }
  if (origin.actor.id === approval.requestedBy) {
    throw new RelayError('forbidden', 'A key does not decide on its own messages.')
  }
  return { ...message, extras: { ...extras, approval } }
}

function requireOwn(db: Db, message: Outbound, key: KeyCaller | null): void {
  if (key === null || !hasRules(key.permissions)) return
  if (message.keyId !== null && lineageOf(db, message.keyId) === key.lineage) return
  throw new RelayError('forbidden', 'A key with rules decides only on its own messages.')
}
