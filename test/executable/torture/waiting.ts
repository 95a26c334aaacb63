// Sends that wait while the relay dies: for their time, for an approver, for the end of quiet hours. Some are
// canceled right at their time; the approver approves, mends, denies, or never decides.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { systemRandom } from '../../../src/system/random.ts'
import { ApiClient, type Answer, type ApiKey } from '../../support/relay-process.ts'

const AHEAD_MS_MAX = 1_500
/** The distance of a cancellation or a decision from the time of its message. */
const SPREAD_MS = 120
const HOUR_MS = 3_600_000
/** Messages that wait until the end, so that all of them fit on one page. */
const UNDECIDED_MAX = 80
const QUIET_MAX = 40
const SHARED_PEOPLE = 5
const PAUSE_MS = 15

type Kind = 'scheduled' | 'held' | 'quiet'
type Wish = 'cancel' | 'approve' | 'deny'

/** A send, with the decision on it and the answers to both. */
export type Send = {
  readonly kind: Kind
  readonly text: string
  /** The time before which it must not leave; 0 for none. */
  readonly sendAt: number
  /** Null where its time was over before it was accepted. */
  readonly messageId: string | null
  readonly wish: Wish | null
  /** The text to be sent: that of the sender, or the approver's. */
  readonly finalText: string
  /** The status of the answer to the wish, and the number of requests that it took. */
  answer: { readonly status: number; readonly tries: number } | null
}

type Body = { readonly to: string; readonly text: string; readonly send_at?: string }

export class Waiting {
  readonly sends: Send[] = []
  readonly #owner: ApiClient
  readonly #agent: ApiClient
  readonly #approver: ApiClient
  readonly #night: ApiClient
  readonly #name: string
  readonly #wishes: Promise<void>[] = []
  #isStopped = false

  private constructor(owner: ApiClient, name: string, keys: readonly ApiClient[]) {
    const [agent, approver, night] = keys
    if (agent === undefined || approver === undefined || night === undefined) throw new Error(name)
    this.#owner = owner
    this.#agent = agent
    this.#approver = approver
    this.#night = night
    this.#name = name
  }

  /** Makes a key whose sends are held, one that decides on them, and one in its quiet hours. */
  static async open(owner: ApiClient, name: string, url: () => string): Promise<Waiting> {
    const quiet_hours = { from: timeOfDay(-HOUR_MS), to: timeOfDay(10 * HOUR_MS) }
    const keys: ApiClient[] = []
    for (const wish of [
      { name: 'agent', rules: { approval: 'always' } },
      { name: 'approver', scopes: ['approvals:write', 'messages:send'] },
      { name: 'night', rules: { quiet_hours } },
    ]) {
      keys.push(new ApiClient(url, await owner.ask<ApiKey>('POST', '/api/v1/keys', wish)))
    }
    return new Waiting(owner, name, keys)
  }

  /** Ends after `stop`, with an answer to every request. */
  async run(): Promise<void> {
    const senders = [this.#runOne('scheduled'), this.#runOne('held'), this.#runOne('quiet')]
    await Promise.all(senders)
    await Promise.all(this.#wishes)
  }

  /** True once there was a send of each kind. */
  hasMetAll(): boolean {
    return KINDS.every((kind) => this.sends.some((send) => send.kind === kind))
  }

  stop(): void {
    this.#isStopped = true
  }

  async #runOne(kind: Kind): Promise<void> {
    const most = kind === 'quiet' ? QUIET_MAX : Infinity
    for (let count = 0; !this.#isStopped && count < most; count += 1) {
      await this.#send(kind, count)
      await Bun.sleep(PAUSE_MS)
    }
  }

  async #send(kind: Kind, count: number): Promise<void> {
    const wish = this.#wishFor(kind)
    const isLater = kind === 'scheduled' || (kind === 'held' && count % 3 === 0)
    const sendAt = isLater ? Date.now() + 50 + Math.round(draw(AHEAD_MS_MAX)) : 0
    const text = `${kind}, message ${count}`
    const isMended = wish === 'approve' && count % 2 === 0
    const to = this.#partyOf(kind, wish, count)
    const later = isLater ? { send_at: new Date(sendAt).toISOString() } : {}
    const id = await this.#post(kind, { to, text, ...later })
    const finalText = isMended ? `${text}, mended` : text
    const send: Send = { kind, text, sendAt, messageId: id, wish, finalText, answer: null }
    this.sends.push(send)
    if (id !== null && wish !== null) this.#wishes.push(this.#act(send, wish, id))
  }

