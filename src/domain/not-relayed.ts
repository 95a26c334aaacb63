// What a line receives and announces to nobody. None of it is dropped without a count.

export const NOT_RELAYED_KINDS = [
  'sms',
  'rcs',
  'group',
  'spam',
  'unplaced',
  'not_understood',
] as const

export type NotRelayedKind = (typeof NOT_RELAYED_KINDS)[number]

/** Why the device itself keeps a message from being announced: it is listed as history. */
export type Withheld = Extract<NotRelayedKind, 'spam' | 'unplaced'>

/** What never becomes a message: it is counted and nothing else. */
export type LeftOut = Extract<NotRelayedKind, 'group' | 'unplaced' | 'not_understood'>

/**
 * The kind of a message that `relay_sms` decides about; null for iMessage and its family: iMessage by
 * satellite (`iMessageLite`), and services that nobody has named yet.
 */
export function carrierKind(service: string): Extract<NotRelayedKind, 'sms' | 'rcs'> | null {
  if (service === 'SMS') return 'sms'
  return service === 'RCS' ? 'rcs' : null
}

type Words = {
  readonly title: string
  /** Goes on behind "12 since 3 November". */
  readonly what: string
  /** How the owner gets them. */
  readonly hint: string
}

const CARRIER_HINT =
  'Switch on relay_sms ("hookline lines set ID --relay-sms true", or the line\'s page) and new ones are announced; those of before stay in the list.'

/** The sentences for the owner, of the health catalogue, the API and the dashboard. */
export const NOT_RELAYED_WORDS: Readonly<Record<NotRelayedKind, Words>> = {
  sms: {
    title: 'SMS are not relayed',
    what: 'They are listed as history and were not announced.',
    hint: CARRIER_HINT,
  },
  rcs: {
    title: 'RCS messages are not relayed',
    what: 'They are listed as history and were not announced.',
    hint: CARRIER_HINT,
  },
  group: {
    title: 'Group messages are not relayed',
    what: 'They are not stored; they stay in Messages.',
    hint: 'Read them in Messages; Hookline relays messages between two.',
  },
  spam: {
    title: 'Junk messages were not announced',
    what: 'Messages took them for junk; they are listed as history.',
    hint: 'Look for them in the list; where one is no junk, say so in Messages.',
  },
  unplaced: {
    title: 'Messages without a conversation were not announced',
    what: 'Messages did not say which conversation they belong to; those with a sender are listed as history.',
    hint: 'Look for them in the list, and in Messages on the device.',
  },
  not_understood: {
    title: 'Messages of an unknown kind were left out',
    what: 'This version of Hookline does not know their kind; they stay in Messages.',
    hint: 'Upgrade Hookline; where that does not help, record "hookline mac trace" and report it.',
  },
}
