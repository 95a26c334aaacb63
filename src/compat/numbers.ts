// The integer ids of imsg. In imsg they are row ids of Apple's database; here they are computed from stored values: the
// time when the relay recorded a message, and the two sides of a chat. So a restore doesn't change them.

import type { Conversation, Message } from '../api/messages.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { sha256 } from '../system/hash.ts'
import { parseIsoTime } from '../system/iso-time.ts'

/** 2020-01-01. With 12 bits for messages of one millisecond, numbers stay safe integers until 2089. */
const EPOCH_MS = 1_577_836_800_000
const PER_MS = 4_096

export function timeIn(text: string): Timestamp {
  return parseIsoTime(text) ?? timestamp(0)
}

/** Increases with the time when the relay recorded the message, so a client can continue after its last one. */
export function messageNumber({ id, created_at: at }: Pick<Message, 'id' | 'created_at'>): number {
  const [high = 0, low = 0] = sha256(id)
  return (timeIn(at) - EPOCH_MS) * PER_MS + (((high << 8) | low) % PER_MS)
}

/** The time at which the message with this number was recorded. */
export function timeOfNumber(number: number): Timestamp {
  return timestamp(Math.floor(number / PER_MS) + EPOCH_MS)
}

type Sides = Pick<Conversation, 'phone_number' | 'chat_identifier'>

/** 53 bits of a hash: among a million chats, two have the same number once in eighteen thousand relays. */
export function chatNumber({ phone_number: number, chat_identifier: other }: Sides): number {
  const view = new DataView(sha256(`${number}\0${other}`).buffer)
  return Number(view.getBigUint64(0) >> 11n)
}
