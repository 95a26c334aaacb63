// A client of `hookline imsg rpc` at a relay that dies, whose child dies as well: it sends, repeats only what it is
// asked to, and hears what people write. What it was answered is compared with the ledgers.

import { systemRandom } from '../../../src/system/random.ts'
import { builtExecutable, cleanEnvironment } from '../../support/executable.ts'
import type { ApiClient } from '../../support/relay-process.ts'
import { NOBODY_KNOWS, type Ledgers, type Told } from '../ledgers.ts'

const REFUSED = '0192'
const PAUSE_MS = 15
/** The share of requests during which the child is killed. */
const KILLED_SHARE = 0.05
const KILLED_AFTER_MS_MAX = 60

type Answer = {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly message: Message }
  readonly result?: { readonly ok?: boolean; readonly guid?: string; readonly send_state?: string }
  readonly error?: { readonly code: number; readonly data: Failure }
}
type Failure = {
  readonly disposition?: string
  readonly retry_safe?: boolean
  readonly retryable?: boolean
  readonly message_id?: string
}
type Message = { readonly id: number; readonly guid: string }
/** `life` is that of the child that heard it. */
type Heard = Message & { readonly life: number }

type Send = {
  readonly text: string
  readonly to: string
  /** With an attempt id: a repeat is the same message. */
  readonly isTracked: boolean
  /** The last answer; null if its child died, or the run was over. */
  answer: Answer | null
}

/** A child, and the requests whose answers it owes. */
class Child {
  readonly #process: ReturnType<typeof Child.spawn>
  readonly #owed = new Map<number, (answer: Answer | null) => void>()
  /** Resolves when all that it wrote was read. */
  readonly ended: Promise<void>
  #lastId = 0

  constructor(environment: Record<string, string>, onHeard: (message: Message) => void) {
    this.#process = Child.spawn(environment)
    this.ended = this.#read(onHeard)
  }

  static spawn(environment: Record<string, string>) {
    return Bun.spawn([builtExecutable(), 'imsg', 'rpc'], {
      env: cleanEnvironment(environment),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
  }

  /** Null if the child ends before it answers. */
  async ask(method: string, params: object): Promise<Answer | null> {
    this.#lastId += 1
    const id = this.#lastId
    const answered = Promise.withResolvers<Answer | null>()
    this.#owed.set(id, answered.resolve)
    void this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await this.#process.stdin.flush()
    return answered.promise
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
  }

  async #read(onHeard: (message: Message) => void): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of this.#process.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(JSON.parse(line) as Answer, onHeard) // As the child writes it.
    }
    for (const answer of this.#owed.values()) answer(null)
  }

  #take({ id, ...answer }: Answer, onHeard: (message: Message) => void): void {
    if (answer.params?.message !== undefined) onHeard(answer.params.message)
    if (id === undefined) return
    this.#owed.get(id)?.(answer)
    this.#owed.delete(id)
  }
}

export class ImsgClient {
  readonly sends: Send[] = []
  readonly heard: Heard[] = []
  deaths = 0
  readonly #environment: Record<string, string>
  #child: Child
  #isStopped = false

  private constructor(environment: Record<string, string>) {
    this.#environment = environment
    this.#child = this.#start()
  }

  static async open(api: ApiClient): Promise<ImsgClient> {
    const made = await api.ask<{ connect: { env: string } }>('POST', '/api/v1/keys', {
      for: 'imsg',
    })
    const variables = made.connect.env.split(' ').map((each) => each.split('='))
    const client = new ImsgClient(Object.fromEntries(variables) as Record<string, string>) // NAME=VALUE each.
    await client.#listen()
    return client
  }

  async run(): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const send: Send = {
        text: `imsg ${count}`,
        to: recipientOf(count),
        isTracked: count % 2 === 1,
        answer: null,
      }
      this.sends.push(send)
      await this.#untilAnswered(send)
      await Bun.sleep(PAUSE_MS)
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  async end(): Promise<void> {
    await this.#child.kill()
  }

  /** True once sends of each kind had each outcome, and a child died. */
  hasMetAll(): boolean {
    const ends = [NOBODY_KNOWS, REFUSED]
    const answered = this.sends.filter(({ answer }) => answer !== null)
    const isMet = (end: string) =>
      [true, false].every((isTracked) =>
        answered.some((send) => send.isTracked === isTracked && send.to.endsWith(end)),
      )
    return this.deaths > 0 && ends.every(isMet)
  }

