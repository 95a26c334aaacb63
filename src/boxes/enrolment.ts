// Joining: the head's invitation, the token that carries it, and both ends of the one request that makes a machine a
// box. The request can be repeated: with the same key it gets the same answer.

import { createHash } from 'node:crypto'

import { Type } from 'typebox'

import type { Timestamp } from '../domain/ids.ts'
import { SECOND_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import type { OwnAddress } from '../system/network-address.ts'
import { Signal } from '../system/signal.ts'
import { inboxOf } from './broker-config.ts'
import { BROKER_NAME, pemOf } from './certificates.ts'
import { SUBJECTS, type ClockRandomLog, type Link } from './link.ts'
import type { NatsLink } from './nats-link.ts'
import { parsed } from './wire.ts'

/** State of an invitation, which decides on a request to join. */
export type Invitation = {
  readonly expiresAt: Timestamp
  readonly usedBy: { readonly publicKey: string; readonly boxId: string } | null
}

export type JoinToken = {
  /** `direct` if the owner makes the users of a cluster: then the seed and `id` are the box's own. */
  readonly kind: 'invitation' | 'direct'
  /** `host:port` of each address of the broker. */
  readonly addresses: readonly string[]
  readonly id: string
  readonly seed: string
  /** PEM; null if public authorities sign the certificates of a cluster. */
  readonly ca: string | null
  /** Public nkey of the head; null if the box learns it from the head's answer. */
  readonly headKey: string | null
}

/** The facts that a box stores. */
export type Joined = Omit<JoinToken, 'kind' | 'id'> & {
  readonly boxId: string
  readonly serverName: string | null
  /** Null until the head names itself. */
  readonly headName: string | null
}

export type JoinRequest = {
  readonly invitation: string
  readonly publicKey: string
  /** Name of the machine. */
  readonly name: string
  readonly version: string
  readonly platform: string
  /** False for a version that signs nothing. */
  readonly signs: boolean
}

export type JoinAnswer = { readonly boxId: string } | { readonly refused: string }
export type JoinProblem = { readonly problem: string }

/** Machine that joins, with the key that it made. */
export type Machine = Pick<JoinRequest, 'name' | 'version' | 'platform'> & {
  readonly key: { readonly seed: string; readonly publicKey: string }
}

const ADDRESSES_MAX = 5
const CONNECT_MS = 10 * SECOND_MS
const ASK_MS = 10 * SECOND_MS
const ASKS_MAX = 3
const ASK_AGAIN_MS = SECOND_MS

const PREFIX = 'hlj_'
const VERSION = 1
/** Version of a token with the key of the head. */
const KEYED_VERSION = 2
const CHECKSUM_BYTES = 4
const KINDS = ['invitation', 'direct'] as const

/** Bridges of containers and virtual machines: other machines can't reach their addresses. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|bridge|awdl|llw|anpi|lxc|cni|flannel)/
const LINK_LOCAL = /^(fe80:|169\.254\.)/i

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const REQUEST = Type.Object({
  name: text(200),
  public_key: Type.String({ pattern: '^U[A-Z2-7]{55}$' }),
  version: text(50),
  platform: text(50),
  signs: Type.Optional(Type.Boolean()),
})
const ANSWER = Type.Object({
  box: Type.Optional(Type.String({ pattern: '^[\\w-]{1,64}$' })),
  head: Type.Optional(text(200)),
  key: Type.Optional(Type.String({ pattern: '^U[A-Z2-7]{55}$' })),
  refused: Type.Optional(text(500)),
})

/** The `host:port` list for a token: the public host first, then addresses that other machines may reach. */
export function joinAddresses(
  own: readonly OwnAddress[],
  port: number,
  publicUrl: string | null,
): readonly string[] {
  const reachable = own.filter(
    (one) => !VIRTUAL.test(one.interface) && !LINK_LOCAL.test(one.address),
  )
  const isV6 = (address: string) => address.includes(':')
  const sorted = reachable
    .map(({ address }) => address)
    .toSorted((a, b) => Number(isV6(a)) - Number(isV6(b)))
  const hosts = sorted.map((address) => (isV6(address) ? `[${address}]` : address))
  const first = publicUrl === null ? [] : [new URL(publicUrl).hostname]
  const all = [...new Set([...first, ...hosts])].slice(0, ADDRESSES_MAX)
  return (all.length > 0 ? all : ['127.0.0.1']).map((host) => `${host}:${port}`)
}

/** Format: version, checksum, lines of text up to a zero byte, then the certificates in DER. */
export function writeToken({ kind, addresses, id, seed, ca, headKey }: JoinToken): string {
  const keys = headKey === null ? [seed] : [seed, headKey]
  const lines = [String(KINDS.indexOf(kind)), id, ...keys, ...addresses].join('\n')
  const certificates = (ca ?? '').matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)
  const ders = [...certificates].map(([, base64 = '']) => Buffer.from(base64, 'base64'))
  const content = Buffer.concat([new TextEncoder().encode(`${lines}\0`), ...ders])
  const version = headKey === null ? VERSION : KEYED_VERSION
  const whole = Buffer.concat([Uint8Array.of(version), checksumOf(content), content])
  return PREFIX + whole.toString('base64url')
}

