// Holds what the relay knows at the end of a history against what it has to know.

import type { Json } from '../../support/test-relay.ts'
import type { Run, Send, Trouble } from './history.ts'
import {
  endOf,
  expectedOf,
  isRefused,
  wordsToOneself,
  type Expected,
  type Range,
} from './oracle.ts'
import type { Lived } from './perform.ts'
import type { Event } from './world.ts'

export type Fault = {
  readonly law: string
  readonly history: number | null
  readonly words: string
}

type Seen = {
  readonly run: Run
  readonly lived: Lived
  readonly expected: readonly Expected[]
  readonly events: readonly Event[]
  readonly messages: readonly Json[]
  readonly conversations: readonly Json[]
}

const RECEIVED = new Set(['message.received', 'group_message.received'])
const WENT = new Set(['sent', 'delivered', 'read'])

export async function faultsOf(run: Run, lived: Lived): Promise<readonly Fault[]> {
  const { world } = lived
  const messages = await world.all('/api/v1/messages?type=all')
  const conversations = await world.all('/api/v1/conversations?type=all')
  const seen = {
    run,
    lived,
    expected: expectedOf(run),
    events: world.events,
    messages,
    conversations,
  }
  return [
    ...messageFaults(seen),
    ...sendFaults(seen),
    ...conversationFaults(seen),
    ...groupFaults(seen),
  ]
}

function messageFaults(seen: Seen): readonly Fault[] {
  const { run, expected: all, events, messages, conversations } = seen
  const left = new Set(messages.filter(({ source }) => source !== 'api'))
  const byText = Map.groupBy(left, ({ text }) => text)
  const identifiers = new Map(conversations.map(({ id, chat_identifier: name }) => [id, name]))
  const faults = all.flatMap((expected) => {
    const same = byText.get(expected.text) ?? []
    const found = same.filter((message) => isOf(message, expected, identifiers))
    for (const message of found) left.delete(message)
    return foundFaults(found, expected, events)
  })
  const own = wordsToOneself(run)
  for (const { text, handle, id } of left) {
    const isNews = events.some(({ name, messageId }) => RECEIVED.has(name) && messageId === id)
    if (own.has(text) && !isNews) continue
    const law = own.has(text) ? 'our own words are no news' : 'each message has its conversation'
    faults.push({ law, history: historyOf(run, all, text), words: `"${text}" of ${handle}` })
  }
  return faults
}

/** What is wrong with the messages that were found for one that is expected. */
function foundFaults(
  found: readonly Json[],
  { history, text, conversation, stored, received, edits, hasFile }: Expected,
  events: readonly Event[],
): readonly Fault[] {
  const fault = (law: string, words: string) => ({
    law,
    history,
    words: `${words}: "${text}" of ${conversation}`,
  })
  const wrong = outside(found.length, stored)
  const amount = `stored ${found.length} times, not ${wrong}`
  if (wrong !== null) return [fault('each message is stored once', amount)]
  const ids = new Set(found.map(({ id }) => id))
  const news = events.filter((one) => RECEIVED.has(one.name) && ids.has(one.messageId))
  const edited = countOf(events, 'message.edited', ids)
  const files = found.flatMap(({ attachments = [] }: Json) => attachments)
  const states = files.map(({ state }: Json) => state).join()
  const [untrue, untold] = [outside(news.length, received), outside(edited, edits)]
  const laws = [
    untrue !== null && fault('news is told once', `told ${news.length} times, not ${untrue}`),
    untold !== null && fault('an edit is told once', `${edited} edits, not ${untold}`),
    countOf(events, 'message.unsent', ids) > 0 && fault('nothing was unsent', 'told as unsent'),
    hasFile && states !== 'available' && fault('a file is there', `its files are "${states}"`),
  ]
  return laws.filter((law) => law !== false)
}

function historyOf(run: Run, all: readonly Expected[], text: string): number | null {
  const known = all.find((expected) => expected.text === text)
  const move = run.moves.find((one) => 'text' in one && one.text === text)
  return known?.history ?? move?.history ?? null
}

