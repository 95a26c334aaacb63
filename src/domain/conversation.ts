/** Conversations with one person, groups, or both. */
export const CONVERSATION_TYPES = ['direct', 'group', 'all'] as const
export type ConversationType = (typeof CONVERSATION_TYPES)[number]

export const GROUP_STATES = ['active', 'left', 'unreachable'] as const

export const GROUP_CHANGES = [
  'participant_added',
  'participant_removed',
  'renamed',
  'icon_changed',
  'left',
] as const
export type GroupChange = (typeof GROUP_CHANGES)[number]