/** Reads the token in a pasted text, which may be wrapped. */
export function readToken(pasted: string): JoinToken | JoinProblem {
  const plain = pasted.replaceAll(/\s/g, '')
  if (!plain.startsWith(PREFIX))
    return { problem: `This is no token to join with: it starts with ${PREFIX}.` }
  const whole = Buffer.from(plain.slice(PREFIX.length), 'base64url')
  const content = whole.subarray(1 + CHECKSUM_BYTES)
  const isKeyed = whole[0] === KEYED_VERSION
  const isNewer = whole.length > 0 && whole[0] !== VERSION && !isKeyed
  if (isNewer) return { problem: 'The token is from a newer Hookline. Upgrade this one first.' }
  const end = content.indexOf(0)
  if (end < 0 || !checksumOf(content).equals(whole.subarray(1, 1 + CHECKSUM_BYTES))) {
    return { problem: 'The token is incomplete: copy all of it.' }
  }
  return tokenIn(content, end, isKeyed)
}

/** Reads a token's content, whose lines of text go up to `end`. */
function tokenIn(content: Buffer, end: number, isKeyed: boolean): JoinToken {
  const [number, id = '', seed = '', ...more] = content.toString('utf8', 0, end).split('\n')
  const [headKey = null] = isKeyed ? more : []
  const addresses = more.slice(isKeyed ? 1 : 0)
  const kind = KINDS[Number(number)] ?? 'invitation'
  const pems = certificatesIn(content.subarray(end + 1)).map(pemOf)
  return { kind, addresses, id, seed, ca: pems.length > 0 ? pems.join('') : null, headKey }
}

/** Each certificate begins with the tag of a sequence, and a length of two bytes. */
function certificatesIn(bytes: Buffer): readonly Buffer[] {
  if (bytes.length < 4) return []
  const length = 4 + bytes.readUInt16BE(2)
  return [bytes.subarray(0, length), ...certificatesIn(bytes.subarray(length))]
}

function checksumOf(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, CHECKSUM_BYTES)
}

/** Decides on a request, in the transaction that stores it: `new`, or the answer that is already certain. */
export function decideJoin(
  invitation: Invitation | null,
  request: JoinRequest,
  now: Timestamp,
): 'new' | JoinAnswer {
  if (invitation === null) return { refused: 'The invitation was withdrawn.' }
  const { usedBy, expiresAt } = invitation
  if (usedBy?.publicKey === request.publicKey) return { boxId: usedBy.boxId }
  if (usedBy !== null) return { refused: 'The invitation was used already. Create a new one.' }
  return now < expiresAt ? 'new' : { refused: 'The invitation has expired. Create a new one.' }
}

