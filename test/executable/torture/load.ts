// Clients that send one message after another to a relay that dies under them, each until it has an answer.

import { eventually } from '../../support/eventually.ts'
import type { Receiver } from '../../support/receiver.ts'
import type { ApiClient, ApiKey } from '../../support/relay-process.ts'
import { NOBODY_KNOWS, type Told } from '../ledgers.ts'
import { FILE_PEOPLE, type Uploads } from './files.ts'
import { Reader } from './reader.ts'

export type Line = {
  readonly id: string
  readonly phone_number: string
  readonly status: string
}
export type Page<T> = { readonly data: readonly T[]; readonly has_more: boolean }

const CLIENTS = 8
const RANKS = ['queued', 'sending', 'uncertain', 'failed', 'sent', 'delivered', 'read']
export const EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'attachment.available',
  'attachment.failed',
  'approval.requested',
  'approval.resolved',
  'contact.opted_out',
]
/** Quick retries, so that a receiver that was down gets everything before the test ends. */
export const ENVIRONMENT = {
  TZ: 'UTC',
  HOOKLINE_SIMULATED_LINES: '2',
  HOOKLINE_SIMULATED_DELAY_MS: '30',
  HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '50ms,100ms,200ms,400ms,1s,1s,2s,2s,5s,5s,5s',
}

/** Gives all lines, without a daily limit, and each receiver a webhook that takes every event. */
export async function prepare(
  api: ApiClient,
  receivers: readonly Receiver[],
  lineCount = 2,
): Promise<readonly Line[]> {
  const lines = await eventually('all lines are online', async () => {
    const { data } = await api.ask<Page<Line>>('GET', '/api/v1/phone-lines')
    return data.filter((line) => line.status === 'online').length === lineCount ? data : null
  })
  for (const line of lines) {
    await api.ask('PATCH', `/api/v1/phone-lines/${line.id}`, { daily_contact_limit: 100_000 })
  }
  for (const receiver of receivers) {
    const body = { url: receiver.url, events: EVENTS }
    const hook = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', body)
    receiver.secret = hook.secret
  }
  return lines
}

/** What a message may wait for that does not come. */
const ENDLESS: readonly unknown[] = ['approval', 'quiet_hours']

type Resting = { readonly queued_reason?: string | null }

/** Waits until no message is under way, or could be, and every delivery is done. */
export async function comeToRest(api: ApiClient): Promise<void> {
  const { data: hooks } = await api.ask<Page<{ id: string }>>('GET', '/api/v1/webhooks')
  const busy = [
    ...['queued', 'sending', 'sent', 'delivered'].map(
      (status) => `/api/v1/messages?direction=outbound&limit=200&status=${status}`,
    ),
    ...hooks.map(({ id }) => `/api/v1/webhooks/${id}/deliveries?limit=1&status=pending`),
  ]
  let left: readonly unknown[] = []
  await eventually(
    'everything comes to rest',
    async () => {
      const pages = await Promise.all(busy.map((path) => api.ask<Page<Resting>>('GET', path)))
      left = pages
        .flatMap(({ data }) => data)
        .filter(({ queued_reason }) => !ENDLESS.includes(queued_reason))
      return left.length === 0 ? true : null
    },
    300_000,
  ).catch((cause: unknown) => {
    throw new Error(`Still busy: ${JSON.stringify(left.slice(0, 5))}`, { cause })
  })
}

type Options = {
  readonly onTold?: (told: Told) => void
  /** The files of each third message. */
  readonly uploads?: Uploads | undefined
  /** Endings of numbers whose people answer with files or take a part only. */
  readonly filePeople?: readonly string[]
  /** Every second message is answered once it is accepted, so that more of them are on their way. */
  readonly isHasty?: boolean
  readonly clients?: number
}

export class Clients {
  readonly told: Told[] = []
  /** Keys that were answered with two messages. */
  readonly contradictions: string[] = []
  /** Statuses that a reader saw go back, as `id: read, then sent`. */
  readonly stepsBack: string[] = []
  /** Names of contacts whose entry was answered. */
  readonly named: string[] = []
  repeats = 0
  readonly reader: Reader
  readonly #api: ApiClient
  readonly #name: string
  readonly #lines: readonly Line[]
  readonly #options: Options
  #isStopped = false

  constructor(api: ApiClient, key: ApiKey, lines: readonly Line[], options: Options = {}) {
    this.#api = api
    this.reader = new Reader(api)
    this.#name = key.id
    this.#lines = lines
    this.#options = options
  }

