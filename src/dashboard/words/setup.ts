import { countWords } from '../../domain/number-words.ts'

export const SETUP = {
  title: 'Set up Hookline',
  lead: 'The relay is running, but has no password yet.',
  runThis: 'To set one, run this on the computer that runs Hookline:',
  command: 'Command',
  thenOpen:
    'Then open the link it prints, on any device that can reach the relay. It works once, for 30 minutes. If you started the relay in a terminal, the link is already there.',
  steps: 'Setup steps',
  back: 'Back',
  later: 'Finish later',
  continue: 'Continue',
  skip: 'Skip',
  permissions: 'Permissions',
  permissionsLead: 'Hookline needs these permissions to read and send messages.',
  thisMac: 'This Mac',
  line: 'Connect a line',
  lineLead: 'The relay sends and receives messages through a line.',
  yourLines: 'Your lines',
  types: 'Types of line',
  mac: 'Messages on a Mac',
  macWords:
    " sends real iMessages from the Mac's number or Apple Account. Run the relay on that Mac, and the line appears automatically.",
  iphone: 'An iPhone',
  iphoneBefore: ' works as a line ',
  iphoneCable: 'over a cable',
  iphoneOr: ', or ',
  iphoneShortcuts: 'with Shortcuts',
  iphoneAfter: '.',
  simulated: 'A simulated line',
  simulatedWords:
    ' messages simulated contacts, and nothing leaves this computer. Use it for development and testing. Start the relay with:',
  noLines: 'No lines yet. New lines appear here automatically.',
  message: 'Send a first text',
  messageLead: 'Text your line to check that it receives messages.',
  noneReady: 'No line is ready',
  whatIsMissing: "See what's missing",
  whenReady: 'Once a line is ready, you can test it here.',
  lineField: 'Line',
  key: 'Create an API key',
  keyLead: 'Use a separate key for each app so you can revoke them individually.',
  haveKeys: (count: number) => `You already have ${countWords(count, 'key')}`,
  newest: 'The newest is ',
  createdBy: ', created by ',
  stop: '.',
  keyWords: "You'll get a key, its secret, and a command that sends a first message.",
  anotherKey: 'Create another key',
  newKey: 'New key',
  done: 'Hookline is set up',
  doneLead: 'You can do any skipped steps later in the dashboard.',
  next: 'Next steps',
  webhook: 'Add a webhook',
  webhookWords: ' to notify your app of replies.',
  send: 'Send a message',
  sendWords: ' yourself, and read the replies.',
  explore: 'Explore the API documentation',
  exploreWords: ', and try each call.',
  open: 'Open dashboard',
  timeZone: 'Time zone',
  timeZoneWords: (zone: string) => `The days of limits and figures begin at midnight ${zone}.`,
  useTimeZone: (zone: string) => `Use ${zone}`,
  newPassword: 'New password',
  confirmPassword: 'Confirm password',
  different: "The passwords don't match.",
  showPassword: 'Show password',
  choose: 'Choose a password',
  chooseNew: 'Choose a new password',
  chooseLead: 'Everyone who uses this dashboard signs in with it.',
  chooseNewLead: 'This signs out all other browsers.',
  setPassword: 'Set password',
  linkOver: 'This link no longer works',
  whyLinkOver: 'It was already used, is older than 30 minutes, or was replaced by a newer one',
  newLink: 'To get a new link, run this on the computer that runs Hookline:',
  signInInstead: 'Sign in instead',
} as const

// Length is all that counts: rules about symbols and capitals make people choose what is easy to guess.
const LENGTH_MIN = 12
const LENGTH_MAX = 200
const FAIR_FROM = 16
const GOOD_FROM = 20

/** The strength of a password, in a sentence; its length is counted as the relay does. */
export function strengthWords(password: string): string {
  const length = lengthOf(password)
  if (length === 0) return `At least ${LENGTH_MIN} characters. A few words in a row work well.`
  if (length < LENGTH_MIN) return `Too short: ${LENGTH_MIN - length} more needed.`
  if (length < FAIR_FROM) return 'Fair. Longer is harder to guess.'
  if (length < GOOD_FROM) return 'Good.'
  return 'Very good.'
}

/** The error beside the field of a password that cannot be used; null where it can. */
export function passwordProblem(password: string): string | null {
  const length = lengthOf(password)
  if (length < LENGTH_MIN) return `Use at least ${LENGTH_MIN} characters.`
  return length > LENGTH_MAX ? `Use at most ${LENGTH_MAX} characters.` : null
}

function lengthOf(password: string): number {
  return Array.from(password).length
}
