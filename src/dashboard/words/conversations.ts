// Sentences of the list of conversations, of a thread, and of the forms that send.

import type { Reaction } from '../../api/messages.ts'
import { countWords, grouped } from './common.ts'

export const CONVERSATIONS = {
  title: 'Conversations',
  all: 'All conversations',
  one: 'Conversation',
  create: 'New conversation',
  noneChosen: 'No conversation selected',
  chooseOne: 'Choose one from the list, or start a new one.',
  searchBy: 'Search by name, number, email or group',
  search: 'Search',
  kind: 'Kind of conversation',
  kinds: { '': 'Everyone', direct: 'People', group: 'Groups' },
  state: 'Show',
  states: { '': 'All', unread: 'Unread', unanswered: 'Unanswered' },
  line: 'Line',
  allLines: 'All lines',
  nothingFound: 'No results',
  tryOther: 'Try another name, a part of the number, or fewer filters.',
  writeTo: (number: string) => `Write to ${number}`,
  none: 'No messages yet',
  firstMessage: (number: string | undefined) =>
    `${number === undefined ? 'Start a conversation' : `Text ${number} from a phone`}, or write the first message from here.`,
  groupPrefix: 'Group: ',
  takeover: 'Human takeover',
  takenOver: 'Human takeover.',
  unread: (count: number) => `${countWords(count, 'unread message')}.`,
  missing: 'Conversation not found',
  whyMissing: 'It may have been removed by your retention setting.',
  via: 'via ',
  optedOut: { text: 'Opted out', tone: 'warn', icon: 'cross' },
  people: (count: number) => (count === 1 ? '1 person' : `${grouped(count)} people`),
  peopleInGroup: 'People in this group',
  takeoverOn: 'Human takeover is on. Apps are asked not to reply.',
  takeoverOff: 'Human takeover is off. Apps may reply again.',
  messages: 'Messages',
  them: 'them',
  newMessages: (count: number, name: string) => `${countWords(count, 'new message')} from ${name}`,
  toLatest: 'Jump to latest',
  notAllShown: "Older messages aren't shown here. Export the conversation to read them.",
  more: 'More',
  print: 'Print conversation',
  printing: 'Getting all messages…',
  exportCsv: 'Export as table (CSV)',
  exportJson: 'Export as JSON',
  you: 'You',
} as const

export const BUBBLE = {
  outgoing: 'Outgoing:',
  incoming: 'Incoming:',
  replyTo: 'In reply to: ',
  someMessage: 'A message',
  unsent: 'Message unsent',
  reactions: 'Reactions',
  edited: 'Edited',
  saved: 'Saved.',
  markSent: 'Mark as sent',
  markFailed: 'Mark as failed',
  cancel: 'Cancel sending',
} as const

export const APPROVAL = {
  waiting: (count: number) =>
    count === 1
      ? 'This message needs your approval'
      : `${grouped(count)} messages need your approval`,
  approve: 'Approve',
  approved: 'Approved.',
  denied: 'Denied. It will not be sent.',
  dialogs: {
    approve: { open: 'Edit…', title: 'Edit and approve', confirm: 'Approve', label: 'Text' },
    deny: {
      open: 'Deny…',
      title: 'Deny this message?',
      confirm: 'Deny',
      label: 'Reason (optional)',
    },
  },
} as const

export const NOTIFY = {
  title: 'Notifications',
  about: 'Shown by this browser while Hookline is open in a tab that you are not looking at.',
  on: 'Notify me of new messages',
  text: 'Show the text of messages',
  denied: 'This browser blocks notifications for this page. Allow them in its site settings.',
  unavailable: 'Browsers show notifications only for pages opened over HTTPS or on this computer.',
  newMessage: 'New message',
  needsApproval: 'A message needs your approval',
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

/** Equal reactions, once. */
export type ReactionWords = {
  readonly sign: string
  readonly count: number
  readonly words: string
}

/** "❤️ 2" for "Love from you and +12025550147". */
export function reactionWords(reactions: readonly Reaction[]): readonly ReactionWords[] {
  const bySign = Map.groupBy(reactions, ({ type, emoji }) => emoji ?? REACTIONS[type][0])
  return [...bySign].map(([sign, alike]) => {
    const givers = alike.map(({ is_from_me, handle }) => (is_from_me ? 'you' : handle))
    const [first] = alike
    const name = first === undefined ? '' : REACTIONS[first.type][1]
    return { sign, count: alike.length, words: `${name} from ${givers.join(', ')}` }
  })
}