  async run(): Promise<void> {
    const clients = Array.from({ length: this.#options.clients ?? CLIENTS }, (_, number) =>
      this.#runOne(number),
    )
    await Promise.all([...clients, this.#read(), this.#nameContacts(), this.#readNotes()])
  }

  /** Names that were answered, and that a search for them does not find. */
  async unfoundNames(): Promise<readonly string[]> {
    const unfound: string[] = []
    for (const name of this.named) {
      const path = `/api/v1/search?q=${encodeURIComponent(name)}`
      const { people } = await this.#api.ask<{ people: { name: string }[] }>('GET', path)
      if (people[0]?.name !== name) unfound.push(name)
    }
    return unfound
  }

  /** True once a contact was added and a mark answered. */
  hasMetAll(): boolean {
    return this.named.length > 0 && this.reader.marks.some(({ isAnswered }) => isAnswered)
  }

  stop(): void {
    this.#isStopped = true
  }

  async #runOne(client: number): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const text = `client ${client}, message ${count}`
      const told = await this.#sendUntilAnswered(text, this.#partyOf(client, count))
      if (told === null) return
      this.told.push(told)
      this.#options.onTold?.(told)
      // Now and then a client asks twice although it was answered.
      if (count % 7 !== 0) continue
      const again = await this.#sendUntilAnswered(text, this.#partyOf(client, count))
      if (again !== null && again.messageId !== told.messageId) this.contradictions.push(text)
    }
  }

  async #nameContacts(): Promise<void> {
    // The digits of a name are in the numbers of others, too.
    for (let count = 1_000; !this.#isStopped; count += 1) {
      const body = { name: `Person ${count}` }
      const path = `/api/v1/contacts/${encodeURIComponent(`+1202558${count}`)}`
      const answer = await this.#api.request('PUT', path, { body }).catch(() => null)
      if (answer?.status === 200) this.named.push(body.name)
      await Bun.sleep(50)
    }
  }

  async #readNotes(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      await this.reader.step(this.#lines[0]?.id ?? '', count).catch(() => null)
      await Bun.sleep(50)
    }
  }

  /**
   * Looks at the newest messages throughout: no status may go back, but that of a try that did not go, or of
   * which it is proven later that it did not.
   */
  async #read(): Promise<void> {
    const seen = new Map<string, string>()
    while (!this.#isStopped) {
      const path = '/api/v1/messages?direction=outbound&limit=100'
      const page = await this.#api
        .ask<Page<{ id: string; status: string }>>('GET', path)
        .catch(() => null)
      for (const { id, status } of page?.data ?? []) {
        const before = seen.get(id) ?? 'queued'
        const isBack = RANKS.indexOf(status) < RANKS.indexOf(before)
        const mayGoBack = before === 'sending' || before === 'uncertain'
        if (isBack && !mayGoBack) this.stepsBack.push(`${id}: ${before}, then ${status}`)
        seen.set(id, status)
      }
      await Bun.sleep(50)
    }
  }

  /** Simulated people, each other's lines, pinned and not pinned; some refused, some in doubt. */
  #partyOf(client: number, count: number): { to: string; phone_line_id?: string } {
    const at = client % this.#lines.length
    const [first, ...others] = [...this.#lines.slice(at), ...this.#lines.slice(0, at)]
    // Lines of two boxes may have one number.
    const second = others.find(({ phone_number }) => phone_number !== first?.phone_number)
    const person = `+1202556${String(1_000 + client * 100 + (count % 97)).padStart(4, '0')}`
    if (first === undefined || second === undefined) return { to: person }
    const { uploads, filePeople = FILE_PEOPLE } = this.#options
    const ending = uploads && filePeople[(client + count) % 11]
    if (ending !== undefined) return { to: `+1202557${ending}` }
    if (count % 23 === 5) return { to: `+1202557${NOBODY_KNOWS}` }
    if (count % 23 === 11) return { to: '+12025570192' }
    if (count % 4 === 0) return { to: person }
    if (count % 4 === 1) return { to: person, phone_line_id: second.id }
    if (count % 4 === 2) return { to: second.phone_number, phone_line_id: first.id }
    return { to: first.phone_number, phone_line_id: second.id }
  }

  /** Null if it was stopped before there was an answer. */
  async #sendUntilAnswered(
    text: string,
    party: { to: string; phone_line_id?: string },
  ): Promise<Told | null> {
    while (!this.#isStopped) {
      const told = await this.#sendOnce(text, party)
      if (told !== null) return told
      this.repeats += 1
      await Bun.sleep(15)
    }
    return null
  }

  #preference(text: string): Record<string, string> {
    const isHasty = this.#options.isHasty === true && Bun.hash.crc32(text) % 2 === 0
    return isHasty ? { Prefer: 'respond-async' } : {}
  }

  /** Null where the answer got lost, or asks to come again. */
  async #sendOnce(text: string, party: { to: string }): Promise<Told | null> {
    const attachments = await this.#options.uploads?.of(text).catch(() => null)
    // An upload that got no answer is tried again, as its message is.
    if (attachments === null) return null
    const answer = await this.#api
      .request('POST', '/api/v1/messages/send', {
        body: { ...party, text, ...(attachments === undefined ? {} : { attachments }) },
        headers: { 'Idempotency-Key': `${this.#name} ${text}`, ...this.#preference(text) },
      })
      .catch(() => null)
    if (answer === null || answer.status === 503) return null
    return toldBy(answer.status, answer.body, text)
  }
}

type SendBody = {
  readonly id?: string
  readonly status?: string
  readonly error?: { readonly code: string; readonly details?: { readonly message_id?: string } }
}

/** What an answer to a send says; throws if it says nothing of a message. */
export function toldBy(status: number, body: unknown, text: string): Told {
  const answer = body as SendBody // Any other shape throws below.
  if (status === 200 || status === 202) {
    return { messageId: answer.id ?? '', text, status: answer.status ?? '' }
  }
  const messageId = answer.error?.details?.message_id
  if (status === 422 && messageId !== undefined) return { messageId, text, status: 'failed' }
  throw new Error(`A send was answered ${status}: ${JSON.stringify(body)}`)
}
