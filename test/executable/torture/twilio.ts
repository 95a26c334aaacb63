// A receiver of Twilio's webhooks at a relay that dies: callbacks of messages, and received messages that it answers
// with a reply in TwiML. Now and then it refuses, so that the event comes again. What it got is held against the
// ledgers.

import { sidOf } from '../../../src/compat/twilio/ids.ts'
import { eventually } from '../../support/eventually.ts'
import type { ApiClient, ApiKey } from '../../support/relay-process.ts'
import { signatureFor } from '../../support/twilio-signature.ts'
import { NOBODY_KNOWS, type Ledgers, type StoredMessage } from '../ledgers.ts'
import type { Line } from './load.ts'

const PAUSE_MS = 150
const REFUSED_EVERY = 5
const PING = /^ping \d+$/

export class TwilioReceiver {
  /** What callbacks said of each message, by its sid. */
  readonly said = new Map<string, string[]>()
  readonly unsigned: string[] = []
  readonly key: ApiKey
  inbound = 0
  readonly #api: ApiClient
  readonly #line: string
  readonly #server: Bun.Server<undefined>
  #isStopped = false

  private constructor(api: ApiClient, key: ApiKey, line: string) {
    this.#api = api
    this.key = key
    this.#line = line
    const fetch = (request: Request) => this.#answer(request)
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
  }

  /** People write to the first of the lines. */
  static async open(api: ApiClient, lines: readonly Line[]): Promise<TwilioReceiver> {
    const key = await api.ask<ApiKey>('POST', '/api/v1/keys', { for: 'twilio' })
    const receiver = new TwilioReceiver(api, key, lines[0]?.id ?? '')
    await api.ask('POST', '/api/v1/webhooks', {
      url: `${receiver.url}/sms`,
      events: ['message.received'],
      format: 'twilio',
      key_id: key.id,
    })
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  /** People write, one after the other. */
  async run(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const from = `+1202556${String(1_000 + (count % 150))}`
      const body = { type: 'message', from, text: `ping ${count}` }
      const path = `/api/v1/simulated/lines/${this.#line}/events`
      await this.#api.ask('POST', path, body).catch(() => {})
      await Bun.sleep(PAUSE_MS)
    }
  }

  hasMetAll(): boolean {
    return this.inbound > REFUSED_EVERY && this.said.size > 0
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Waits until no callback is left to make; they aren't in the list of webhooks. */
  async comeToRest(): Promise<void> {
    const path = '/api/v1/audit?action=webhook.created&limit=200'
    const { data } = await this.#api.ask<{ data: { about: { id: string } }[] }>('GET', path)
    const waiting = async (id: string) => {
      const pending = `/api/v1/webhooks/${id}/deliveries?status=pending&limit=1`
      return (await this.#api.ask<{ data: unknown[] }>('GET', pending)).data
    }
    await eventually(
      'every callback is made',
      async () => {
        const all = await Promise.all(data.map(({ about }) => waiting(about.id)))
        return all.flat().length === 0 ? true : null
      },
      120_000,
    )
  }

  async #answer(request: Request): Promise<Response> {
    const body = await request.text()
    const { pathname, search } = new URL(request.url)
    const expected = signatureFor({ url: this.url + pathname + search, body }, this.key.secret)
    if (request.headers.get('x-twilio-signature') !== expected) this.unsigned.push(request.url)
    const parameters = new URLSearchParams(body)
    const sid = parameters.get('MessageSid') ?? ''
    const status = parameters.get('MessageStatus')
    if (status !== null) {
      this.said.set(sid, [...(this.said.get(sid) ?? []), status])
      return new Response(null, { status: 204 })
    }
    this.inbound += 1
    if (this.inbound % REFUSED_EVERY === 0) return new Response(null, { status: 500 })
    const isPing = PING.test(parameters.get('Body') ?? '')
    const reply = isPing ? `<Message>reply ${sid}</Message>` : ''
    const headers = { 'content-type': 'text/xml' }
    return new Response(`<Response>${reply}</Response>`, { headers })
  }
}

/** What the ledgers contradict; each list is empty when all is well. `callbacks` are the messages that name one. */
export function twilioFaults(
  { messages, carried }: Ledgers,
  receiver: TwilioReceiver,
  callbacks: readonly string[],
) {
  const all = [...messages.values()]
  const byText = Map.groupBy(all, ({ text }) => text)
  const pings = all.filter(({ direction, text }) => direction === 'inbound' && PING.test(text))
  const said = (id: string) => receiver.said.get(sidOf('SM', id)) ?? []
  const named = callbacks.flatMap((id) => messages.get(id) ?? [])
  return {
    twilioUnsigned: receiver.unsigned,
    twilioRepliedNotOnce: pings.filter(
      ({ id }) => byText.get(`reply ${sidOf('SM', id)}`)?.length !== 1,
    ),
    twilioUnsaid: named.filter((message) =>
      wordsFor(message).some((one) => !said(message.id).includes(one)),
    ),
    twilioCalledFailed: named.filter(
      ({ id, status, handle }) =>
        said(id).includes('failed') &&
        (status !== 'failed' || carried.has(id) || handle.endsWith(NOBODY_KNOWS)),
    ),
    twilioUnmet: pings.length > 0 && named.length > 0 ? [] : ['no reply, or no callback'],
  }
}

/** The callbacks that a message must have had by its state. */
function wordsFor({ status }: StoredMessage): readonly string[] {
  const steps = ['sent', 'delivered', 'read']
  return status === 'failed' ? ['failed'] : steps.slice(0, steps.indexOf(status) + 1)
}