function isOf(
  message: Json,
  expected: Expected,
  identifiers: ReadonlyMap<string, string>,
): boolean {
  if (message.text !== expected.text) return false
  if (expected.isGroup !== (message.conversation_type === 'group')) return false
  if (expected.isGroup && identifiers.get(message.conversation_id) !== expected.conversation)
    return false
  const isOwn = message.direction === 'outbound'
  // An echo in a group may be listed as it came.
  const isEcho = expected.sender === null && expected.stored[0] === 0
  if (isOwn !== (expected.sender === null) && !isEcho) return false
  if (expected.isGroup) return expected.sender === null || message.from === expected.sender
  return message.handle === expected.conversation
}

/** Null for a number within the range. */
function outside(count: number, [least, most]: Range): string | null {
  if (count >= least && count <= most) return null
  return least === most ? String(least) : `${least} to ${most}`
}

function countOf(events: readonly Event[], name: string, ids: ReadonlySet<string>): number {
  return events.filter((event) => event.name === name && ids.has(event.messageId ?? '')).length
}

function sendFaults({ run, lived, events, messages }: Seen): readonly Fault[] {
  const faults: Fault[] = []
  const has = (what: Trouble['what']) =>
    run.moves.some((move) => move.kind === 'trouble' && move.what === what)
  for (const send of run.moves.filter((move): move is Send => move.kind === 'send')) {
    const words = wrongAbout(send, {
      run,
      lived,
      events,
      messages,
      hasCrash: has('crash'),
      hasOutage: has('outage'),
      hasStop: has('stopped'),
    })
    if (words === null) continue
    const law = isRefused(run, send) ? 'STOP is heard' : 'a send ends in the truth'
    const told = `${words}: "${send.text}" to ${send.person.handle} (${send.fate})`
    faults.push({ law, history: send.history, words: told })
  }
  return faults
}

type Sent = Omit<Seen, 'conversations' | 'expected'> & {
  readonly hasCrash: boolean
  readonly hasOutage: boolean
  readonly hasStop: boolean
}

function wrongAbout(send: Send, sent: Sent): string | null {
  const { run, lived } = sent
  const { status = 0, body = null } = lived.answers.get(send.text) ?? {}
  const carried = lived.carried(send.text)
  if (carried > 1) return `left ${carried} times`
  if (isRefused(run, send)) {
    return status === 409 && carried === 0 ? null : `answered ${status}, left ${carried} times`
  }
  return status === 200 || status === 202
    ? wrongInList(send, sent)
    : `answered ${status} ${JSON.stringify(body)}`
}

function wrongInList(send: Send, sent: Sent): string | null {
  const { lived, events, messages } = sent
  const same = messages.filter(({ text }) => text === send.text)
  const [message, ...more] = same.filter(({ source }) => source === 'api')
  if (more.length > 0 || message?.handle !== send.person.handle) return 'not stored once'
  const other = same.find(({ source }) => source !== 'api')
  if (other !== undefined) return `listed again as typed on the device, for ${other.handle}`
  const { status, error } = message
  const isTrue = isEnd(send, status, { ...sent, isLost: lived.carried(send.text) === 0 })
  if (!isTrue) return `ended as ${status} ${error?.code ?? ''}`
  const failures = countOf(events, 'message.failed', new Set([message.id]))
  const isTold = WENT.has(status) ? failures === 0 : status !== 'failed' || failures === 1
  return isTold ? null : `is ${status}, and told as failed ${failures} times`
}

function isEnd(
  send: Send,
  status: string,
  {
    hasCrash,
    hasOutage,
    hasStop,
    isLost,
  }: Pick<Sent, 'hasCrash' | 'hasOutage' | 'hasStop'> & { readonly isLost: boolean },
): boolean {
  if (hasCrash && isLost && (status === 'uncertain' || status === 'failed')) return true
  if (send.fate === 'slow file') {
    // Its text follows its file, and does not after a stop in between: nobody knows then which of them left.
    if (hasStop && status === 'uncertain') return true
    // Its text follows so late that an account that is gone meanwhile refuses it.
    if (hasOutage && isLost && status === 'failed') return true
  }
  return endOf(send) === 'sent' ? WENT.has(status) : status === 'failed'
}

