// Holds what the relay knows at the end of a history against what it has to know.

import type { Json } from '../../support/test-relay.ts'
import type { Run, Send } from './history.ts'
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

function messageFaults({
  run,
  expected: all,
  events,
  messages,
  conversations,
}: Seen): readonly Fault[] {
  const faults: Fault[] = []
  const left = new Set(messages.filter(({ source }) => source !== 'api'))
  const byText = Map.groupBy(left, ({ text }) => text)
  const identifiers = new Map(conversations.map(({ id, chat_identifier: name }) => [id, name]))
  const received = events.filter(({ name }) => RECEIVED.has(name))
  for (const expected of all) {
    const { history, text, conversation } = expected
    const found = (byText.get(text) ?? []).filter((message) => isOf(message, expected, identifiers))
    for (const message of found) left.delete(message)
    const ids = new Set(found.map(({ id }) => id))
    const fault = (law: string, words: string) =>
      faults.push({ law, history, words: `${words}: "${text}" of ${conversation}` })
    const wrong = outside(found.length, expected.stored)
    if (wrong !== null)
      fault('each message is stored once', `stored ${found.length} times, not ${wrong}`)
    const news = received.filter(({ messageId }) => ids.has(messageId)).length
    const untrue = outside(news, expected.received)
    if (untrue !== null && wrong === null)
      fault('news is told once', `told ${news} times, not ${untrue}`)
    const edits = countOf(events, 'message.edited', ids)
    const untold = outside(edits, expected.edits)
    if (untold !== null) fault('an edit is told once', `${edits} edits, not ${untold}`)
    if (countOf(events, 'message.unsent', ids) > 0) fault('nothing was unsent', 'told as unsent')
    const files = found.flatMap(({ attachments = [] }: Json) => attachments)
    if (!expected.hasFile || wrong !== null) continue
    const states = files.map(({ state }: Json) => state).join()
    if (states !== 'available') fault('a file is there', `its files are "${states}"`)
  }
  const own = wordsToOneself(run)
  for (const { text, handle, id } of left) {
    const words = `"${text}" of ${handle}`
    const isNews = received.some(({ messageId }) => messageId === id)
    if (own.has(text) && !isNews) continue
    const law = own.has(text) ? 'our own words are no news' : 'each message has its conversation'
    faults.push({ law, history: historyOf(run, all, text), words })
  }
  return faults
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
  if ((message.direction === 'outbound') !== (expected.sender === null)) {
    // An echo in a group may be listed as it came.
    if (expected.sender !== null || expected.stored[0] > 0) return false
  }
  const sender = expected.isGroup ? message.from : message.handle
  return expected.sender === null && expected.isGroup
    ? true
    : sender === (expected.isGroup ? expected.sender : expected.conversation)
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
  const hasCrash = run.moves.some(({ kind, ...move }) => 'what' in move && move.what === 'crash')
  for (const send of run.moves.filter((move): move is Send => move.kind === 'send')) {
    const words = wrongAbout(send, { run, lived, events, messages, hasCrash })
    if (words === null) continue
    const law = isRefused(run, send) ? 'STOP is heard' : 'a send ends in the truth'
    const told = `${words}: "${send.text}" to ${send.person.handle} (${send.fate})`
    faults.push({ law, history: send.history, words: told })
  }
  return faults
}

type Sent = Omit<Seen, 'conversations' | 'expected'> & { readonly hasCrash: boolean }

function wrongAbout(send: Send, { run, lived, events, messages, hasCrash }: Sent): string | null {
  const { text, person } = send
  const answer = lived.answers.get(text)
  const carried = lived.carried(text)
  if (carried > 1) return `left ${carried} times`
  if (isRefused(run, send)) {
    const code = answer?.body?.error?.code
    if (answer?.status !== 409 || carried > 0) return `answered ${answer?.status} ${code}`
    return null
  }
  if (answer === undefined || answer.status >= 300) {
    return `answered ${answer?.status} ${JSON.stringify(answer?.body?.error)}`
  }
  const found = messages.filter(({ source, text: said }) => source === 'api' && said === text)
  const [message] = found
  if (found.length !== 1 || message.handle !== person.handle) return `stored ${found.length} times`
  const others = messages.filter(({ source, text: said }) => source !== 'api' && said === text)
  if (others.length > 0) return `listed again as typed on the device, for ${others[0].handle}`
  const { status, error } = message
  const isTrue = isEnd(send, status, hasCrash && carried === 0)
  const failures = countOf(events, 'message.failed', new Set([message.id]))
  if (!isTrue) return `ended as ${status} ${error?.code ?? ''}`
  if (WENT.has(status) && failures > 0) return `told as failed ${failures} times, and is ${status}`
  if (status === 'failed' && failures !== 1) return `told as failed ${failures} times`
  return null
}

function isEnd(send: Send, status: string, mayBeLost: boolean): boolean {
  if (mayBeLost && (status === 'uncertain' || status === 'failed')) return true
  return endOf(send) === 'sent' ? WENT.has(status) : status === 'failed'
}

function conversationFaults({ run, lived, expected, conversations }: Seen): readonly Fault[] {
  const faults: Fault[] = []
  const direct = conversations.filter(({ type }) => type !== 'group')
  const byHandle = Map.groupBy(direct, ({ handle }) => handle)
  for (const [handle, all] of byHandle) {
    const told = expected.filter((one) => !one.isGroup && one.conversation === handle)
    const history = told[0]?.history ?? null
    const fault = (law: string, words: string) =>
      faults.push({ law, history, words: `${words}: ${handle}` })
    if (all.length > 1) fault('a person has one conversation', `${all.length} conversations`)
    const [{ last_message: last, unread_count: unread = 0, service }] = all as [Json]
    const news = told.filter(({ isOld, sender }) => !isOld && sender !== null)
    const most = news.reduce((count, { received: [, of] }) => count + of, 0)
    const isUndated = told.some(({ received: [least, of] }) => least !== of)
    if (unread > most && !isUndated && !hasUnplaced(run, handle)) {
      fault('history is not unread', `${unread} unread of ${most}`)
    }
    const old = told.filter(({ isOld }) => isOld)
    const hasNews = told.some(({ isOld }) => !isOld) || lived.answers.size > 0
    if (old.some(({ text }) => text === last?.text) && hasNews && hasOther(run, handle)) {
      fault('the last message is the latest', `the last message is "${last.text}"`)
    }
    const isCarriers = told.some((one) => one.isCarriers && !one.isOld)
    if (news.length > 0 && !isCarriers && service === 'SMS') {
      fault('history keeps the service', `its service is ${service}`)
    }
  }
  return faults
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
