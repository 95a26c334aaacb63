// What was really said on the phone, and which of it the relay reported.

import { personOf } from '../../../src/domain/handle.ts'
import { comparable } from '../../../src/lines/kinds/iphone/screens/labels.ts'
import type { PhoneBubble } from '../../support/iphone/messages-phone.ts'
import type { Json } from '../../support/test-relay.ts'
import type { HistoryChat } from './history.ts'

/** Something that a person wrote, or the owner on another device. */
export type Said = {
  readonly chat: HistoryChat
  readonly bubble: PhoneBubble
  /** The text as it was at any time. */
  readonly versions: string[]
  /** False for what nobody who looks at the screen can know: it was unsent, or is another version of a message. */
  isKnowable: boolean
  /** True if the chat was under a name then, which hides its number. */
  isNamed: boolean
  /** The relay's message of it; null if it has none. */
  told: { readonly service: string } | null
}

/** A message that a program gave to the relay. */
export type Send = { readonly id: string; readonly key: string; readonly text: string }

const LINE_HOME = { defaultCountry: 'US' } as const

export class Ledger {
  readonly said: Said[] = []
  readonly sends: Send[] = []
  readonly namedKeys = new Set<string>()

  note(chat: HistoryChat, bubble: PhoneBubble): void {
    const isNamed = this.namedKeys.has(chat.key)
    const versions = [bubble.text]
    const flags = { isKnowable: true, isNamed }
    this.said.push({ chat, bubble, versions, ...flags, told: null })
  }

  /** An edit looks like another message in the place of the first: it may be reported in addition. */
  noteEdit(said: Said): void {
    said.versions.push(said.bubble.text)
    this.said.push({ ...said, versions: [said.bubble.text], isKnowable: false })
  }

  /** From now on a chat shows a name in the place of its number, for what was not read yet, too. */
  noteName(key: string): void {
    this.namedKeys.add(key)
    for (const one of this.said) one.isNamed ||= one.chat.key === key
  }

  of(bubble: PhoneBubble | undefined): Said | undefined {
    return this.said.find((one) => one.bubble === bubble)
  }

  /** Gives each message that the relay has to what was said; returns what is wrong with it. */
  match(messages: readonly Json[]): readonly string[] {
    for (const one of this.said) one.told = null
    const fitting = messages
      .filter(({ direction, source }) => direction === 'inbound' || source === 'device')
      .map((message) => ({ message, all: this.said.filter((one) => fits(one, message)) }))
    // What can be only one is given away first.
    const ordered = fitting.toSorted((a, b) => a.all.length - b.all.length)
    return ordered.flatMap(({ message, all }) => {
      const free = all.filter(({ told }) => told === null)
      const found = free.find(({ isKnowable }) => isKnowable) ?? free[0]
      if (found === undefined) return [this.#wrong(message, all.length > 0)]
      found.told = message
      return []
    })
  }

  get untold(): readonly Said[] {
    return this.said.filter(
      ({ chat, isKnowable, told }) => chat.senders === null && isKnowable && told === null,
    )
  }

  #wrong({ direction, handle, text }: Json, isKnown: boolean): string {
    const who = direction === 'inbound' ? `from ${handle}` : `typed to ${handle}`
    const what = `${JSON.stringify(text)} ${who}`
    if (isKnown) return `told twice: ${what}`
    const elsewhere = this.said.find(({ versions }) => versions.some((one) => isSame(one, text)))
    const where = elsewhere === undefined ? 'nobody' : `only ${elsewhere.chat.key}`
    return `told wrongly: ${what}, which ${where} wrote`
  }
}

function fits({ chat, bubble, versions }: Said, message: Json): boolean {
  if (chat.senders !== null || bubble.isFromMe !== (message.direction === 'outbound')) return false
  if (personOf(message.handle, LINE_HOME) !== personOf(chat.key, LINE_HOME)) return false
  // A tapback may have come before the first look, and cannot be distinguished from words then.
  const marked = bubble.tapback === null ? [] : versions.map((one) => `${one}, ${bubble.tapback}`)
  return [...versions, ...marked].some((one) => isSame(one, message.text))
}

function isSame(one: string, other: string): boolean {
  return comparable(one) === comparable(other)
}