  /** True once everything that was received has been heard. */
  hasHeard(ids: readonly string[]): boolean {
    const heard = new Set(this.heard.map(({ guid }) => guid))
    return ids.every((id) => heard.has(id))
  }

  told(): readonly Told[] {
    return this.sends.flatMap(({ text, answer }) => {
      const { guid, send_state: status = '' } = answer?.result ?? {}
      const failed = answer?.error?.data.message_id
      if (guid !== undefined) return { messageId: guid, text, status }
      return failed === undefined ? [] : { messageId: failed, text, status: 'of an error' }
    })
  }

  #start(): Child {
    const life = this.deaths
    return new Child(this.#environment, ({ id, guid }) => this.heard.push({ id, guid, life }))
  }

  /** Goes on behind the highest number that was heard. */
  async #listen(): Promise<void> {
    const params = { since_rowid: this.heard.reduce((most, { id }) => Math.max(most, id), 0) }
    while (!this.#isStopped) {
      const answer = await this.#child.ask('watch.subscribe', params)
      if (answer?.result !== undefined) return
      await Bun.sleep(PAUSE_MS)
    }
  }

  /** Asks again only if the message can't have left: a tracked attempt always, another if the answer says so. */
  async #untilAnswered(send: Send): Promise<void> {
    const { text, to, isTracked } = send
    const method = isTracked ? 'send.tracked' : 'send'
    const params = { text, to, ...(isTracked ? { attempt_id: crypto.randomUUID() } : {}) }
    while (!this.#isStopped) {
      const asked = this.#child.ask(method, params)
      if (systemRandom.chance() < KILLED_SHARE) {
        await Bun.sleep(KILLED_AFTER_MS_MAX * systemRandom.chance())
        await this.#child.kill()
        this.deaths += 1
        this.#child = this.#start()
        await this.#listen()
      }
      send.answer = await asked
      if (send.answer === null ? !isTracked : !mayAskAgain(send.answer)) return
      await Bun.sleep(PAUSE_MS)
    }
  }
}

function mayAskAgain({ error }: Answer): boolean {
  if (error === undefined) return false
  const { retry_safe, retryable, message_id } = error.data
  return retryable === true || (retry_safe === true && message_id === undefined)
}

/** Mostly one of a few people; now and then one of whom nothing is known, or one who is refused. */
function recipientOf(count: number): string {
  const other = (end: string) => `+1718${500 + (count % 400)}${end}`
  if (count % 40 === 7 || count % 40 === 18) return other(NOBODY_KNOWS)
  return count % 9 === 4 ? other(REFUSED) : `+1202563${1_000 + (count % 30)}`
}

/** What the client was answered, or not, and the ledgers contradict; each list is empty when all is well. */
export function imsgFaults({ messages, carried }: Ledgers, client: ImsgClient) {
  const byText = Map.groupBy(messages.values(), ({ text }) => text)
  const idsOf = ({ text }: Send) => (byText.get(text) ?? []).map(({ id }) => id)
  const heard = new Set(client.heard.map(({ guid }) => guid))
  // What is near the number behind which a child goes on comes again, and clients know it by its guid.
  const times = Map.groupBy(client.heard, ({ life, guid }) => `${guid} in life ${life}`)
  const received = [...messages.values()].filter(({ direction }) => direction === 'inbound')
  const isNotStarted = ({ answer }: Send) => answer?.error?.data.disposition === 'not_started'
  return {
    imsgTwice: client.sends.filter((send) => idsOf(send).length > 1),
    imsgNotStartedButCarried: client.sends.filter(
      (send) => isNotStarted(send) && idsOf(send).some((id) => carried.has(id)),
    ),
    imsgRefusedAsSent: client.sends.filter(
      ({ to, answer }) => to.endsWith(REFUSED) && answer?.result?.send_state === 'sent',
    ),
    imsgUncertainAsFailed: client.sends.filter(
      (send) => send.to.endsWith(NOBODY_KNOWS) && isNotStarted(send),
    ),
    imsgHeardTwice: [...times].filter(([, all]) => all.length > 1).map(([what]) => what),
    imsgNotHeard: received.filter(({ id }) => !heard.has(id)),
    imsgUnmet: client.hasMetAll() ? [] : ['not every kind of send met every outcome'],
  }
}
