// Sentences of the lines: their list, a line, its checks and tests.

import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { countWords, grouped } from './common.ts'

export const LINES = {
  title: 'Lines',
  lead: 'The Macs and iPhones that send and receive for the relay.',
  noun: 'Line',
  boxes: 'Boxes',
  whyMissing: 'It was deleted, or merged into another line.',
  offlineSince: 'Offline since:',
  none: 'No phone line yet',
  noneHint:
    "On a Mac that is signed in to Messages, the line appears automatically. If it doesn't, Home shows what's missing. To try Hookline without one, start the relay with:",
  command: 'Command',
  today: 'Today',
  resets: (time: string, timeZone: string | null) => `Resets at ${time} (midnight ${timeZone}).`,
  lastReceived: 'Last received',
  lastOutgoing: 'Last outgoing',
  queued: 'Queued',
  never: 'Never',
  messages: (count: number, isMore: boolean) => {
    if (isMore) return `${grouped(count)}+ messages`
    return count === 0 ? 'None' : countWords(count, 'message')
  },
  checks: 'Checks',
  checkStates: {
    ok: 'Passed',
    info: 'Info',
    warn: 'Warning',
    bad: 'Failed',
    unknown: 'Not checked yet',
  },
  checked: 'Checks updated.',
  checkAgain: 'Check again',
  newNumber: 'This device has a new number',
  newNumberHint:
    "If it's still the same line, its conversations continue with the new number. If this is another phone, reconnect the old one instead.",
  keepLine: 'Keep the line',
  // Sentences around the names of two lines.
  replaced: ['Did ', 'now', ' replace ', 'before', '?'],
  missing: ['The device of ', 'before', ' is missing. Another device can continue its line.'],
  mergeAsk: 'Merge lines…',
  mergeTitle: 'Merge these lines?',
  merge: 'Merge',
  mergeText: [
    'before',
    ' keeps its name, settings and conversations, and continues on the device of ',
    'now',
    '. ',
    'now',
    " will no longer be a separate line. This can't be undone.",
  ],
  adopted: 'The line continues on this device.',
  deleteHint: 'This line is no longer in use. Its messages are kept.',
  deleteConsequence:
    'It will no longer be listed. Its messages keep its ID and number, and can still be read.',
  settings: 'Settings',
  saved: 'Saved.',
  save: 'Save',
  name: 'Name',
  limit: 'Daily new-contact limit',
  limitError: 'Enter a whole number from 0 to 100,000.',
  limitHint: "Apple blocks lines that message many strangers. Existing contacts don't count.",
  sending: 'Send messages',
  sendingHint:
    'When off, it still receives. New messages through it are refused; those already queued wait up to 24 hours.',
  sms: 'Relay SMS and RCS',
  smsHint:
    'When on, webhooks fire for SMS and RCS as well. When off, they only appear in the history, and stay there if you turn this on later.',
  groups: 'Relay groups',
  groupsHint:
    'When on, group conversations are stored and webhooks fire for them. When off, their messages are only counted.',
  capabilities: 'Capabilities',
  capabilitiesLater: 'Shown once the line is online.',
  notSupported: 'Not supported:',
  quietHours: 'Quiet hours',
  quietHint: (zone: string) =>
    `Messages wait until they end, in the time zone ${zone}. Urgent ones don't.`,
  quietFrom: 'From',
  quietTo: 'To',
  quietOff: 'Turn off',
  test: 'Test this line',
  testText: (code: string) => `Hookline test ${code}`,
  own: 'Received, but from the line itself',
  ownHint: 'The phone you used has the same number or Apple Account. Use another one.',
  qr: (number: string) => `Opens a text to ${number}`,
  scan: [
    'Scan this with a phone that has',
    'a different number',
    ', and send the text that opens. Or send it yourself:',
  ],
  to: 'to',
  turnsGreen: 'This turns green as soon as the text arrives.',
  openHere: 'Open on this device',
  simulatedTest: [
    'No phone can reach a simulated line. Instead, it texts a simulated contact,',
    ', which replies with the same text.',
  ],
  simulateIncoming: 'Simulate an incoming message',
  mustBeOnline: 'The line must be online, with sending turned on.',
  waitingForReply: 'Waiting for the reply…',
  testAgain: 'Test again',
  arrived: 'Message received',
  receives: 'This line receives messages.',
  from: 'From',
  text: 'Text',
  event: 'Event',
  simulate: 'Simulate',
  simulated: 'Simulated. What this line relays is in Conversations.',
  exampleText: 'Is my table ready?',
  exampleGroup: 'Weekend',
  scenes: {
    text: 'Text message',
    sms: 'SMS',
    picture: 'Picture',
    heic: 'Picture in HEIC',
    pdf: 'PDF',
    slow: 'File that arrives after 15 seconds',
    never: 'File that never arrives',
    group: 'Message in a group',
    reply: 'Reply to the latest message',
    reaction: 'Reaction to the latest message',
    edit: 'Edit of the latest message',
    unsend: 'Unsend of the latest message',
  },
  can: {
    newContacts: 'Messages new contacts',
    delivered: 'Provides delivery receipts',
    read: 'Provides read receipts',
    chooseService: 'Lets you choose between iMessage and SMS',
    sendsFiles: 'Sends pictures and files',
    receivesFiles: 'Receives pictures and files',
    groupsIn: 'Receives group messages',
    groupsOut: 'Sends to existing groups',
    reactions: 'Receives reactions',
    replies: 'Receives replies with their quote',
    edits: 'Receives edits and unsent messages',
    guids: 'Provides device message IDs',
  },
} as const

/** `own`: the text came from the line's own number, so reading works, and nothing else is proven. */
export type TestOutcome =
  | { readonly outcome: 'waiting' }
  | { readonly outcome: 'own' }
  | { readonly outcome: 'arrived'; readonly message: Message }

/** The fate of a test text, found in the line's `messages` by its unique `code`. */
export function testOutcome(
  messages: readonly Message[],
  line: PhoneLine,
  code: string,
): TestOutcome {
  const found = messages.filter(({ text }) => text.includes(code))
  const message = found.find((each) => each.direction === 'inbound' && !isOwn(each, line))
  if (message !== undefined) return { outcome: 'arrived', message }
  return { outcome: found.some((each) => isOwn(each, line)) ? 'own' : 'waiting' }
}

/** True for a text typed on the device itself, or on another device of the same account. */
function isOwn({ source, direction, handle }: Message, { phone_number }: PhoneLine): boolean {
  if (direction === 'inbound') return handle === phone_number
  return source === 'device'
}