/** Answers machines that join. Returns a function that stops answering. */
export function serveJoins(
  link: Link,
  head: {
    readonly name: string
    /** Public nkey. */
    readonly key: string
    /** Decides, and stores the new box and the use of the invitation, in one transaction. */
    readonly accept: (request: JoinRequest) => Promise<JoinAnswer>
    /** Lets the box connect (`Broker.apply`); false if that fails. */
    readonly apply: () => Promise<boolean>
  },
): () => void {
  return link.serve(SUBJECTS.join('*'), async (body, subject) => {
    const request = parsed(REQUEST, body)
    if (request === null) return JSON.stringify({ refused: 'The request is malformed.' })
    const { name, public_key: publicKey, version, platform, signs = false } = request
    const invitation = subject.slice(subject.lastIndexOf('.') + 1)
    const answer = await head.accept({ invitation, publicKey, name, version, platform, signs })
    if ('refused' in answer) return JSON.stringify(answer)
    // If the machine gets no answer, it asks again.
    if (!(await head.apply())) return null
    return JSON.stringify({ box: answer.boxId, head: head.name, key: head.key })
  })
}

/**
 * Joins with a pasted token. The caller stores the machine's key before, and passes it again if the command is
 * repeated, so that a lost answer is harmless. Ends within a minute.
 */
export async function join(
  pasted: string,
  machine: Machine,
  outside: ClockRandomLog,
  signal: AbortSignal,
): Promise<Joined | JoinProblem> {
  const token = readToken(pasted)
  if ('problem' in token) return token
  const { connectNats } = await import('./nats-link.ts')
  const { kind, addresses, ca, id, seed, headKey } = token
  const serverName = kind === 'invitation' ? BROKER_NAME : null
  const { clock } = outside
  const link = connectNats(
    { servers: addresses, ca, serverName, seed, inboxPrefix: inboxOf(id), name: machine.name },
    outside,
  )
  try {
    if (!(await isConnected(link, clock, signal))) return { problem: problemWords(link, token) }
    const facts = { addresses, ca, serverName }
    if (kind === 'direct') return { ...facts, boxId: id, headName: null, headKey, seed }
    const answer = await askToJoin(link, id, machine, { clock, signal })
    return 'problem' in answer ? answer : { ...facts, ...answer, seed: machine.key.seed }
  } finally {
    await link.close()
  }
}

/** True once connected; false after ten seconds, or once the broker refuses the key. */
async function isConnected(link: NatsLink, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const change = new Signal()
  const stop = link.onChange(() => change.notify())
  const until = clock.monotonic() + CONNECT_MS
  for (;;) {
    const { isConnected, problem } = link.status()
    const isOver = signal.aborted || problem === 'refused' || clock.monotonic() >= until
    if (isConnected || isOver) {
      stop()
      return isConnected
    }
    await change.wait(clock, until - clock.monotonic(), signal)
  }
}

function problemWords(link: NatsLink, { kind, addresses }: JoinToken): string {
  const places = addresses.join(', ')
  switch (link.status().problem) {
    case 'refused':
      if (kind === 'direct') {
        return 'The cluster does not know this token. Put the users that "hookline boxes config" prints on the head into its servers, or use the newest token.'
      }
      return 'The invitation has expired or was withdrawn. Create a new one on the head.'
    case 'untrusted':
      return `The machine at ${places} is not the one that made this token: its certificate differs.`
    case 'unreachable':
    case 'shared':
    case null:
      return `Nothing answers at ${places}. Check that the head runs and that its port is open to this network.`
  }
}

async function askToJoin(
  link: Link,
  invitation: string,
  { name, version, platform, key }: Machine,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Pick<Joined, 'boxId' | 'headName' | 'headKey'> | JoinProblem> {
  const facts = { name, version, platform, public_key: key.publicKey, signs: true }
  const request = JSON.stringify(facts)
  for (let asked = 0; asked < ASKS_MAX && !signal.aborted; asked += 1) {
    if (asked > 0) await clock.sleep(ASK_AGAIN_MS, signal)
    const reply = await link.ask(SUBJECTS.join(invitation), request, ASK_MS).catch(() => '')
    const answer = parsed(ANSWER, reply)
    if (answer === null) continue
    const { box, head = null, key: headKey = null, refused } = answer
    if (refused !== undefined) return { problem: refused }
    if (box !== undefined) return { boxId: box, headName: head, headKey }
  }
  return { problem: 'The head did not answer. Run the same command again.' }
}
