// A phone that notes every touch of its send button, with what was on the screen at that moment, and whose titles may
// settle late.

import { MessagesPhone } from './messages-phone.ts'
import type { JsonNode } from './messages-tree.ts'

/** A touch of the send button: the chat in front, and what its composer held. */
export type SendTouch = { readonly key: string; readonly draft: string }

/** What the bar of a chat says for so long after the chat was opened. */
export type EarlyTitle = { readonly title: string; readonly forMs: number }

export class WatchedPhone extends MessagesPhone {
  readonly sendTouches: SendTouch[] = []
  readonly earlyTitles = new Map<string, EarlyTitle>()

  override touchSend(): void {
    const { screen } = this
    if (screen.on === 'chat') {
      this.sendTouches.push({ key: screen.chat.key, draft: screen.chat.draft })
    }
    super.touchSend()
  }

  override tree(): JsonNode {
    const { screen } = this
    if (screen.on !== 'chat') return super.tree()
    const { chat, openedAt } = screen
    const early = this.earlyTitles.get(chat.key)
    if (early === undefined || this.clock.monotonic() - openedAt >= early.forMs) return super.tree()
    const { title } = chat
    chat.title = early.title
    const tree = super.tree()
    chat.title = title
    return tree
  }
}
