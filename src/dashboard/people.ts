// Names of the people in a conversation, and their colors in a group.

import type { Conversation, Message, Person } from '../api/messages.ts'
import { numberWords } from './numbers.ts'
import { grouped } from './words/common.ts'

/** The number of `person-color-…` classes in the style sheet. */
export const COLOR_COUNT = 8
const NAMED_MAX = 3

export function personName({ handle, name }: Person): string {
  return name ?? numberWords(handle)
}

/** A person's color class, the same in every conversation. */
export function personColor(handle: string): string {
  let hash = 0
  for (const character of handle) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return `person-color-${hash % COLOR_COUNT}`
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The first letters of the first and the last word of a name; null if it has no letter. */
export function initials(name: string): string | null {
  const words = name.split(/\s+/u).filter((word) => /\p{L}/u.test(word))
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  const letters = ends.map((word = '') => {
    const [first] = GRAPHEMES.segment(word.replace(/^[^\p{L}]+/u, ''))
    return first?.segment.toLocaleUpperCase() ?? ''
  })
  return letters.length === 0 ? null : letters.join('')
}

export function isGroup({ type }: Pick<Conversation, 'type'>): boolean {
  return type === 'group'
}

/** The person's name, or the group's; a group without a name is named after its people. */
export function conversationName(conversation: Conversation): string {
  const { handle, contact_name } = conversation
  if (!isGroup(conversation)) return contact_name ?? numberWords(handle)
  const { name = null, participants = [] } = conversation
  if (name !== null && name !== '') return name
  if (participants.length === 0) return 'Group'
  const named = participants.slice(0, NAMED_MAX).map(personName).join(', ')
  const more = participants.length - NAMED_MAX
  return more > 0 ? `${named} and ${grouped(more)} more` : named
}

/** The other person of a message; in a group, the sender. */
export function counterpart(message: Message): string {
  const { conversation_type, contact_name, handle, sender } = message
  if (conversation_type !== 'group') return contact_name ?? numberWords(handle)
  return sender ? personName(sender) : 'Group'
}
