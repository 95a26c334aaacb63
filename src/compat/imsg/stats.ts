// `messages.stats`: counts the messages that a key can read by chat, sender, service and day. The relay stores no such
// sums, so this reads each message, as imsg does.

import type { Message } from '../../api/messages.ts'
import { dayName, dayOf, timeZoneNamed } from '../../domain/days.ts'
import { chatOf, entriesOf, type Chat } from '../chats.ts'
import { timeIn } from '../numbers.ts'
import { chatWithNumber } from './chats.ts'
import { invalidParams } from './errors.ts'
import { flagParam, textParam, type Params } from './params.ts'
import type { Reading } from './reads.ts'
import { shownTime } from './views.ts'

/** Statuses of own messages that were certainly sent: imsg counts no others. */
const LEFT: readonly string[] = ['sent', 'delivered', 'read']

/** Counts things by key, and sums their bytes. */
class Tally<Facts extends object> {
  readonly #rows = new Map<string | number, { facts: Facts; count: number; bytes: number }>()

  add(key: string | number, facts: Facts, bytes = 0): void {
    const row = this.#rows.get(key) ?? { facts, count: 0, bytes: 0 }
    this.#rows.set(key, { facts, count: row.count + 1, bytes: row.bytes + bytes })
  }

  /** Rows with the highest count first. */
  rows() {
    return [...this.#rows.values()].sort((a, b) => b.count - a.count || b.bytes - a.bytes)
  }

  messages() {
    return this.rows().map(({ facts, count }) => ({ ...facts, message_count: count }))
  }

  files() {
    return this.rows().map(({ facts, count, bytes }) => {
      return { ...facts, attachment_count: count, total_bytes: bytes }
    })
  }
}

/** Reads the whole history of a chat, or of all that the key can read. */
export async function stats({ relay }: Reading, params: Params): Promise<object> {
  const zone = zoneIn(params)
  const chats = await chatsIn(relay, params)
  const [only] = isOfOneChat(params) ? chats.keys() : []
  const sums = new Sums(zone)
  const media = flagParam(params, 'include_media') ? new Media() : null
  const choice = { type: 'all', conversation_id: only } as const
  const messages = entriesOf((page) => relay.ask('listMessages', { query: { ...choice, ...page } }))
  for await (const message of messages) {
    const chat = chats.get(message.conversation_id)
    const isOwn = message.direction === 'outbound'
    if (chat === undefined || (isOwn && !LEFT.includes(message.status))) continue
    sums.add(message, chat)
    media?.add(message, chat)
  }
  return { ...sums.result(), ...(media !== null && { media: media.result() }) }
}

type KnownChat = Chat & { readonly service: string }

/** The chats to count, by conversation id. */
async function chatsIn(relay: Reading['relay'], params: Params) {
  const chats = new Map<string, KnownChat>()
  const all = (page: object) => relay.ask('listConversations', { query: { type: 'all', ...page } })
  const found = isOfOneChat(params) ? [await chatWithNumber(relay, params)] : entriesOf(all)
  for await (const each of found) chats.set(each.id, { ...chatOf(each), service: each.service })
  return chats
}

function isOfOneChat(params: Params): boolean {
  return params['chat_id'] !== undefined
}

/** The time zone of the days; that of this machine if none is named, as in imsg. */
function zoneIn(params: Params): string {
  const text = textParam(params, 'time_zone')
  if (text === undefined) return Intl.DateTimeFormat().resolvedOptions().timeZone
  const zone = timeZoneNamed(text)
  if (zone === null) throw invalidParams('time_zone must be a name such as Europe/Vienna')
  return zone
}

class Sums {
  readonly #zone: string
  #sent = 0
  #received = 0
  readonly #chats = new Tally<object>()
  readonly #senders = new Tally<{ handle: string }>()
  readonly #services = new Tally<{ service: string }>()
  readonly #dates = new Tally<{ date: string }>()

  constructor(zone: string) {
    this.#zone = zone
  }

  add(message: Message, { number, identifier, name, service }: KnownChat): void {
    const handle = message.sender?.handle ?? message.handle
    const carrier = message.service ?? 'unknown'
    const date = dayName(dayOf(timeIn(shownTime(message)), this.#zone))
    if (message.direction === 'outbound') this.#sent += 1
    else {
      this.#received += 1
      this.#senders.add(handle, { handle })
    }
    this.#chats.add(number, { chat_id: number, identifier, name, service })
    this.#services.add(carrier, { service: carrier })
    this.#dates.add(date, { date })
  }

  result() {
    const dates = this.#dates.messages().sort((a, b) => a.date.localeCompare(b.date))
    return {
      total_messages: this.#sent + this.#received,
      sent_messages: this.#sent,
      received_messages: this.#received,
      time_zone: this.#zone,
      chats: this.#chats.messages(),
      senders: this.#senders.messages(),
      services: this.#services.messages(),
      dates,
    }
  }
}

/** Counts files; a file counts once, even if several messages carried it. */
class Media {
  readonly #seen = new Set<string>()
  #bytes = 0
  readonly #types = new Tally<object>()
  readonly #chats = new Tally<object>()

  add({ attachments = [] }: Message, { number, identifier, name }: Chat): void {
    for (const { id, mime_type: type, size } of attachments) {
      if (this.#seen.has(id)) continue
      this.#seen.add(id)
      this.#bytes += size ?? 0
      this.#types.add(type, { uti: 'unknown', mime_type: type }, size ?? 0)
      this.#chats.add(number, { chat_id: number, identifier, name }, size ?? 0)
    }
  }

  result() {
    return {
      total_attachments: this.#seen.size,
      total_bytes: this.#bytes,
      types: this.#types.files(),
      chats: this.#chats.files(),
    }
  }
}
