// The laws of an iPhone line, held against what really happened on the phone.

import { comparableLines } from '../../../src/lines/kinds/iphone/screens/labels.ts'
import { ENGLISH } from '../../../src/lines/kinds/iphone/screens/ui-words.ts'
import type { Json } from '../../support/test-relay.ts'
import type { Send } from './ledger.ts'
import type { Stage } from './stage.ts'

export type Faults = readonly string[]

/** Everything that is wrong at the end of a history. */
export async function faultsOf(stage: Stage): Promise<Faults> {
  const messages = await stage.messages()
  const [line] = await stage.box.relay.lines()
  const codes: readonly string[] = (await stage.box.relay.findings()).map(({ code }) => code)
  return [
    ...stage.refusals.map((refusal) => `a send was refused: ${refusal}`),
    ...(line?.status === 'online'
      ? []
      : [`the line stays ${line?.status}: ${line?.status_reason?.code}`]),
    ...stage.ledger.match(messages),
    ...untoldFaults(stage, codes),
    ...serviceFaults(stage),
    ...announcementFaults(stage, messages),
    ...stage.ledger.sends.flatMap((send) => sendFaults(stage, send, messages)),
    ...touchFaults(stage),
  ]
}

/** Findings that say that messages of a chat are not reported. */
const OF_UNTOLD = [
  'phone_has_contacts',
  'chat_without_number',
  'conversations_not_read',
  'messages_may_be_missing',
]

/** What the owner wrote under a name alone is not reported by number: then a finding has to say so. */
function untoldFaults({ ledger }: Stage, codes: readonly string[]): Faults {
  return ledger.untold.flatMap(({ chat, bubble, isNamed }) => {
    if (isNamed && codes.some((code) => OF_UNTOLD.includes(code))) return []
    const who = bubble.isFromMe ? 'the owner' : chat.key
    const finding = codes.length === 0 ? 'no finding' : `findings ${codes.join(', ')}`
    return [`never told, ${finding}: ${JSON.stringify(bubble.text)} of ${who} in ${chat.key}`]
  })
}

function serviceFaults({ ledger }: Stage): Faults {
  return ledger.said.flatMap(({ bubble, told }) => {
    if (told === null || bubble.isFromMe || told.service === bubble.service) return []
    return [
      `${JSON.stringify(bubble.text)} came as ${bubble.service}, and is listed as ${told.service}`,
    ]
  })
}

/** Each message that came is announced once, unless it is a text message, which the line's setting keeps back. */
function announcementFaults({ announced }: Stage, messages: readonly Json[]): Faults {
  const due = messages.filter(
    ({ direction, service }) => direction === 'inbound' && service === 'iMessage',
  )
  return due.flatMap(({ id, text }) => {
    const count = announced.filter((one) => one === id).length
    return count === 1 ? [] : [`${JSON.stringify(text)} was announced ${count} times`]
  })
}

function sendFaults(stage: Stage, send: Send, messages: readonly Json[]): Faults {
  const { phone, ledger } = stage
  const { id, key, text } = send
  const message = messages.find((one) => one.id === id)
  const [bubble, ...doubles] = phone.sent(key, text)
  const astray = phone.carried(text) - phone.sent(key, text).length
  const hasLeft = bubble !== undefined && bubble.stage !== 'failed'
  const status: string = message?.status ?? 'forgotten'
  const what = `${JSON.stringify(text)} to ${key}, ${status}`
  const faults: [boolean, string][] = [
    [doubles.length > 0, `sent ${doubles.length + 1} times: ${what}`],
    [astray > 0, `sent to somebody else: ${what}`],
    [!isTrueStatus(stage, send, status, hasLeft), `untrue: ${what}, has left: ${hasLeft}`],
    [
      // A chat under a name alone cannot be looked at again.
      hasLeft && message?.service !== bubble.service && !ledger.namedKeys.has(key),
      `untrue service: ${what}, ${message?.service} for ${bubble?.service}`,
    ],
  ]
  return faults.flatMap(([isFault, fault]) => (isFault ? [fault] : []))
}

function isTrueStatus(
  { ledger, hadFault }: Stage,
  { key }: Send,
  status: string,
  hasLeft: boolean,
): boolean {
  if (['sent', 'delivered', 'read'].includes(status)) return hasLeft
  if (status === 'failed') return !hasLeft
  if (status === 'uncertain') return hadFault
  // A chat under a name alone cannot be distinguished from another one.
  return status === 'queued' && !hasLeft && ledger.namedKeys.has(key)
}

/** Only what was verified is touched. */
function touchFaults({ phone, ledger, box, blindTouches }: Stage): Faults {
  const { requests } = box.commands
  const isOrdered = (key: string, draft: string) =>
    ledger.sends.some((send) => send.key === key && comparableLines(draft) === send.text)
  const pressed = requests.flatMap(({ name, body }) =>
    name === 'alert_accept' ? [String(body['name'])] : [],
  )
  const points = requests.filter(({ name, body }) => name === 'tap' && 'x' in body).length
  return [
    ...phone.sendTouches
      .filter(({ key, draft }) => draft !== '' && !isOrdered(key, draft))
      .map(
        ({ key, draft }) => `the send button of ${key} was touched with ${JSON.stringify(draft)}`,
      ),
    ...pressed
      .filter((name) => !ENGLISH.safeButtons.includes(name))
      .map((name) => `the button ${name} of an alert was pressed`),
    ...(blindTouches > 0
      ? [`${blindTouches} touches landed on an alert that nobody had looked for`]
      : []),
    ...(points > 0 ? [`a bare point of the screen was touched ${points} times`] : []),
  ]
}
