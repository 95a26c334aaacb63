// Changes of conversations by people and programs.

import type * as api from '../api/messages.ts'
import type { Origin } from '../domain/audit.ts'
import { markRead, pauseAutomation } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import type { Signal } from '../system/signal.ts'
import { exportConversation } from './export.ts'
import { separateTalk } from './merges.ts'
import { conversationResource, type WaitReason } from './resource.ts'
import { requireConversation } from './send-target.ts'

export type ConversationChanges = ReturnType<typeof createConversationChanges>

export function createConversationChanges(
  core: Core,
  {
    waitReason,
    dispatchSignal,
  }: { readonly waitReason: WaitReason; readonly dispatchSignal: Signal },
) {
  const { db, writer, audit } = core
  const read = (id: string): api.Conversation =>
    conversationResource(db, requireConversation(db, id), waitReason)
  return {
    /** Messages that were accepted before go on: a pause holds nothing back. */
    async pauseAutomation(id: string, isPaused: boolean): Promise<api.Conversation> {
      const known = requireConversation(db, id)
      await writer.write((tx) => pauseAutomation(tx, known.id, isPaused))
      return read(id)
    },
    async markRead(id: string, messageId: string): Promise<api.Conversation> {
      const known = requireConversation(db, id)
      const own = known.movedTo ?? known.id
      await writer.write((tx) => {
        const message = requireMessage(tx, messageId)
        if (message.conversationId !== own) throw noMessage()
        markRead(tx, own, message.seq)
      })
      return read(id)
    },
    /** Undoes the merge of the conversation with this id. */
    async separate(id: string, origin: Origin): Promise<api.Conversation> {
      await writer.write((tx) => separateTalk(core, tx, id, origin))
      dispatchSignal.notify()
      return read(id)
    },
    /** A file of all its messages, in pieces. */
    async export(id: string, format: api.ExportFormat, origin: Origin) {
      const found = requireConversation(db, id)
      const about = { kind: 'conversation', id: found.id } as const
      await writer.write((tx) =>
        audit.record(tx, origin, { action: 'conversation.exported', about }),
      )
      return exportConversation(db, waitReason, found, format)
    },
  }
}