  /** The id of the message; null where its time was over. */
  async #post(kind: Kind, body: Body): Promise<string | null> {
    const { answer } = await untilAnswered(() =>
      this.#senderOf(kind).request('POST', '/api/v1/messages/send', {
        body,
        headers: { 'Idempotency-Key': `${this.#name} ${body.text}` },
      }),
    )
    const { id = null } = answer.body as { readonly id?: string } // An error has none.
    const isOver = answer.status === 400 && Date.parse(body.send_at ?? '') <= Date.now()
    if (id === null && !isOver) throw new Error(`${body.text} was answered ${answer.status}.`)
    return id
  }

  async #act(send: Send, wish: Wish, id: string): Promise<void> {
    const near = Math.max(0, send.sendAt - Date.now()) + draw(2 * SPREAD_MS) - SPREAD_MS
    await Bun.sleep(send.kind === 'scheduled' ? Math.max(0, near) : draw(AHEAD_MS_MAX))
    const path = `/api/v1/messages/${id}`
    const { text, finalText } = send
    const { answer, tries } = await untilAnswered(() => {
      if (wish === 'cancel') return this.#owner.request('DELETE', path)
      const body = wish === 'approve' && finalText !== text ? { text: finalText } : {}
      return this.#approver.request('POST', `${path}/${wish}`, { body })
    })
    send.answer = { status: answer.status, tries }
  }

  #senderOf(kind: Kind): ApiClient {
    if (kind === 'scheduled') return this.#owner
    return kind === 'held' ? this.#agent : this.#night
  }

  #wishFor(kind: Kind): Wish | null {
    const chance = systemRandom.chance()
    if (kind !== 'held') return kind === 'scheduled' && chance < 0.5 ? 'cancel' : null
    if (chance < 0.45) return 'approve'
    if (chance < 0.7) return 'deny'
    const undecided = this.sends.filter((send) => send.kind === kind && send.wish === null)
    return chance < 0.85 || undecided.length >= UNDECIDED_MAX ? 'cancel' : null
  }

  /** Few people get all that is decided on; nobody waits behind a message that never is. */
  #partyOf(kind: Kind, wish: Wish | null, count: number): string {
    if (kind === 'scheduled') return `+1202561${1_000 + (count % 50)}`
    const isShared = kind === 'held' && wish !== null
    return `+1202562${isShared ? 1_000 + (count % SHARED_PEOPLE) : 2_000 + (count % 8_000)}`
  }
}

async function untilAnswered(
  ask: () => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly tries: number }> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask().catch(() => null)
    if (answer !== null && answer.status !== 503) return { answer, tries }
    await Bun.sleep(PAUSE_MS)
  }
}

/** Up to `most`. */
function draw(most: number): number {
  return systemRandom.chance() * most
}

/** Time of day in the relay's time zone, which is UTC here. */
function timeOfDay(aheadMs: number): string {
  return new Date(Date.now() + aheadMs).toISOString().slice(11, 16)
}

type Row = {
  readonly id: string
  readonly text: string
  readonly errorCode: string | null
}
type Carried = { readonly text: string; readonly at: number }

/** Rows of the relay and of the network by the message's id, and events as `id name`. */
export type Found = {
  readonly rows: ReadonlyMap<string, Row>
  readonly carried: ReadonlyMap<string, Carried>
  readonly announced: ReadonlySet<string>
}

