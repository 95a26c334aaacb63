// People of a conversation: their names, and a color for each of a group's.

import { tidyHandle } from './outbox.ts'
import type { Conversation, Message, Person } from './resources.ts'

/** The colors of people, as the style sheet numbers them. */
export const COLOR_COUNT = 8
const NAMED_MAX = 3

export function personName({ handle, name }: Person): string {
  return name ?? handle
}

/** The class with the color of a person: the same in every conversation, whatever order people have. */
export function personColor(handle: string): string {
  let hash = 0
  for (const character of handle) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return `person-color-${hash % COLOR_COUNT}`
}

export function isGroup({ type }: Pick<Conversation, 'type'>): boolean {
  return type === 'group'
}

/** The person, or the name of the group; a group without a name is called by its people. */
export function conversationName(conversation: Conversation): string {
  if (!isGroup(conversation)) return conversation.handle
  const { name = null, participants = [] } = conversation
  if (name !== null && name !== '') return name
  if (participants.length === 0) return 'Group'
  const named = participants.slice(0, NAMED_MAX).map(personName).join(', ')
  const more = participants.length - NAMED_MAX
  return more > 0 ? `${named} and ${more} more` : named
}

/** The other side of a message: the person, or who wrote it to a group. */
export function counterpart({ conversation_type, handle, sender }: Message): string {
  if (conversation_type !== 'group') return handle
  return sender ? personName(sender) : 'Group'
}

/** True for a conversation whose name or people have the typed part in them. */
export function isAbout(conversation: Conversation, typed: string): boolean {
  const { handle, participants = [] } = conversation
  const part = tidyHandle(typed)
  if (!isGroup(conversation)) return handle.includes(part)
  if (participants.some((person) => person.handle.includes(part))) return true
  const names = [conversationName(conversation), ...participants.map(personName)]
  return names.some((name) => name.toLowerCase().includes(typed.trim().toLowerCase()))
}
