// Messages that belong together: bubbles of one sender, close to each other in time.

import type { Message } from '../api/messages.ts'

/** A message's place in its run. */
export type Place = {
  readonly isFirst: boolean
  readonly isLast: boolean
  /** True if its time and state are shown: the next message of the run doesn't say the same. */
  readonly hasAbout: boolean
}

const CLOSE_MS = 5 * 60_000
/** Own messages with any other status stand alone, outside of a run. */
const SETTLED: readonly string[] = ['sent', 'delivered', 'read']

/** The place of each message, oldest first. */
export function placesOf(
  messages: readonly Message[],
  dayOf: (message: Message) => string,
): readonly Place[] {
  const isJoined = (before: Message | undefined, after: Message | undefined) =>
    before !== undefined &&
    after !== undefined &&
    isOneRun(before, after) &&
    dayOf(before) === dayOf(after)
  return messages.map((message, index) => {
    const next = messages[index + 1]
    const isLast = !isJoined(message, next)
    return {
      isFirst: !isJoined(messages[index - 1], message),
      isLast,
      hasAbout: isLast || message.status !== next?.status,
    }
  })
}

function isOneRun(before: Message, after: Message): boolean {
  return (
    authorOf(before) === authorOf(after) &&
    [before, after].every(isPlain) &&
    Date.parse(after.created_at) - Date.parse(before.created_at) < CLOSE_MS
  )
}

function authorOf({ direction, sender, source, sent_by, service }: Message): string {
  return JSON.stringify([direction, sender?.handle, source, sent_by?.id, service])
}

function isPlain({ direction, status, edits }: Message): boolean {
  return edits === undefined && (direction === 'inbound' || SETTLED.includes(status))
}
