// The link between a head and its boxes, signed: another user of their broker can neither give orders nor tell
// events, nor repeat those of others. The signature is the last field of a text. A version before this one
// ignores it and has none, so it is accepted without until it has shown that it signs for good.

import { createHash, sign, verify } from 'node:crypto'

import { MINUTE_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { dropOldest } from '../system/memoize.ts'
import type { Random } from '../system/random.ts'
import { type Link, LinkError } from './link.ts'
import { privateKeyIn, publicKeyIn } from './nkeys.ts'

/** The other side, as this one knows it. */
type Peer = {
  /** Its public nkey; null before the head has said its own. */
  readonly key: string | null
  readonly mustSign: boolean
}

export type Trust = {
  /** The box of this id, or the head of this box; null for nobody. */
  peer(box: string): Peer | null
  /** Called with the key of a peer that signs for good: nothing without its signature is taken from now on. */
  insist(box: string, key: string): void
}

type Tools = { readonly clock: Clock; readonly random: Random; readonly log: Log }
type Answer = Parameters<Link['serve']>[1]

type Signature = {
  readonly key: string
  /** Of one process. */
  readonly stream: string
  readonly count: number
  readonly isForGood: boolean
  readonly signature: string
}

/** A text with its signature, and what that refers to. */
type Signed = {
  readonly subject: string
  readonly body: string
  readonly signature: Signature | null
  /** Signature of the request that it answers; empty for a request. */
  readonly request: string
}

/** Longer than a new version is on trial: one that is taken back must find its peers as they were. */
const TRIAL_MS = 10 * MINUTE_MS
const MARK = '"signed":"'
const FIELD = /^(U[A-Z2-7]{55})\.([\da-f]{16})\.(\d{1,15})\.([01])\.([\w-]{86})"\}$/
const STREAM_BYTES = 8
const STREAMS_MAX = 8
/** Requests that may overtake another. */
const OVERTAKING_MAX = 1_024

export class SignedLink implements Link {
  /** Monotonic time at which a text was last refused, by box. */
  readonly refusedAt = new Map<string, number>()
  readonly #link: Link
  readonly #own: { readonly key: string; readonly secret: ReturnType<typeof privateKeyIn> }
  readonly #trust: Trust
  readonly #tools: Tools
  readonly #startedAt: number
  readonly #stream: string
  readonly #seen = new Map<string, SeenRequests>()
  #count = 0

  constructor(
    link: Link,
    key: { readonly seed: string; readonly publicKey: string },
    trust: Trust,
    tools: Tools,
  ) {
    this.#link = link
    this.#own = { key: key.publicKey, secret: privateKeyIn(key.seed) }
    this.#trust = trust
    this.#tools = tools
    this.#startedAt = tools.clock.monotonic()
    this.#stream = tools.random.bytes(STREAM_BYTES).toHex()
  }

  async ask(subject: string, request: string, timeoutMs: number): Promise<string> {
    const own = this.#sign({ subject, body: request, request: '' })
    const text = await this.#link.ask(subject, own.text, timeoutMs)
    const answer = { subject, ...read(text), request: own.signature }
    if (this.#isGood(answer)) return answer.body
    throw new LinkError('The answer is not signed by the other side.')
  }

  serve(subject: string, answer: Answer): () => void {
    return this.#link.serve(subject, async (text, asked) => {
      const request = { subject: asked, ...read(text), request: '' }
      if (!this.#isGood(request) || !this.#isFirst(request)) return null
      const body = await answer(request.body, asked)
      if (body === null || request.signature === null) return body
      return this.#sign({ subject: asked, body, request: request.signature.signature }).text
    })
  }

  close(): Promise<void> {
    return this.#link.close()
  }

  #sign(unsigned: Omit<Signed, 'signature'>): {
    readonly text: string
    readonly signature: string
  } {
    const isForGood = this.#tools.clock.monotonic() - this.#startedAt >= TRIAL_MS
    this.#count += 1
    const facts = { key: this.#own.key, stream: this.#stream, count: this.#count, isForGood }
    const signature = sign(null, contentOf(unsigned, facts), this.#own.secret).toString('base64url')
    const { body } = unsigned
    const field = [facts.key, facts.stream, facts.count, isForGood ? 1 : 0, signature].join('.')
    const comma = body === '{}' ? '' : ','
    return { text: `${body.slice(0, -1)}${comma}${MARK}${field}"}`, signature }
  }

  #isGood(signed: Signed): boolean {
    const { subject, signature } = signed
    const box = boxIn(subject)
    const peer = this.#trust.peer(box)
    if (peer === null) return false
    const key = peer.key ?? signature?.key ?? null
    const isGood =
      signature === null || key === null
        ? !peer.mustSign
        : verify(
            null,
            contentOf(signed, signature),
            publicKeyIn(key),
            Buffer.from(signature.signature, 'base64url'),
          )
    if (!isGood) this.#noteRefusal(box, subject)
    else if (signature?.isForGood === true && key !== null && !peer.mustSign)
      this.#trust.insist(box, key)
    return isGood
  }

  #isFirst({ subject, signature }: Signed): boolean {
    if (signature === null) return true
    const box = boxIn(subject)
    let seen = this.#seen.get(box)
    if (seen === undefined) this.#seen.set(box, (seen = new SeenRequests()))
    return seen.isFirst(signature)
  }

  #noteRefusal(box: string, subject: string): void {
    const now = this.#tools.clock.monotonic()
    const isNews = now - (this.refusedAt.get(box) ?? -Infinity) > MINUTE_MS
    this.refusedAt.set(box, now)
    if (isNews) this.#tools.log.warn('text without the right signature', { box_id: box, subject })
  }
}

/** Requests of one peer that came, so that nobody repeats them. */
class SeenRequests {
  readonly #streams = new Map<string, { floor: number; readonly counts: Set<number> }>()

  /** False for a request that came before, and for one that is so late that nobody can know. */
  isFirst({ stream, count }: Signature): boolean {
    let known = this.#streams.get(stream)
    if (known === undefined) {
      known = { floor: count - 1, counts: new Set() }
      this.#streams.set(stream, known)
      dropOldest(this.#streams, STREAMS_MAX)
    }
    const { counts } = known
    if (count <= known.floor || counts.has(count)) return false
    counts.add(count)
    const [first] = counts
    if (counts.size > OVERTAKING_MAX && first !== undefined) {
      counts.delete(first)
      known.floor = Math.max(known.floor, first)
    }
    return true
  }
}

/** The hash that is signed: a text is good for its subject only, and an answer for its request. */
function contentOf(
  { subject, request, body }: Omit<Signed, 'signature'>,
  { stream, count, isForGood }: Omit<Signature, 'key' | 'signature'>,
): Buffer {
  const facts = ['hookline link 1', subject, request, stream, count, isForGood, ''].join('\n')
  return createHash('sha256').update(facts).update(body).digest()
}

function read(text: string): Pick<Signed, 'body' | 'signature'> {
  const at = text.lastIndexOf(MARK)
  const field = FIELD.exec(text.slice(at + MARK.length))
  if (at < 1 || field === null) return { body: text, signature: null }
  const [, key = '', stream = '', count, isForGood, signature = ''] = field
  const body = `${text.slice(0, text[at - 1] === ',' ? at - 1 : at)}}`
  const facts = { key, stream, count: Number(count), isForGood: isForGood === '1', signature }
  return { body, signature: facts }
}

/** `hl.1.up.<epoch>.<box>`, or the box behind the third word. */
function boxIn(subject: string): string {
  const words = subject.split('.')
  return words[words[2] === 'up' ? 4 : 3] ?? ''
}
