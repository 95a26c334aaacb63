// Messages that a line receives but doesn't announce. Each of them is counted.

export const NOT_RELAYED_KINDS = [
  'sms',
  'rcs',
  'group',
  'spam',
  /** The device doesn't say which conversation it belongs to. */
  'unplaced',
  'not_understood',
  /** From the line's own address: an echo of the owner's message, or a note to themselves. */
  'own',
  /** The same content again within seconds, because a device ran its automation twice. */
  'repeated',
  /** The message that a device without support for edits makes of an edit, in addition to the edit. */
  'edit_copy',
] as const

export type NotRelayedKind = (typeof NOT_RELAYED_KINDS)[number]

/** Kinds that the device itself withholds: the message is listed as history. */
export type Withheld = Extract<NotRelayedKind, 'spam' | 'unplaced'>

/** Kinds that never become a message and are only counted. */
export const LEFT_OUT_KINDS = [
  'group',
  'unplaced',
  'not_understood',
  'own',
  'repeated',
  'edit_copy',
] as const satisfies readonly NotRelayedKind[]
export type LeftOut = (typeof LEFT_OUT_KINDS)[number]

/**
 * The kind of a message that `relay_sms` controls; null for iMessage, iMessage by satellite (`iMessageLite`) and
 * services that aren't known yet.
 */
export function carrierKind(service: string): Extract<NotRelayedKind, 'sms' | 'rcs'> | null {
  if (service === 'SMS') return 'sms'
  return service === 'RCS' ? 'rcs' : null
}

type Relaying = { readonly relaySms: boolean; readonly relayGroups: boolean }

/** True if the line relays the kind now, so that counted messages are from before. */
export function isRelayedNow(line: Relaying, kind: NotRelayedKind): boolean {
  if (kind === 'group') return line.relayGroups
  return line.relaySms && (kind === 'sms' || kind === 'rcs')
}

/** A way to get what wasn't relayed, in one sentence. `hasGroups`: whether this kind of line can relay groups. */
export function hintFor(line: Relaying, kind: NotRelayedKind, hasGroups: boolean): string {
  if (!isRelayedNow(line, kind)) {
    return kind === 'group' && !hasGroups ? NO_GROUPS : NOT_RELAYED_WORDS[kind].hint
  }
  if (kind === 'group') return 'relay_groups is on: new ones are announced; these stay in Messages.'
  return 'relay_sms is on: new ones are announced; these are listed.'
}

const NO_GROUPS = 'Read them in Messages; a line of this kind relays messages between two.'

const LISTED = 'They are listed as history.'
const SWITCH_ON =
  'Switch relay_sms on (hookline lines set ID --relay-sms true, or on the page of the line) and ' +
  'new ones are announced; those that came before stay history.'

export const NOT_RELAYED_WORDS: Readonly<
  Record<NotRelayedKind, { readonly title: string; readonly why: string; readonly hint: string }>
> = {
  sms: { title: 'SMS are not announced', why: LISTED, hint: SWITCH_ON },
  rcs: { title: 'RCS messages are not announced', why: LISTED, hint: SWITCH_ON },
  group: {
    title: 'Group messages are not relayed',
    why: 'They are not stored; they stay in Messages.',
    hint:
      'Switch relay_groups on (hookline lines set ID --relay-groups true) and new ones are stored and ' +
      'announced; those that came before stay in Messages.',
  },
  spam: {
    title: 'Junk messages were not announced',
    why: `Messages took them for junk. ${LISTED}`,
    hint: 'Look for them in the list; if one is no junk, say so in Messages.',
  },
  unplaced: {
    title: 'Messages without a conversation were not announced',
    why: 'Messages did not say whether they belong to a group. Those with a sender are listed as history.',
    hint: 'Look for them in the list, or in Messages.',
  },
  not_understood: {
    title: 'Messages of an unknown kind were left out',
    why: 'They are not stored; they stay in Messages.',
    hint: 'Upgrade Hookline; if that does not help, record "hookline mac trace" and report it.',
  },
  own: {
    title: "Messages from this line's own addresses were left out",
    why: 'They came from a number or an email address that this device itself sends from or receives on.',
    hint:
      'Notes to yourself and copies of your own messages need no action. If somebody else uses that ' +
      'address now, sign it out in the settings of Messages; six weeks after its last use here it counts as theirs.',
  },
  repeated: {
    title: 'Messages that came twice were taken once',
    why: 'Each had the sender, words and file of one that came within five seconds before it.',
    hint: 'No action is needed if the automation of the iPhone ran twice. See that it exists once only.',
  },
  edit_copy: {
    title: 'Copies of edits were left out',
    why: 'A device with an older system writes "Edited to" as a message beside each edit. The edits were announced.',
    hint: 'Nothing is missing. Update the oldest device of this Apple Account and the copies end.',
  },
}
