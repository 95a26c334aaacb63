// Words that the list of conversations, threads and people share, and reactions.

import type { Reaction } from '../../api/messages.ts'

export const CONVERSATIONS = { all: 'All conversations', takeover: 'Human takeover' } as const

export const PEOPLE = {
  add: 'Add contact',
  edit: 'Edit contact',
  optedOut: 'Opted out',
} as const

const REACTIONS: Readonly<Record<Reaction['type'], readonly [sign: string, words: string]>> = {
  love: ['❤️', 'Love'],
  like: ['👍', 'Like'],
  dislike: ['👎', 'Dislike'],
  laugh: ['😂', 'Laugh'],
  emphasize: ['‼️', 'Emphasize'],
  question: ['❓', 'Question'],
  emoji: ['🙂', 'Emoji'],
  sticker: ['▣', 'Sticker'],
}

/** Groups equal reactions: "❤️ 2" for "Love from you and +12025550147". */
export function reactionWords(reactions: readonly Reaction[]) {
  const bySign = Map.groupBy(reactions, ({ type, emoji }) => emoji ?? REACTIONS[type][0])
  return [...bySign].map(([sign, alike]) => {
    const givers = alike.map(({ is_from_me, handle }) => (is_from_me ? 'you' : handle))
    const [first] = alike
    const name = first === undefined ? '' : REACTIONS[first.type][1]
    return { sign, count: alike.length, words: `${name} from ${givers.join(', ')}` }
  })
}