export function waitingFaults(dataDir: string, sends: readonly Send[]) {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  using network = new Database(join(dataDir, 'simulated.db'), { readonly: true })
  const rows = relay.query<Row, []>('SELECT id, text, error_code AS errorCode FROM messages').all()
  const carried = network
    .query<Carried & { id: string }, []>(
      'SELECT message_id AS id, text, carried_at AS at FROM carried',
    )
    .all()
  const events = relay
    .query<{ fact: string }, []>("SELECT message_id || ' ' || name AS fact FROM events")
    .all()
  const found = {
    rows: new Map(rows.map((row) => [row.id, row])),
    carried: new Map(carried.map((one) => [one.id, one])),
    announced: new Set(events.map(({ fact }) => fact)),
  }
  return {
    ...disobeyed(found, sends),
    neverTried: KINDS.filter((kind) => !sends.some((send) => send.kind === kind)),
  }
}

const KINDS: readonly Kind[] = ['scheduled', 'held', 'quiet']

/** Everything that left, or stayed, against a decision or before its time; each list is empty when all is well. */
export function disobeyed({ rows, carried, announced }: Found, sends: readonly Send[]) {
  const facts = sends.flatMap((send) => {
    const id = send.messageId
    const isAnnounced = (name: string) => announced.has(`${id} ${name}`)
    return id === null
      ? []
      : [{ send, left: carried.get(id) ?? null, row: rows.get(id) ?? null, isAnnounced }]
  })
  const where = (condition: (fact: (typeof facts)[number]) => boolean) =>
    facts.filter(condition).map(({ send, left, row }) => ({ ...send, left, row }))
  const texts = new Set([...rows.values()].map(({ text }) => text))
  return {
    leftUnapproved: where(
      ({ send, left }) => send.kind === 'held' && send.wish !== 'approve' && left !== null,
    ),
    leftInQuietHours: where(({ send, left }) => send.kind === 'quiet' && left !== null),
    leftTooEarly: where(({ send, left }) => left !== null && left.at < send.sendAt),
    leftWithOtherText: where(({ send, left }) => left !== null && left.text !== send.finalText),
    leftThoughCanceled: where(
      ({ send, left }) => send.wish === 'cancel' && send.answer?.status === 200 && left !== null,
    ),
    notLeft: where(({ send, left, row }) => mustLeave(send, row) && left === null),
    changed: where(({ send, row }) => row?.text !== send.finalText),
    notStopped: where(
      ({ send, row }) => stoppedAs(send) !== null && row?.errorCode !== stoppedAs(send),
    ),
    stoppedUnasked: where(
      ({ send: { wish }, row }) =>
        (row?.errorCode === 'canceled' && wish !== 'cancel') ||
        (row?.errorCode === 'denied' && wish !== 'deny'),
    ),
    oddAnswer: where(({ send }) => send.wish !== null && !isExpected(send)),
    approvalNotAnnounced: where(
      ({ send: { kind, wish }, isAnnounced }) =>
        kind === 'held' &&
        !(
          isAnnounced('approval.requested') && isAnnounced('approval.resolved') === (wish !== null)
        ),
    ),
    refusedButKept: sends.filter(({ messageId, text }) => messageId === null && texts.has(text)),
  }
}

/** One whose cancellation got lost, and then came too late or twice, has left or not. */
function mustLeave({ kind, wish }: Send, row: Row | null): boolean {
  if (kind === 'held') return wish === 'approve'
  return kind === 'scheduled' && !(wish === 'cancel' && row?.errorCode === 'canceled')
}

/** The error that the message must have; null if it has none, or may. */
function stoppedAs({ kind, wish, answer }: Send): string | null {
  if (wish === 'deny') return 'denied'
  return wish === 'cancel' && (kind === 'held' || answer?.status === 200) ? 'canceled' : null
}

/** A repeat finds the work of a request whose answer got lost; a cancellation may come too late. */
function isExpected({ kind, wish, answer }: Send): boolean {
  if (answer?.status === 200) return true
  if (answer?.status !== 409) return false
  return answer.tries > 1 || (kind === 'scheduled' && wish === 'cancel')
}
