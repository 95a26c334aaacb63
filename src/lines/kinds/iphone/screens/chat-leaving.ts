import type { Handle } from '../../../../domain/handle.ts'
import { isTitleOf, type ChatTitle } from './chat-title.ts'
import type { TranscriptScreen } from './messages-screen.ts'
import { comparable } from './plain-text.ts'
import type { TranscriptMemory } from './transcript-memory.ts'
import { showList, type Hands } from './ui-hands.ts'

/** So much of the last text stands in the list at least. */
const PREVIEW_LENGTH = 20

/**
 * Goes back to the list from a chat that was just read. Its conversation counts as known only if the list
 * shows what was read: something may have come in between.
 */
export async function leaveChat(
  tools: Hands & { readonly memory: TranscriptMemory },
  { title, chat, bubbles }: TranscriptScreen,
  signal: AbortSignal,
): Promise<void> {
  const list = await showList(tools, signal)
  const cell = list.cells.find(({ name }) => name === title)
  const preview = comparable(bubbles.at(-1)?.text ?? '').slice(0, PREVIEW_LENGTH)
  if (cell === undefined || cell.isUnread || !cell.mark.includes(preview)) return
  tools.memory.keepMark(cell.mark, cell.name, chat.kind === 'direct')
}

/** Whom a chat is with: a title may lack the country of a number that is known with it. */
export function handleOf(
  memory: TranscriptMemory,
  chat: Extract<ChatTitle, { readonly kind: 'direct' }>,
): Handle {
  if (memory.chat(chat.handle) !== null) return chat.handle
  return memory.handles.find((handle) => isTitleOf(chat, handle)) ?? chat.handle
}
