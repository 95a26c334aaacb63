// One row of the list of conversations. Its label is `<name>, <preview>, <date>[, muted][, unread]` (ChatKit's
// accessibility bundle, CKConversationListCellAccessibility); the order of its parts is unproven.

import type { UiNode } from '../agent/ui-tree.ts'
import { comparable } from './plain-text.ts'
import type { UiWords } from './ui-words.ts'

export type ChatCell = {
  /** What stands before the first comma: on a phone without contacts a number or an address. */
  readonly name: string
  /** What the cell says, without the date, which changes as days go by. */
  readonly mark: string
  readonly isUnread: boolean
  readonly point: { readonly x: number; readonly y: number }
}

const TIME_OR_DATE = /^(?:\d{1,2}[:.]\d{2}(?:\s*[AaPp]\.?[Mm]\.?)?|\d{1,2}\/\d{1,2}\/\d{2,4})$/

export function conversationCell(cell: UiNode, words: UiWords): ChatCell {
  const label = comparable(cell.label ?? '')
  const parts = label.split(', ')
  const isUnread = parts.slice(-3).some((part) => words.unread.includes(part))
  const { x, y, width, height } = cell.rect
  return {
    name: parts[0] ?? '',
    mark: `${withoutEnd(parts, words).join(', ')}${isUnread ? '\n' : ''}`,
    isUnread,
    point: { x: x + width / 2, y: y + height / 2 },
  }
}

/** The parts before the date and what follows it. */
function withoutEnd(parts: readonly string[], words: UiWords): readonly string[] {
  let end = parts.length
  while (end > 1 && [...words.unread, ...words.muted].includes(parts[end - 1] ?? '')) end -= 1
  if (end > 1 && isDate(parts[end - 1] ?? '', words)) end -= 1
  return parts.slice(0, end)
}

function isDate(part: string, words: UiWords): boolean {
  if (part === words.today || part === words.yesterday || TIME_OR_DATE.test(part)) return true
  return words.weekdays.some((day) => part.startsWith(day) && part.endsWith('day'))
}
