// Posts of a shortcut: which message each post is, its sender, and whether it was posted before. iOS gives messages
// no id, so the shortcut's id counts together with the message's content.

import { type Handle, homeOfNumber, parseRecipient, personOf } from '../../../domain/handle.ts'
import type { LeftOut } from '../../../domain/not-relayed.ts'
import type { Clock } from '../../../system/clock.ts'
import { sha256 } from '../../../system/hash.ts'
import { dropOldest } from '../../../system/memoize.ts'
import type { PostedMessage } from '../../line-kind.ts'

export type Incoming = {
  /** The same if id, sender, text and file are the same. */
  readonly guid: string
  /** The guid that an earlier version gave it, from the id alone. */
  readonly formerGuid: string
  readonly handle: Handle
  /** True if the sender is a name, of a contact or of a company: they look the same. */
  readonly isName: boolean
  /** Reason to leave it out; null for a message to the line. */
  readonly leftOut: Extract<LeftOut, 'own' | 'group'> | null
  /** Sender, text, file and date; null without words and a file, because two photos in a row may look the same. */
  readonly content: string | null
}

/** Direction marks and spaces alone don't make a sender. */
const VISIBLE = /[^\p{Cf}\s]/u
const NAME = /[\p{L}\n]/u
const RECIPIENTS_MAX = 100

/** Returns null if the post names no sender. */
export async function readIncoming(
  { id, from, text, at, file = null, recipients = null }: PostedMessage,
  number: string,
): Promise<Incoming | null> {
  if (!VISIBLE.test(from)) return null
  const home = homeOfNumber(number)
  const handle = personOf(from, home)
  // Shortcuts writes a list into a text with one item per line. A single recipient may be the owner, in any spelling.
  const listed = (recipients ?? '').split('\n', RECIPIENTS_MAX)
  const people = new Set(listed.map((one) => personOf(one.trim(), home)))
  const isGroup = [...people].filter((one) => one !== '' && one !== handle).length > 1
  const fileHash = file === null ? null : sha256(new Uint8Array(await file.arrayBuffer())).toHex()
  const ownReason = handle === number ? 'own' : null
  return {
    guid: guidOf(JSON.stringify([id, from, text, fileHash])),
    formerGuid: guidOf(id),
    handle,
    isName: parseRecipient(handle) === null && NAME.test(handle),
    leftOut: isGroup ? 'group' : ownReason,
    content:
      text.trim() === '' && file === null
        ? null
        : sha256(JSON.stringify([handle, text, fileHash, at])).toHex(),
  }
}

function guidOf(identity: string): string {
  return `shortcut-${sha256(identity).toHex().slice(0, 32)}`
}

type Arrival = { readonly guid: string; readonly at: number; readonly isStored: Promise<boolean> }

/**
 * An automation that runs twice posts the same message twice within moments. A person who repeats a text
 * has to write and send it again.
 */
const TWICE_MS = 5_000
const ARRIVALS_MAX = 1_000

/** The messages of the last seconds, by their content. */
export class Arrivals {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #arrivals = new Map<string, Arrival>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Resolves with whether this message was just stored under another id; null if it is the first. */
  earlier({ content, guid }: Incoming): Promise<boolean> | null {
    const arrival = this.#recent(content)
    return arrival === null || arrival.guid === guid ? null : arrival.isStored
  }

  /** Remembers a message with the time of its first try. */
  note({ content, guid }: Incoming, isStored: Promise<boolean>): void {
    if (content === null) return
    const known = this.#recent(content)
    const at = known?.guid === guid ? known.at : this.#clock.monotonic()
    this.#arrivals.delete(content)
    this.#arrivals.set(content, { guid, at, isStored })
    dropOldest(this.#arrivals, ARRIVALS_MAX)
  }

  #recent(content: string | null): Arrival | null {
    const arrival = content === null ? undefined : this.#arrivals.get(content)
    if (arrival === undefined) return null
    return this.#clock.monotonic() - arrival.at < TWICE_MS ? arrival : null
  }
}
