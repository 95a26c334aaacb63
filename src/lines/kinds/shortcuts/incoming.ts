// Posts of a shortcut: which message each is, whose, and whether it came before. iOS gives messages no id of their own,
// so the id of the shortcut counts together with what the message says.

import { type Handle, homeOfNumber, parseRecipient, personOf } from '../../../domain/handle.ts'
import type { LeftOut } from '../../../domain/not-relayed.ts'
import type { Clock } from '../../../system/clock.ts'
import { sha256 } from '../../../system/hash.ts'
import { dropOldest } from '../../../system/memoize.ts'
import type { PostedMessage } from '../../line-kind.ts'

export type Incoming = {
  /** The same for the same id, sender, text and file. */
  readonly guid: string
  /** The guid that an earlier version gave it, by the id alone. */
  readonly formerGuid: string
  readonly handle: Handle
  /** True if the sender is a name: that of a contact or of a company, which look the same. */
  readonly isName: boolean
  /** The reason to leave it out; null for a message to the line. */
  readonly leftOut: Extract<LeftOut, 'own' | 'group'> | null
  /** Sender, text, file and date; null without words and file, as two photos in a row may come. */
  readonly content: string | null
}

/** Marks of direction and spaces alone are no sender. */
const VISIBLE = /[^\p{Cf}\s]/u
const NAME = /[\p{L}\n]/u
/** Recipients that are looked at. */
const RECIPIENTS_MAX = 100

/** Reads what a shortcut has posted to the line with `number`; null if it names no sender. */
export async function readIncoming(
  { id, from, text, at, file = null, recipients = null }: PostedMessage,
  number: string,
): Promise<Incoming | null> {
  if (!VISIBLE.test(from)) return null
  const home = homeOfNumber(number)
  const handle = personOf(from, home)
  // A list of Shortcuts in a text has one item a line. A single one may be the owner, in whatever spelling.
  const listed = (recipients ?? '').split('\n', RECIPIENTS_MAX)
  const people = new Set(listed.map((one) => personOf(one.trim(), home)))
  const isGroup = [...people].filter((one) => one !== '' && one !== handle).length > 1
  const fileHash = file === null ? null : hex(new Uint8Array(await file.arrayBuffer()))
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
        : hex(JSON.stringify([handle, text, fileHash, at])),
  }
}

function guidOf(identity: string): string {
  return `shortcut-${hex(identity).slice(0, 32)}`
}

function hex(content: string | Uint8Array): string {
  return Buffer.from(sha256(content)).toString('hex')
}

type Arrival = { readonly guid: string; readonly at: number; readonly isStored: Promise<boolean> }

/**
 * Both runs of an automation that runs twice begin with its message, and post within moments. A person who means the
 * same words twice has to write and send them again.
 */
const TWICE_MS = 5_000
const ARRIVALS_MAX = 1_000

/** Messages that came within the last seconds, by their content. */
export class Arrivals {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #arrivals = new Map<string, Arrival>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** True if the message was stored under another id just now; null if none came. */
  earlier({ content, guid }: Incoming): Promise<boolean> | null {
    const arrival = this.#recent(content)
    return arrival === null || arrival.guid === guid ? null : arrival.isStored
  }

  /** Notes the arrival of a message. Its time is that of its first try. */
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
