// Sentences of the search box.

import { countWords } from './common.ts'

export const SEARCH = {
  placeholder: 'Name, number or words of a message',
  label: 'Search people, conversations and messages',
  people: 'People',
  conversations: 'Conversations',
  messages: 'Messages',
  results: 'Results',
  found: (count: number) => countWords(count, 'result'),
  hint: 'Type a name, a part of a number, or words of a message. Choose with the arrow keys and Enter.',
  nothing: 'No results',
  nothingFor: 'Check the spelling, or try fewer letters.',
  incomplete: 'Older messages were not searched. A longer word finds more.',
} as const
