// Signs the link between a head and its boxes: another user of their broker can neither give orders nor report events,
// nor replay any. The signature is the last field of a text. Earlier versions ignore it and send none, so unsigned
// texts are accepted from a peer until it has shown that it signs for good.

import { createHash, type KeyObject, sign, verify } from 'node:crypto'

import { MINUTE_MS } from '../domain/time.ts'
import { dropOldest } from '../system/memoize.ts'
import { type ClockRandomLog, type Link, LinkError } from './link.ts'
import { type NkeyPair, privateKeyOf, publicKeyIn } from './nkeys.ts'
import { SILENCE_MS } from './wire.ts'

export type Trust = {
  /** The box with this id, or the head of this box; null if there is none. Its key is null until it signs. */
  peer(box: string): { readonly key: string | null; readonly mustSign: boolean } | null
  /** Called with the key of a peer that signs for good: nothing unsigned is accepted from it from now on. */
  insist(box: string, key: string): void
}

/** Replay window of one process's counts; the lowest bit stands for the highest count (RFC 4303, 3.4.3). */
type Window = { readonly top: number; readonly bits: bigint }

/** Longer than the trial of a new version: if it is rolled back, its peers must still accept the old one. */
const TRIAL_MS = 10 * MINUTE_MS
const MARK = '"signed":"'
/** Key, stream, count, whether the sender signs for good, and the signature. */
const FIELD = /^((U[A-Z2-7]{55})\.([\da-f]{16})\.(\d{1,15})\.([01]))\.([\w-]{86})"\}$/
const STREAM_BYTES = 8
const STREAMS_MAX = 8
const WINDOW_BITS = 1_024
const ALL_CAME = (1n << BigInt(WINDOW_BITS)) - 1n

export class SignedLink implements Link {
  readonly #link: Link
  readonly #key: string
  readonly #secret: KeyObject
  readonly #trust: Trust
  readonly #outside: ClockRandomLog
  readonly #startedAt: number
  /** Random name of this process's counts. */
  readonly #stream: string
  readonly #windows = new Map<string, Map<string, Window>>()
  /** Monotonic time at which a text from a box, or from its head, was last refused. */
  readonly #refusedAt = new Map<string, number>()
  #warnedAt = -Infinity
  #count = 0

  constructor(link: Link, own: NkeyPair, trust: Trust, outside: ClockRandomLog) {
    this.#link = link
    this.#key = own.publicKey
    this.#secret = privateKeyOf(own)
    this.#trust = trust
    this.#outside = outside
    this.#startedAt = outside.clock.monotonic()
    this.#stream = outside.random.bytes(STREAM_BYTES).toHex()
  }

  async ask(subject: string, request: string, timeoutMs: number): Promise<string> {
    const own = this.#sign(subject, request)
    const answer = read(await this.#link.ask(subject, own.text, timeoutMs))
    if (this.#isGood(subject, answer, own.signature)) return answer.body
    throw new LinkError('The answer is not signed by the other side.')
  }

  serve(subject: string, answer: Parameters<Link['serve']>[1]): () => void {
    return this.#link.serve(subject, async (text, asked) => {
      const request = read(text)
      if (!this.#isGood(asked, request) || !this.#isFirst(asked, request)) return null
      const body = await answer(request.body, asked)
      const { signature } = request
      return body === null || signature === null ? body : this.#sign(asked, body, signature).text
    })
  }

  close(): Promise<void> {
    return this.#link.close()
  }

  refuses(box: string): boolean {
    return this.#outside.clock.monotonic() - (this.#refusedAt.get(box) ?? -Infinity) < SILENCE_MS
  }

  /** `request` is the signature of the request that the text answers; empty for a request. */
  #sign(subject: string, body: string, request = '') {
    const isForGood = this.#outside.clock.monotonic() - this.#startedAt >= TRIAL_MS
    this.#count += 1
    const fields = [this.#key, this.#stream, this.#count, Number(isForGood)].join('.')
    const hash = hashOf(subject, request, fields, body)
    const signature = sign(null, hash, this.#secret).toString('base64url')
    const comma = body === '{}' ? '' : ','
    return { text: `${body.slice(0, -1)}${comma}${MARK}${fields}.${signature}"}`, signature }
  }

  #isGood(subject: string, { fields, claimed, signature, ...text }: Text, request = ''): boolean {
    const box = boxIn(subject)
    const peer = this.#trust.peer(box)
    const key = peer?.key ?? claimed
    const hash = hashOf(subject, request, fields, text.body)
    const isSigned =
      signature !== null &&
      verify(null, hash, publicKeyIn(key), Buffer.from(signature, 'base64url'))
    const isGood = peer !== null && (isSigned || (signature === null && !peer.mustSign))
    if (!isGood) this.#refuse(box, subject, peer !== null)
    else if (isSigned && text.isForGood && !peer.mustSign) this.#trust.insist(box, key)
    return isGood
  }

  #refuse(box: string, subject: string, isKnown: boolean): void {
    const now = this.#outside.clock.monotonic()
    if (isKnown) this.#refusedAt.set(box, now)
    if (now - this.#warnedAt < MINUTE_MS) return
    this.#warnedAt = now
    this.#outside.log.warn('text without the right signature', { box_id: box, subject })
  }

  /** False for a request that came before, or that is too old to decide. */
  #isFirst(subject: string, { signature, stream, count }: Text): boolean {
    if (signature === null) return true
    const streams = this.#windows.get(boxIn(subject)) ?? new Map<string, Window>()
    const window = streams.get(stream) ?? { top: count - 1, bits: ALL_CAME }
    this.#windows.set(boxIn(subject), streams)
    const ahead = Math.max(-WINDOW_BITS, Math.min(count - window.top, WINDOW_BITS))
    const bit = 1n << BigInt(Math.max(0, -ahead))
    const bits = (window.bits << BigInt(Math.max(0, ahead))) & ALL_CAME
    if (ahead === -WINDOW_BITS || (bits & bit) !== 0n) return false
    streams.set(stream, { top: Math.max(window.top, count), bits: bits | bit })
    dropOldest(streams, STREAMS_MAX)
    return true
  }
}

/** Binds a text to its subject, and an answer to its request. */
function hashOf(...parts: readonly string[]): Buffer {
  const hash = createHash('sha256')
  for (const part of ['hookline link 1', ...parts]) hash.update(`${part.length}\n`).update(part)
  return hash.digest()
}

type Text = ReturnType<typeof read>

function read(text: string) {
  const at = text.lastIndexOf(MARK)
  const field = at < 1 ? null : FIELD.exec(text.slice(at + MARK.length))
  const [, fields = '', claimed = '', stream = '', count, isForGood, signature = null] = field ?? []
  const signed = `${text.slice(0, text[at - 1] === ',' ? at - 1 : at)}}`
  const body = field === null ? text : signed
  return {
    body,
    fields,
    claimed,
    stream,
    count: Number(count),
    isForGood: isForGood === '1',
    signature,
  }
}

/** The box's id in a subject: the last word of `hl.1.up.<epoch>.<box>`, else the fourth word. */
function boxIn(subject: string): string {
  const words = subject.split('.')
  return words[words[2] === 'up' ? 4 : 3] ?? ''
}
