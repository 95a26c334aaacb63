// A wall clock that is set forward or back while the relay works, as on a box without a battery when the time
// comes from the network: what waits must not grow old by it, leave early or be stuck.

import { mkdirSync, writeFileSync } from 'node:fs'

import { eventually } from '../../support/eventually.ts'
import { Receiver } from '../../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, type Answer } from '../../support/relay-process.ts'
import type { ScratchFolder } from '../../support/scratch-folder.ts'
import { ENVIRONMENT, prepare, type Line, type Page } from './load.ts'

/** A person whose line refuses: what is sent there waits for some 36 s. */
const REFUSED = '+12025570193'
const PERSON = '+12025550123'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const OUTAGE_MS = 3_000
/** When a scheduled message is due, after the outage. */
const SOON_MS = 6_000
const LATER_MS = 26 * HOUR_MS

type Message = {
  readonly id: string
  readonly text: string
  readonly status: string
  readonly created_at: string
}

/** Lets the wall clock jump by `jumpMs` and back after `stayMs`, and gives everything that went wrong. */
export async function jumpClock(
  folder: ScratchFolder,
  library: string,
  jump: { readonly jumpMs: number; readonly stayMs: number },
): Promise<readonly string[]> {
  const dataDir = folder.file(`data-${jump.jumpMs}`)
  const offset = folder.file(`offset-${jump.jumpMs}`)
  mkdirSync(dataDir, { mode: 0o700 })
  const setClock = (ms: number) => writeFileSync(offset, new BigInt64Array([BigInt(ms)]))
  setClock(0)
  const environment = { ...ENVIRONMENT, LD_PRELOAD: library, CLOCK_OFFSET: offset }
  const key = await createKey(dataDir)
  await using relay = await RelayProcess.start({ dataDir, environment })
  let isDown = true
  using receiver = new Receiver(() => new Response(null, { status: isDown ? 500 : 200 }))
  const api = new ApiClient(() => relay.url, key)
  const [line, quietLine] = await prepare(api, [receiver])
  if (line === undefined || quietLine === undefined) throw new Error('There are no two lines.')

  const scene = new Scene(api, line, quietLine)
  await scene.before()
  await Bun.sleep(OUTAGE_MS)
  setClock(jump.jumpMs)
  await Bun.sleep(jump.stayMs)
  const faults = await scene.during(jump.jumpMs)
  setClock(0)
  isDown = false
  return [...faults, ...(await scene.after(receiver))]
}

class Scene {
  readonly #api: ApiClient
  readonly #line: Line
  readonly #waiting: string[] = []
  readonly #quietLine: Line
  #first = ''
  #soon = ''
  /** A message for tomorrow, and one in quiet hours. */
  readonly #held: string[] = []

  constructor(api: ApiClient, line: Line, quietLine: Line) {
    this.#api = api
    this.#line = line
    this.#quietLine = quietLine
  }

  /** One message that left under a key, some that wait for their line, and some that wait for their time. */
  async before(): Promise<void> {
    const now = Date.now()
    const time = (ms: number) => new Date(now + ms).toISOString()
    const hours = { from: time(-HOUR_MS).slice(11, 16), to: time(HOUR_MS).slice(11, 16) }
    await this.#api.ask('PATCH', `/api/v1/phone-lines/${this.#quietLine.id}`, {
      quiet_hours: hours,
    })
    this.#soon = await this.#defer({ text: 'soon', send_at: time(SOON_MS) })
    this.#held.push(
      await this.#defer({ text: 'later', send_at: time(LATER_MS) }),
      await this.#defer({ text: 'quiet', phone_line_id: this.#quietLine.id }),
    )
    this.#first = messageOf(await this.#send(PERSON, 'once only', 'key')).id
    for (let count = 0; count < 5; count += 1) {
      const answer = await this.#send(REFUSED, `waits ${count}`, `waits ${count}`)
      this.#waiting.push(messageOf(answer).id)
    }
  }

  /** What must still hold while the clock is wrong. */
  async during(jumpMs: number): Promise<readonly string[]> {
    const again = await this.#send(PERSON, 'once only', 'key')
    const isSame = messageOf(again).id === this.#first
    const mayNotLeave = jumpMs < 0 ? [this.#soon, ...this.#held] : this.#held
    return [
      ...(await this.#expired()),
      ...(await this.#early(mayNotLeave)),
      ...(isSame ? [] : ['an Idempotency-Key was forgotten']),
    ]
  }

  /** What must hold once it is right again. */
  async after(receiver: Receiver): Promise<readonly string[]> {
    const fresh = messageOf(await this.#send(PERSON, 'after', 'after'))
    const isAhead = Date.parse(fresh.created_at) > Date.now() + DAY_MS
    const arrived = await eventually(
      'the receiver gets what it missed',
      () => (receiver.received.some(({ message }) => message.text === 'after') ? true : null),
      20_000,
    ).catch(() => false)
    const isSoonSent = await eventually('the scheduled message leaves', async () => {
      const { status } = await this.#read(this.#soon)
      return status === 'queued' ? null : true
    }).catch(() => false)
    const hooks = await this.#api.ask<Page<{ is_active: boolean }>>('GET', '/api/v1/webhooks')
    return [
      ...(await this.#expired()),
      ...(await this.#early(this.#held)),
      ...(isSoonSent ? [] : ['a scheduled message is stuck']),
      ...(isAhead ? [`a new message is of ${fresh.created_at}`] : []),
      ...(arrived ? [] : ['the receiver got nothing after its outage']),
      ...(hooks.data.every((hook) => hook.is_active) ? [] : ['a webhook was switched off']),
    ]
  }

  async #expired(): Promise<readonly string[]> {
    const messages = await Promise.all(this.#waiting.map((id) => this.#read(id)))
    return messages
      .filter(({ status }) => status === 'expired')
      .map(({ id }) => `${id} expired after seconds`)
  }

  async #early(ids: readonly string[]): Promise<readonly string[]> {
    const messages = await Promise.all(ids.map((id) => this.#read(id)))
    return messages
      .filter(({ status }) => status !== 'queued')
      .map(({ text, status }) => `${text} is ${status} before its time`)
  }

  #read(id: string): Promise<Message> {
    return this.#api.ask<Message>('GET', `/api/v1/messages/${id}`)
  }

  /** Accepts a message that waits for its time; gives its id. */
  async #defer(row: Readonly<Record<string, string>>): Promise<string> {
    const body = { to: PERSON, phone_line_id: this.#line.id, ...row }
    const headers = { Prefer: 'respond-async' }
    return messageOf(await this.#api.request('POST', '/api/v1/messages/send', { body, headers })).id
  }

  #send(to: string, text: string, key: string): Promise<Answer> {
    return this.#api.request('POST', '/api/v1/messages/send', {
      body: { to, text, phone_line_id: this.#line.id },
      // What is refused waits for its next try, and nobody for that.
      headers: { 'Idempotency-Key': key, Prefer: to === REFUSED ? 'respond-async' : 'wait=2' },
    })
  }
}

function messageOf({ status, body }: Answer): Message {
  if (status === 200 || status === 202) return body as Message // What a send answers.
  throw new Error(`A send was answered ${status}: ${JSON.stringify(body)}`)
}