function conversationFaults({ run, expected, conversations }: Seen): readonly Fault[] {
  const direct = conversations.filter(({ type }) => type !== 'group')
  const byHandle = Map.groupBy(direct, ({ handle }) => handle)
  return [...byHandle].flatMap(([handle, all]) => {
    const told = expected.filter((one) => !one.isGroup && one.conversation === handle)
    const history = told[0]?.history ?? null
    const fault = (law: string, words: string) => ({ law, history, words: `${words}: ${handle}` })
    const [{ last_message: last, unread_count: unread = 0, service }] = all as [Json]
    const news = told.filter(({ isOld, sender }) => !isOld && sender !== null)
    const most = news.reduce((count, { received: [, of] }) => count + of, 0)
    const isOldLast = told.some(({ isOld, text }) => isOld && text === last?.text)
    const isCarriers = mayBeCarriers(run, handle, told)
    const laws = [
      all.length > 1 && fault('a person has one conversation', `${all.length} conversations`),
      unread > most &&
        !isVague(run, handle, told) &&
        fault('history is not unread', `${unread} unread of ${most}`),
      isOldLast &&
        hasOther(run, handle) &&
        fault('the last message is the latest', `the last message is "${last.text}"`),
      service === 'SMS' &&
        news.length > 0 &&
        !isCarriers &&
        fault('history keeps the service', `its service is ${service}`),
    ]
    return laws.filter((law) => law !== false)
  })
}

/** What iCloud fills in may make a chat of any service send by the carrier. */
function mayBeCarriers({ moves }: Run, handle: string, told: readonly Expected[]): boolean {
  const isSentTo = moves.some((one) => one.kind === 'send' && one.person.handle === handle)
  return isSentTo || told.some((one) => one.isCarriers && !one.isOld)
}

/** Nobody can say what is news of it. */
function isVague(run: Run, handle: string, told: readonly Expected[]): boolean {
  const isSplit = told.some(({ received: [least, most] }) => least !== most)
  return isSplit || told.length === 0 || hasUnplaced(run, handle)
}

/** What was never joined to a chat is announced to nobody, and unread all the same. */
function hasUnplaced(run: Run, handle: string): boolean {
  return run.moves.some(
    (move) => move.kind === 'letter' && move.place === 'no chat' && move.person.handle === handle,
  )
}

/** Something in the conversation is later than what iCloud fills in. */
function hasOther(run: Run, handle: string): boolean {
  return run.moves.some(
    (move) =>
      move.kind === 'letter' &&
      move.group === null &&
      move.dated === 'now' &&
      move.person.handle === handle,
  )
}

function groupFaults({ run, events, conversations }: Seen): readonly Fault[] {
  const faults: Fault[] = []
  for (const conversation of conversations.filter(({ type }) => type === 'group')) {
    const { chat_identifier: identifier, participants } = conversation
    const move = run.moves.find((one) => 'group' in one && one.group?.identifier === identifier)
    if (move === undefined || !('group' in move) || move.group === null) continue
    const members = move.group.members.map(({ handle }) => handle).toSorted()
    const listed = participants.map(({ handle }: Json) => handle).toSorted()
    if (Bun.deepEquals(members, listed)) continue
    const words = `${identifier} has ${listed.join()}, not ${members.join()}`
    faults.push({ law: 'a group has its members', history: move.history, words })
  }
  for (const move of run.moves) {
    if (move.kind !== 'other' || move.what !== 'renames') continue
    const told = events.filter(
      ({ name, body }) =>
        name === 'group.updated' && JSON.stringify(body).includes(`"${move.text}"`),
    )
    if (told.length === 1) continue
    const words = `"${move.text}" is told ${told.length} times`
    faults.push({ law: 'a change of a group is told once', history: move.history, words })
  }
  return faults
}
