// Clients of the compatible APIs at a relay that dies: with ids of their own, so that a repeat is the same request, and
// without, so that each repeat may be another message. What each was answered is compared with the ledgers.

import { idOfSid, sidOf } from '../../../src/compat/twilio/ids.ts'
import { callAs, credentialsAs, formOf, FORMS, SENDS } from '../../support/compat-credentials.ts'
import type { ApiClient, ApiKey } from '../../support/relay-process.ts'
import { NOBODY_KNOWS, type Ledgers, type StoredMessage, type Told } from '../ledgers.ts'

const PAUSE_MS = 15
const REFUSED = '0192'
/** One for each way. */
const AREAS = [212, 213, 312, 415, 617, 646, 702, 808, 713, 503]
const FILE = 'data:text/plain;filename=menu.txt;base64,c291cA=='
/** States of SMS Gate for the statuses of messages at rest. */
const GATE_STATES: Readonly<Record<string, string>> = {
  queued: 'Pending',
  uncertain: 'Processed',
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Delivered',
  failed: 'Failed',
}

/** Those of Sendblue, for statuses at which a message may rest. */
const SENDBLUE_STATES: Readonly<Record<string, string>> = {
  queued: 'QUEUED',
  uncertain: 'PENDING',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'DELIVERED',
  failed: 'ERROR',
}
/** The route of sends whose callback gets what becomes of them. */
export const FOLLOWED = '/compat/sendblue/api/send-message'
/** Twilio's, likewise. */
const TWILIO_STATES: Readonly<Record<string, string>> = { uncertain: 'sending' }

type Way = {
  readonly api: string
  readonly path: string
  /** True if a repeated request has the id of the first one. */
  readonly isNamed: boolean
}

const WAYS: readonly Way[] = [
  { api: 'sms', path: '/compat/sms/send', isNamed: true },
  { api: 'sms', path: '/compat/sms/messages', isNamed: false },
  { api: 'sms', path: '/compat/sms/api/v1/sms/send', isNamed: false },
  { api: 'signal-cli', path: '/v2/send', isNamed: true },
  { api: 'signal-cli', path: '/compat/signal-cli/v2/send', isNamed: false },
  { api: 'bluebubbles', path: '/compat/bluebubbles/api/v1/message/text', isNamed: true },
  { api: 'bluebubbles', path: '/compat/bluebubbles/api/v1/chat/new', isNamed: false },
  { api: 'sendblue', path: FOLLOWED, isNamed: false },
  {
    api: 'twilio',
    path: '/compat/twilio/2010-04-01/Accounts/:account/Messages.json',
    isNamed: true,
  },
  { api: 'twilio', path: '/2010-04-01/Accounts/:account/Messages.json', isNamed: false },
]
/** It answers before the line does, so its clients would send without end. */
const TWILIO_PAUSE_MS = 250

type Send = {
  readonly way: Way
  readonly text: string
  readonly to: readonly string[]
  requests: number
  /** The last answer, if there was one. */
  answer: { readonly status: number; readonly body: unknown } | null
}

type Options = {
  readonly name: string
  readonly url: () => string
  /** By the APIs that have callbacks: the address for what becomes of the message with a text. */
  readonly callbacks: Readonly<Record<string, (text: string) => string>>
  readonly twilio: ApiKey
}

export class CompatClients {
  readonly sends: Send[] = []
  /** Messages whose state differs between SMS Gate's API and the relay's own, when all is at rest. */
  readonly otherStates: string[] = []
  readonly #url: () => string
  readonly #name: string
  readonly #keys: Readonly<Record<string, ApiKey>>
  readonly #callbacks: Options['callbacks']
  #isStopped = false

  private constructor(keys: Readonly<Record<string, ApiKey>>, { name, url, callbacks }: Options) {
    this.#url = url
    this.#name = name
    this.#keys = keys
    this.#callbacks = callbacks
  }

  static async open(api: ApiClient, options: Options): Promise<CompatClients> {
    const keys: Record<string, ApiKey> = { twilio: options.twilio }
    for (const name of new Set(WAYS.map((way) => way.api))) {
      keys[name] ??= await api.ask<ApiKey>('POST', '/api/v1/keys', { for: name })
    }
    return new CompatClients(keys, options)
  }

  /** The messages that named a callback of Twilio. */
  withCallback(): readonly string[] {
    const sends = this.sends.filter(({ way }) => way.api === 'twilio')
    return sends.flatMap(({ answer }) => messagesIn(answer?.body).map(({ messageId }) => messageId))
  }

