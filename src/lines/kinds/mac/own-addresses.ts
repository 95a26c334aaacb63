// The owner's own addresses. An address is proven only by rows: Messages sent from it, or received on it. A wrong
// address would silence the person who has it, so an address that may be another person's is never proven.

import { type Handle, type Home, homeOfNumber, parseRecipient } from '../../../domain/handle.ts'
import { memoize } from '../../../system/memoize.ts'
import type { OwnUse } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { personBehind } from './people.ts'

/** Carriers give unused numbers to other people after 45 days (FCC). */
const UNUSED_MS = 42 * 86_400_000
/** A single sent message proves an address for this long. */
const RECENT_MS = 7 * 86_400_000
const USES_MIN = 2
const PAIRS_MAX = 5_000

type Seen = { readonly isSent: boolean; readonly count: number; readonly lastAt: number }

const NEVER_SEEN: Seen = { isSent: false, count: 0, lastAt: -Infinity }

export class Owner {
  readonly number: string
  readonly home: Home | null
  #people: ReadonlySet<Handle> = new Set()
  #aliases: ReadonlyMap<string, number> = new Map()

  constructor(number: string) {
    this.number = number
    this.home = homeOfNumber(number)
  }

  /** The owner's addresses, with the number of the last messages that used each. */
  get aliases(): ReadonlyMap<string, number> {
    return this.#aliases
  }

  read(db: ChatDb, now: number): void {
    this.#people = ownPeople(db.usesOfEach(usedSince(now)), now, this.home)
    this.#aliases = addressCounts(db.ownUses(), now)
  }

  isAlias(handle: string): boolean {
    const person = personBehind(handle, this.home)
    return person === personBehind(this.number, this.home) || this.#people.has(person)
  }
}

/** The start of the uses that prove an address, in milliseconds since 1970. */
function usedSince(now: number): number {
  return now - UNUSED_MS
}

/** The owner's handles, from the latest uses of each address. Times are milliseconds since 1970. */
function ownPeople(uses: readonly OwnUse[], now: number, home: Home | null): ReadonlySet<Handle> {
  const seen = new Map<Handle, Seen>()
  for (const use of uses) {
    const at = lastAt(use, now)
    const addresses = at < usedSince(now) ? [] : addressesOf(use)
    for (const person of new Set(addresses.map((address) => personBehind(address, home)))) {
      const { isSent, count, lastAt: before } = seen.get(person) ?? NEVER_SEEN
      const latest = Math.max(before, at)
      seen.set(person, { isSent: isSent || use.isFromMe, count: count + 1, lastAt: latest })
    }
  }
  const isProven = ({ isSent, count, lastAt: latest }: Seen) =>
    count >= USES_MIN || (isSent && now - latest <= RECENT_MS)
  return new Set([...seen].flatMap(([person, times]) => (isProven(times) ? [person] : [])))
}

/** Addresses of the latest sent messages with their counts; if none was sent, those of received ones. */
function addressCounts(uses: readonly OwnUse[], now: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const proving = uses.filter((use) => lastAt(use, now) >= usedSince(now))
  for (const use of sentIn(proving.filter((one) => addressesOf(one).length > 0))) {
    const [address = ''] = addressesOf(use)
    counts.set(address, (counts.get(address) ?? 0) + 1)
  }
  return counts
}

/** Like `addressCounts`, but as of the last use: a Mac that sent nothing for months still has its number. */
export function lastAddressCounts(
  uses: readonly OwnUse[],
  now: number,
): ReadonlyMap<string, number> {
  const proving = sentIn(uses.filter((use) => addressesOf(use).length > 0))
  return addressCounts(proving, Math.max(...proving.map((use) => lastAt(use, now))))
}

function lastAt({ at }: OwnUse, now: number): number {
  return Math.min(at ?? -Infinity, now)
}

/** The sent uses, or all if none was sent. */
function sentIn<T extends Pick<OwnUse, 'isFromMe'>>(uses: readonly T[]): readonly T[] {
  const sent = uses.filter(({ isFromMe }) => isFromMe)
  return sent.length === 0 ? uses : sent
}

/** Addresses that a row proves to be ours: the message's and its account's (`E:me@example.com`, `P:+1202…`). */
function addressesOf({ isFromMe, address, account, peers }: OwnUse): readonly string[] {
  const login = isFromMe ? (account ?? '').replace(/^.*:/, '') : ''
  const named = [address ?? '', parseRecipient(login) === null ? '' : login]
  return named.filter((one) => one !== '' && !peers.some((peer) => isPeer(`${one}\n${peer}`)))
}

const homeOf = memoize(PAIRS_MAX, homeOfNumber)

/** True if both are one person, by the rules of the address's country: if the address is ours, the line's. */
const isPeer = memoize(PAIRS_MAX, (pair) => {
  const [address = '', peer = ''] = pair.split('\n')
  const home = homeOf(address)
  return personBehind(address, home) === personBehind(peer, home)
})
