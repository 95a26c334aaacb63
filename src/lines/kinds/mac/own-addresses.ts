// The addresses that are the owner's own. Only rows prove one: those that Messages sent from it, or received on it.
// A wrong address here would silence the person who has it, so whatever may be another person's proves nothing.

import { type Handle, type Home, homeOfNumber, parseRecipient } from '../../../domain/handle.ts'
import { memoize } from '../../../system/memoize.ts'
import type { OwnUse } from './chat-db-rows.ts'
import { personBehind } from './people.ts'

export type OwnAddresses = {
  readonly people: ReadonlySet<Handle>
  /** Addresses of the latest sent messages, with their counts; if there are none, of received ones. */
  readonly counts: ReadonlyMap<string, number>
}

export const NO_ADDRESSES: OwnAddresses = { people: new Set(), counts: new Map() }

/** An address without a message for so long is nobody's: carriers give numbers to other people after 45 days (FCC). */
const UNUSED_MS = 42 * 86_400_000
/** A single sent message proves an address for this long. */
const RECENT_MS = 7 * 86_400_000
const USES_MIN = 2
const PAIRS_MAX = 5_000

type Seen = { readonly isSent: boolean; readonly count: number; readonly lastAt: number }

const NEVER_SEEN: Seen = { isSent: false, count: 0, lastAt: -Infinity }

/** `uses` are the latest first; times are milliseconds since 1970. */
export function ownAddresses(
  uses: readonly OwnUse[],
  now: number,
  home: Home | null,
): OwnAddresses {
  const seen = new Map<Handle, Seen>()
  const used = uses.flatMap((use) => {
    const lastAt = Math.min(use.at ?? -Infinity, now)
    const addresses = now - lastAt > UNUSED_MS ? [] : addressesOf(use)
    for (const person of new Set(addresses.map((address) => personBehind(address, home)))) {
      const { isSent, count, lastAt: before } = seen.get(person) ?? NEVER_SEEN
      const latest = Math.max(before, lastAt)
      seen.set(person, { isSent: isSent || use.isFromMe, count: count + 1, lastAt: latest })
    }
    return addresses.slice(0, 1).map((address) => ({ address, isFromMe: use.isFromMe }))
  })
  const isProven = ({ isSent, count, lastAt }: Seen) =>
    count >= USES_MIN || (isSent && now - lastAt <= RECENT_MS)
  const people = [...seen].flatMap(([person, times]) => (isProven(times) ? [person] : []))
  const counts = new Map<string, number>()
  for (const { address } of sentIn(used)) counts.set(address, (counts.get(address) ?? 0) + 1)
  return { people: new Set(people), counts }
}

/** The same by what was last used: a Mac that sent nothing for months still has its number. */
export function lastAddresses(uses: readonly OwnUse[], now: number): OwnAddresses {
  const proving = sentIn(uses.filter((use) => addressesOf(use).length > 0))
  const dates = proving.flatMap(({ at }) => (at === null ? [] : [Math.min(at, now)]))
  return ownAddresses(proving, Math.max(...dates), null)
}

/** The sent ones; all if none was sent. */
function sentIn<T extends Pick<OwnUse, 'isFromMe'>>(uses: readonly T[]): readonly T[] {
  const sent = uses.filter(({ isFromMe }) => isFromMe)
  return sent.length === 0 ? uses : sent
}

/** Addresses that a row proves: that of the message, and that of its account (`E:me@example.com`, `P:+1202…`). */
function addressesOf({ isFromMe, address, account, peers }: OwnUse): readonly string[] {
  const login = isFromMe ? (account ?? '').replace(/^.*:/, '') : ''
  const named = [address ?? '', parseRecipient(login) === null ? '' : login]
  return named.filter((one) => one !== '' && !peers.some((peer) => isPeer(`${one}\n${peer}`)))
}

const homeOf = memoize(PAIRS_MAX, homeOfNumber)

/** Compared by the country of the address: if it is ours, that is the country of the line. */
const isPeer = memoize(PAIRS_MAX, (pair) => {
  const [address = '', peer = ''] = pair.split('\n')
  const home = homeOf(address)
  return personBehind(address, home) === personBehind(peer, home)
})