  async run(): Promise<void> {
    await Promise.all(WAYS.map((way, number) => this.#runOne(way, number)))
  }

  stop(): void {
    this.#isStopped = true
  }

  /** True once each way had a message answered, and one of each outcome. */
  hasMetAll(): boolean {
    const ends = [NOBODY_KNOWS, REFUSED]
    return WAYS.every((way) =>
      ends.every((end) =>
        this.sends.some(
          (send) => send.way === way && send.answer !== null && send.to[0]?.endsWith(end),
        ),
      ),
    )
  }

  /** Each message that was answered, by the last answer. */
  told(): readonly Told[] {
    return this.sends.flatMap(({ text, answer }) =>
      messagesIn(answer?.body).map((one) => ({ ...one, text })),
    )
  }

  /** Asks for the state of every message of `api`, once all is at rest. */
  async readStates(api: ApiClient): Promise<void> {
    for (const { messageId } of this.told()) {
      const headers = credentialsAs('basic', this.#key('sms'))
      const response = await fetch(`${this.#url()}/compat/sms/message/${messageId}`, { headers })
      const { state } = (await response.json()) as { state: string }
      const { status } = await api.ask<{ status: string }>('GET', `/api/v1/messages/${messageId}`)
      if (state !== GATE_STATES[status]) this.otherStates.push(`${messageId}: ${status}, ${state}`)
      const given = { headers: credentialsAs('sb headers', this.#key('sendblue')) }
      const path = `/compat/sendblue/api/status?handle=${messageId}`
      const other = (await (await fetch(this.#url() + path, given)).json()) as { status: string }
      if (other.status !== SENDBLUE_STATES[status])
        this.otherStates.push(`${messageId}: ${status}, ${other.status}`)
      const twilio = await this.#twilioState(messageId)
      const wanted = TWILIO_STATES[status] ?? status
      if (twilio !== wanted) this.otherStates.push(`${messageId}: ${status}, ${twilio}`)
    }
  }

  async #twilioState(messageId: string): Promise<string> {
    const key = this.#key('twilio')
    const path = `/2010-04-01/Accounts/${key.key}/Messages/${sidOf('SM', messageId)}.json`
    const headers = credentialsAs('account', key)
    const response = await fetch(this.#url() + path, { headers })
    return ((await response.json()) as { status: string }).status
  }

  /** One message after another; one at a time of which nobody knows goes beside them, because its answer is late. */
  async #runOne(way: Way, number: number): Promise<void> {
    const late: Promise<void>[] = []
    let isOneLate = false
    for (let count = 0; !this.#isStopped; count += 1) {
      const to = recipientsOf(way, number, count)
      const isLate = to[0]?.endsWith(NOBODY_KNOWS) === true
      if (isLate && isOneLate) continue
      const send: Send = { way, text: `${way.path} ${count}`, to, requests: 0, answer: null }
      this.sends.push(send)
      const form = formOf(way.api)
      const isOfMany = FORMS.includes(form)
      const answered = this.#untilAnswered(send, isOfMany ? (FORMS[count % 3] ?? form) : form)
      if (!isLate) {
        await answered
        continue
      }
      isOneLate = true
      late.push(answered.then(() => void (isOneLate = false)))
    }
    await Promise.all(late)
  }

  async #untilAnswered(send: Send, form: (typeof FORMS)[number]): Promise<void> {
    // Each repeat without an id is another message, for which the next ones to the same person wait.
    const most = send.way.isNamed || !send.to[0]?.endsWith(NOBODY_KNOWS) ? Infinity : 1
    while (!this.#isStopped && send.answer === null && send.requests < most) {
      send.requests += 1
      send.answer = await this.#sendOnce(send, form)
      await Bun.sleep(send.way.api === 'twilio' ? TWILIO_PAUSE_MS : PAUSE_MS)
    }
  }

  /** Null if the answer got lost, or asks to come again. */
  async #sendOnce({ way, text, to }: Send, form: (typeof FORMS)[number]): Promise<Send['answer']> {
    const id = `${this.#name} ${text}`
    const callback = this.#callbacks[way.api]?.(text) ?? ''
    const body = {
      ...SENDS[way.api]?.(to[0] ?? '', text),
      ...inFull(way, to, { id, callback }),
    }
    const key = this.#key(way.api)
    const call = callAs(form, key, way.path.replace(':account', key.key))
    const isNamed = way.isNamed && way.api !== 'bluebubbles'
    const headers = { ...call.headers, ...(isNamed ? { 'Idempotency-Key': id } : {}) }
    const given = { method: 'POST', headers, body: JSON.stringify(body) }
    try {
      const response = await fetch(this.#url() + call.path, given)
      const answered: unknown = await response.json()
      return response.status === 503 ? null : { status: response.status, body: answered }
    } catch {
      return null
    }
  }

  #key(api: string): ApiKey {
    const key = this.#keys[api]
    if (key === undefined) throw new Error(`There is no key for ${api}.`)
    return key
  }
}

/** All recipients, and what a client with its own ids adds. */
function inFull(
  { api, isNamed }: Way,
  to: readonly string[],
  { id, callback }: { readonly id: string; readonly callback: string },
): object {
  if (api === 'bluebubbles') return isNamed ? { tempGuid: id } : {}
  if (api === 'sendblue') return { status_callback: callback }
  if (api === 'twilio') return { StatusCallback: callback }
  if (api === 'sms') return { to, ...(isNamed ? { id } : {}) }
  return { recipients: to, ...(isNamed ? { base64_attachments: [FILE] } : {}) }
}

/** Mostly one person; now and then several, one of whom nothing is known, or one who is refused. */
function recipientsOf({ api }: Way, client: number, count: number): readonly string[] {
  const person = (more: number) => `+1202559${1_000 + client * 100 + ((count + more) % 97)}`
  // Messages to one person go one after another, and each that nobody knows of takes long.
  const other = (end: string) => [`+1${AREAS[client]}${500 + (count % 400)}${end}`]
  if (count % 7 === 3) return other(NOBODY_KNOWS)
  if (count % 7 === 5) return other(REFUSED)
  const takesSeveral = api === 'sms' || api === 'signal-cli'
  return takesSeveral && count % 3 === 0 ? [person(0), person(1)] : [person(0)]
}

/** The messages of an answer of any of the APIs, with what it says of each. */
function messagesIn(
  body: unknown,
): readonly { readonly messageId: string; readonly status: string }[] {
  const answer = Object(body) as GateAnswer & {
    readonly sid?: string
    readonly status?: string
    readonly data?: { readonly guid: string; readonly messages?: readonly { guid: string }[] }
    readonly message_handle?: string
  } // Of any other shape, it has no messages.
  const { data, message_handle: handle, status = '' } = answer
  // BlueBubbles has no status of what it accepted.
  if (data !== undefined) {
    const sent = data.messages ?? [data]
    return sent.map(({ guid }) => ({ messageId: guid, status: 'accepted' }))
  }
  if (handle !== undefined) {
    const isFailed = status === 'ERROR'
    return [{ messageId: handle, status: isFailed ? 'failed' : status.toLowerCase() }]
  }
  const own = idOfSid('msg', answer.sid ?? '', ['SM'])
  if (own !== null) return [{ messageId: own, status }]
  return messagesOfGate(answer)
}

type GateAnswer = {
  readonly id?: string
  readonly messages?: readonly { readonly id: string; readonly status: string }[]
  readonly recipients?: readonly { readonly state: string }[]
}

function messagesOfGate(answer: GateAnswer) {
  const states = answer.recipients ?? []
  const ids = answer.id?.split(',') ?? []
  return (
    answer.messages?.map(({ id, status }) => ({ messageId: id, status })) ??
    states.map(({ state }, place) => ({ messageId: ids[place] ?? '', status: state.toLowerCase() }))
  )
}

/** Everything that clients were answered, and that the ledgers contradict; each list is empty when all is well. */
export function compatFaults({ messages, carried }: Ledgers, clients: CompatClients) {
  const { sends } = clients
  const byText = Map.groupBy(messages.values(), ({ text }) => text)
  const of = ({ text }: Send) => byText.get(text) ?? []
  const answered = sends.filter(({ answer }) => answer !== null)
  return {
    compatRefused: answered.filter((send) => isRefusal(send) && !isToRefused(send)),
    compatLost: answered.filter((send) => send.to.some((handle) => !of(send).some(isTo(handle)))),
    compatTwice: sends.filter((send) =>
      send.to.some((handle) => of(send).filter(isTo(handle)).length > mostOf(send)),
    ),
    compatUncertainAsFailed: answered.filter(
      (send) => send.to[0]?.endsWith(NOBODY_KNOWS) && saysFailed(send),
    ),
    compatRefusedAsSent: answered.filter(
      (send) => isToRefused(send) && !saysFailed(send) && !isOpen(send),
    ),
    compatFailedButCarried: clients
      .told()
      .filter(({ messageId, status }) => status === 'failed' && carried.has(messageId)),
    compatOtherStates: clients.otherStates,
    compatUnmet: clients.hasMetAll() ? [] : ['not every way met every outcome'],
  }
}

const isTo = (handle: string) => (message: StoredMessage) => message.handle === handle

const isToRefused = ({ to }: Send) => to[0]?.endsWith(REFUSED) === true

function mostOf({ way, requests }: Send): number {
  return way.isNamed ? 1 : requests
}

function isRefusal({ answer }: Send): boolean {
  return answer === null || answer.status >= 300
}

/** In the words of each API: its clients send again, or give up. */
function saysFailed(send: Send): boolean {
  const answer = Object(send.answer?.body) as Partial<
    Record<'success' | 'state' | 'status', unknown>
  > // As above.
  const { success, state, status } = answer
  const failed = ['Failed', 'ERROR', 'failed']
  return isRefusal(send) || success === false || failed.some((word) => word === (state ?? status))
}

/** An answer that came before the outcome. */
function isOpen({ answer }: Send): boolean {
  const open = ['queued', 'sending', 'pending', 'processed', 'accepted']
  return messagesIn(answer?.body).every(({ status }) => open.includes(status))
}
