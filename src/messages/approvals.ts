import type * as api from '../api/messages.ts'
import { makerOf, type AuditAction, type Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp } from '../domain/ids.ts'
import type { Approval } from '../domain/message-extras.ts'
import { mendedText, type Outbound } from '../domain/message.ts'
import { requirePermission, type KeyCaller } from '../domain/permissions.ts'
import type { Audit } from '../storage/audit.ts'
import { markRead } from '../storage/conversations.ts'
import type { Db, Tx } from '../storage/database.ts'
import { requireMessage, saveMessage, saveText } from '../storage/messages.ts'
import type { Writer } from '../storage/writer.ts'
import type { Signal } from '../system/signal.ts'
import type { DeferralTools } from './conversation-order.ts'
import { review } from './deferral.ts'
import { countByRules, requireByRules } from './key-rules.ts'
import { messageResource, type WaitReason } from './resource.ts'
import { conversationTarget, type Histories } from './send-target.ts'
import { failMessage, resolveApproval, type SettleTools } from './settle.ts'

type Tools = SettleTools &
  DeferralTools & {
    readonly db: Db
    readonly writer: Writer
    readonly waitReason: WaitReason
    readonly dispatchSignal: Signal
    readonly audit: Pick<Audit, 'record'>
  }

/** Decisions of people on messages whose key may not send by itself. */
export function createApprovals(tools: Tools) {
  return {
    /** The message may go, with `text` if that is given. */
    approve: (id: string, { text }: api.ApprovalRequest, decider: Decider) =>
      decide(tools, { id, ...decider, action: 'message.approved' }, (tx, message, by) => {
        const mended = text === undefined ? message.text : mendedText(text)
        const isChanged = mended !== message.text
        const extras = isChanged ? limitedByAuthor(tools, tx, message, decider) : message.extras
        if (isChanged) saveText(tx, message.seq, mended)
        const originalText = isChanged ? message.text : null
        const approved = resolveApproval(
          tools,
          tx,
          { ...message, text: mended, extras },
          { ...by, state: 'approved', originalText },
        )
        const now = tools.ids.now()
        const waitsFrom = timestamp(Math.max(approved.waitsFrom, now))
        review(tools, tx, saveMessage(tx, { ...approved, waitsFrom }, now))
        markRead(tx, message.conversationId, message.seq)
        return { is_text_changed: isChanged }
      }),
    deny: (id: string, request: api.DenialRequest, decider: Decider) =>
      decide(tools, { id, ...decider, action: 'message.denied' }, (tx, message, by) => {
        const reason = request.reason ?? null
        const denied = resolveApproval(tools, tx, message, { ...by, state: 'denied', reason })
        failMessage(tools, tx, denied, 'denied')
        return { reason }
      }),
  }
}

/** Who decides: the key is null for the owner and for members. */
export type Decider = { readonly origin: Origin; readonly key: KeyCaller | null }

/**
 * Other words are a send by the key that wrote them, which must be allowed to send them. Throws if it is not; else
 * returns the extras of the message, which keeps to the lines and the quiet hours of that key as well.
 */
function limitedByAuthor(tools: Tools, tx: Tx, message: Pending, { key }: Decider) {
  const { extras, conversationId } = message
  if (key === null) return extras
  requirePermission(key.permissions, 'messages:send')
  const { lineIds: lines, rules } = key.permissions
  const target = { ...conversationTarget(tx, conversationId), lines, extras }
  const now = tools.ids.now()
  requireByRules(tx, { key, target, histories: NO_HISTORIES }, now)
  countByRules(tx, key, message.id, now)
  const lineIds =
    lines === null ? extras.lineIds : (extras.lineIds ?? lines).filter((id) => lines.includes(id))
  const approval = { ...extras.approval, quietHours: rules.quietHours ?? undefined }
  return { ...extras, lineIds, approval }
}

const NO_HISTORIES: Histories = new Map()

type Decision = { readonly id: string; readonly origin: Origin; readonly action: AuditAction }

type By = Pick<Approval, 'resolvedBy'>

async function decide(
  { db, writer, waitReason, dispatchSignal, audit }: Tools,
  { id, origin, action }: Decision,
  act: (tx: Tx, message: Pending, by: By) => Readonly<Record<string, string | boolean | null>>,
): Promise<api.Message> {
  await writer.write((tx) => {
    const message = pending(tx, id)
    const { requestedBy } = message.extras.approval
    if (origin.actor.id === requestedBy) {
      throw new RelayError('forbidden', 'A key does not decide on its own messages.')
    }
    const after = act(tx, message, { resolvedBy: makerOf(origin) })
    const about = { kind: 'message', id: message.id } as const
    audit.record(tx, origin, { action, about, after: { requested_by: requestedBy, ...after } })
  })
  dispatchSignal.notify()
  return messageResource(db, requireMessage(db, id), waitReason)
}

type Pending = Outbound & {
  readonly extras: NonNullable<Outbound['extras']> & { readonly approval: Approval }
}

function pending(db: Db, id: string): Pending {
  const message = requireMessage(db, id)
  const { extras } = message
  const approval = extras?.approval
  if (extras !== null && approval?.state === 'pending') {
    return { ...message, extras: { ...extras, approval } }
  }
  const why = approval === undefined ? 'needs no approval' : `is already ${approval.state}`
  throw new RelayError('not_awaiting_approval', `The message ${why}.`)
}
