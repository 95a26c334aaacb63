import { TEST_HANDLE } from '../domain/handle.ts'
import { guidFromBytes, idFromBytes, type Timestamp } from '../domain/ids.ts'
import type { Approval, MessageExtras } from '../domain/message-extras.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Attachment } from '../storage/attachments.ts'
import type { PlacedGroup } from '../storage/message-parts.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { alertChange, groupUpdate, optOutChange, payloadOf, type EventChange } from './payload.ts'

const NO_BYTES = new Uint8Array(16)
const LINE = idFromBytes('line', NO_BYTES)
const GUID = guidFromBytes(NO_BYTES)
const ANSWERED: readonly EventName[] = [
  'message.received',
  'group_message.received',
  'message.edited',
  'message.unsent',
]

/** The body of a test event. No real message has its handle or line: a reply to it goes nowhere. */
export function samplePayload(name: EventName, ids: LogicalClock): string {
  const now = ids.now()
  const withoutMessage = sampleWithoutMessage(name, ids, now)
  if (withoutMessage !== null) return withoutMessage
  const isFailed = name.endsWith('message.failed')
  const isUnsent = isFailed || name.startsWith('approval.')
  const isFile = name.startsWith('attachment.')
  const isInbound = isFile || ANSWERED.includes(name)
  const message = {
    id: ids.id('msg'),
    guid: GUID,
    text: name === 'message.unsent' ? '' : 'This is a test event of Hookline.',
    handle: TEST_HANDLE,
    service: 'iMessage',
    lineId: LINE,
    direction: isInbound ? 'inbound' : 'outbound',
    extras: sampleExtras(name, now),
    sentAt: isUnsent ? null : now,
    deliveredAt: null,
    readAt: null,
    error: isFailed ? { code: 'test', message: 'This failure is a test.' } : null,
  } as const
  const file = isFile ? sampleFile(name, now) : null
  const parts = {
    ...(file && { attachments: [{ ...file, isSent: null }] }),
    ...(name.startsWith('group_') && { group: sampleGroup() }),
  }
  return payloadOf(name, message, parts, file ? { attachment: file } : sampleChange(name, now))
}

function sampleWithoutMessage(name: EventName, ids: LogicalClock, now: Timestamp): string | null {
  if (name === 'group.updated') {
    const changed = { lineId: LINE, group: sampleGroup(), change: 'renamed', at: now } as const
    return groupUpdate({ ...changed, actor: TEST_HANDLE, target: null })
  }
  if (name === 'alert.raised' || name === 'alert.resolved') return sampleAlert(name, ids, now)
  if (name !== 'contact.opted_out' && name !== 'contact.opted_in') return null
  const keyword = name === 'contact.opted_out' ? 'STOP' : 'START'
  const scope = { handle: TEST_HANDLE, lineId: null, messageId: ids.id('msg') }
  return optOutChange(name, { ...scope, keyword, source: 'keyword', createdAt: now }, LINE)
}

function sampleAlert(name: 'alert.raised' | 'alert.resolved', ids: LogicalClock, now: Timestamp) {
  const isOver = name === 'alert.resolved'
  return alertChange(name, {
    id: ids.id('alert'),
    cause: 'line_off',
    title: 'This is a test event of Hookline.',
    about: { kind: 'line', id: LINE },
    phone_line_id: LINE,
    since: isoTime(now),
    raised_at: isoTime(now),
    resolved_at: isOver ? isoTime(now) : null,
    lasted_seconds: isOver ? 0 : null,
  })
}

function sampleExtras(name: EventName, now: Timestamp): MessageExtras | null {
  if (name.startsWith('approval.')) return { approval: sampleApproval(name, now) }
  if (name === 'message.unsent') return { unsentAt: now }
  return name === 'message.edited' ? { edits: [{ text: 'This is a test.', at: now }] } : null
}

function sampleApproval(name: EventName, now: Timestamp): Approval {
  const requestedBy = idFromBytes('key', NO_BYTES)
  const open = { requestedBy, reason: null, originalText: null }
  return name === 'approval.requested'
    ? { ...open, state: 'pending', resolvedBy: null, resolvedAt: null }
    : { ...open, state: 'approved', resolvedBy: 'dashboard', resolvedAt: now }
}

function sampleChange(name: EventName, at: Timestamp): EventChange | undefined {
  if (name !== 'message.reaction') return undefined
  const who = { handle: TEST_HANDLE, isFromMe: false, part: 0 }
  const what = { kind: 'reaction', action: 'added', type: 'like', emoji: null } as const
  return { reaction: { guid: GUID, targetGuid: GUID, at, isHistory: false, ...who, ...what } }
}

function sampleFile(name: EventName, createdAt: Timestamp): Attachment {
  return {
    id: idFromBytes('att', NO_BYTES),
    filename: 'test.png',
    mimeType: 'image/png',
    declaredType: 'image/png',
    size: 68,
    sha256: null,
    width: null,
    height: null,
    durationMs: null,
    direction: 'inbound',
    state: name === 'attachment.available' ? 'available' : 'failed',
    messageId: null,
    deviceGuid: GUID,
    createdAt,
    expiresAt: null,
  }
}

function sampleGroup(): PlacedGroup {
  return {
    conversationId: idFromBytes('conv', NO_BYTES),
    identifier: TEST_HANDLE,
    chatGuid: `iMessage;+;${GUID}`,
    name: 'Test group',
    participants: [TEST_HANDLE],
    state: 'active',
  }
}
