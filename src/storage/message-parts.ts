import type { Handle } from '../domain/handle.ts'
import type { ConversationId } from '../domain/ids.ts'
import type { ReplyTarget } from '../domain/message-extras.ts'
import type { Message } from '../domain/message.ts'
import { attachmentsOf, type MessageAttachment } from './attachments.ts'
import type { Group } from './conversations.ts'
import type { Db } from './database.ts'
import { findGroup } from './groups.ts'
import { findMessage } from './messages.ts'

/** Parts of a message that aren't in its row. A plain direct text message has none. */
export type MessageParts = {
  readonly attachments?: readonly MessageAttachment[] | undefined
  readonly replyTo?: (ReplyTarget & { readonly excerpt: string | null }) | undefined
  readonly group?: PlacedGroup | undefined
}

export type PlacedGroup = Group & {
  readonly conversationId: ConversationId
  readonly identifier: Handle
}

const EXCERPT_LENGTH_MAX = 100

export function partsOf(db: Db, { id, isGroup, extras, conversationId }: Message): MessageParts {
  const count = extras?.attachmentCount ?? 0
  const replyTo = extras?.replyTo
  return {
    ...(count > 0 && { attachments: attachmentsOf(db, id) }),
    ...(replyTo && { replyTo: { ...replyTo, excerpt: excerptOf(db, replyTo) } }),
    ...(isGroup && { group: placedGroup(db, conversationId) ?? undefined }),
  }
}

export function placedGroup(db: Db, conversationId: ConversationId): PlacedGroup | null {
  const group = findGroup(db, conversationId)
  return group && { ...group, conversationId }
}

function excerptOf(db: Db, { messageId }: ReplyTarget): string | null {
  const target = messageId === null ? null : findMessage(db, messageId)
  return target && Array.from(target.text).slice(0, EXCERPT_LENGTH_MAX).join('')
}
