// A history of an iPhone line as data: the conversations on the phone, and what happens one thing after the other.
// It follows from a seed, can be shortened, and reads as a list of sentences.

/** Faults that a history may provoke: each history draws some of them. */
export const TROUBLES = [
  'bursts',
  'pins',
  'failed taps',
  'kills',
  'cable',
  'group names',
  'suggested names',
  'other chat in front',
  'alerts',
  'late composer',
  'late title',
  'turned to text',
  'words of the phone',
  'unsent and edited',
  'own words',
  'equal texts',
  'national twins',
  'read elsewhere',
  'sends',
] as const
export type Trouble = (typeof TROUBLES)[number]

export type HistoryChat = {
  /** Number or address of the person, or a name of ours for a group. */
  readonly key: string
  readonly title: string
  /** Senders of a group, as its bubbles name them; null for a chat with one person. */
  readonly senders: readonly string[] | null
  /** What its composer says at first, and for how long. */
  readonly firstMs: number
  /** What the bar says at first; null if it is right at once. */
  readonly earlyTitle: string | null
  readonly isPinned: boolean
  /** A message from before the line, so many minutes ago; null for a new chat. */
  readonly knownMinutes: number | null
}

/** What happens when the phone is given a certain command. */
export type Incident =
  | { readonly what: 'kill' }
  | { readonly what: 'unplug'; readonly ms: number }
  | { readonly what: 'front'; readonly key: string; readonly draft: string }
  | { readonly what: 'alert'; readonly buttons: readonly string[] }
  | { readonly what: 'fail'; readonly when: 'before' | 'after' | 'stale' | 'drop' }
  | { readonly what: 'receive'; readonly key: string; readonly text: string }

export type Act =
  | { readonly act: 'wait'; readonly ms: number }
  | { readonly act: 'receive'; readonly key: string; readonly text: string; readonly from: number }
  | { readonly act: 'write' | 'send'; readonly key: string; readonly text: string }
  | { readonly act: 'read'; readonly key: string }
  | { readonly act: 'unsend' | 'turn'; readonly key: string }
  | { readonly act: 'edit'; readonly key: string; readonly text: string }
  | { readonly act: 'react'; readonly key: string; readonly tapback: string }
  | { readonly act: 'rename'; readonly key: string; readonly title: string }
  /** At the command with this place among those that follow, or among the touches alone. */
  | {
      readonly act: 'later'
      readonly place: number
      readonly of: 'commands' | 'touches'
      readonly incident: Incident
    }

export type History = {
  readonly seed: number
  readonly troubles: readonly Trouble[]
  readonly keepsListPlace: boolean
  readonly chats: readonly HistoryChat[]
  readonly acts: readonly Act[]
}

export function sentencesOf({ seed, troubles, chats, acts }: History): readonly string[] {
  return [
    `Seed ${seed}: ${troubles.join(', ')}.`,
    ...chats.map((chat) => `There is ${chatSentence(chat)}.`),
    ...acts.map((act) => `${actSentence(act)}.`),
  ]
}

function chatSentence(chat: HistoryChat): string {
  const { key, title, senders, firstMs, earlyTitle, isPinned, knownMinutes } = chat
  const parts = [
    `${senders === null ? 'a chat with' : 'the group'} ${key}, titled ${JSON.stringify(title)}`,
    senders === null ? '' : ` of ${senders.join(' and ')}`,
    firstMs === 0 ? '' : `, whose composer says Text Message for ${firstMs} ms`,
    earlyTitle === null ? '' : `, whose bar says ${JSON.stringify(earlyTitle)} at first`,
    isPinned ? ', pinned' : '',
    knownMinutes === null ? '' : `, last written ${knownMinutes} min before the line`,
  ]
  return parts.join('')
}

function actSentence(act: Act): string {
  switch (act.act) {
    case 'wait':
      return `${act.ms / 1_000} s pass`
    case 'receive':
      return `${act.key} writes ${JSON.stringify(act.text)}`
    case 'write':
      return `The owner types to ${act.key}: ${JSON.stringify(act.text)}`
    case 'send':
      return `A program sends to ${act.key}: ${JSON.stringify(act.text)}`
    case 'read':
      return `The owner reads the chat with ${act.key} on another device`
    case 'unsend':
      return `${act.key} unsends the last message`
    case 'turn':
      return `The last message to ${act.key} turns into a text message`
    case 'edit':
      return `${act.key} edits the last message to ${JSON.stringify(act.text)}`
    case 'react':
      return `${act.key}'s last message gets ${JSON.stringify(act.tapback)}`
    case 'rename':
      return `The chat with ${act.key} is titled ${JSON.stringify(act.title)} from now on`
    case 'later':
      return `At number ${act.place} of the ${act.of} to come: ${incidentSentence(act.incident)}`
  }
}

function incidentSentence(incident: Incident): string {
  switch (incident.what) {
    case 'kill':
      return 'the relay is killed, and started again'
    case 'unplug':
      return `the cable is out for ${incident.ms / 1_000} s`
    case 'front':
      return `the chat with ${incident.key} comes to the front, with the draft ${JSON.stringify(incident.draft)}`
    case 'alert':
      return `an alert with ${incident.buttons.join(' and ')}`
    case 'fail':
      return `the command fails (${incident.when})`
    case 'receive':
      return `${incident.key} writes ${JSON.stringify(incident.text)}`
  }
}
