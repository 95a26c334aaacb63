// The connection between a head and its boxes: requests with answers, over a network that may drop, double, delay and
// reorder them. Every request of the protocol can be repeated.

import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'

export type ClockRandomLog = { readonly clock: Clock; readonly random: Random; readonly log: Log }

export type Link = {
  /**
   * Resolves with the answer; rejects with a LinkError if none came in `timeoutMs`, or if `subject` has no listener.
   * The request may have arrived all the same.
   */
  ask(subject: string, request: string, timeoutMs: number): Promise<string>
  /**
   * Answers requests concurrently: a later one may overtake an earlier one. A part of `subject` may be `*`.
   * No answer is sent if `answer` resolves with null. Returns a function that stops serving.
   */
  serve(
    subject: string,
    answer: (request: string, subject: string) => Promise<string | null>,
  ): () => void
  /** True if requests or answers of the box, or of its head, arrive but are refused; absent if the link checks none. */
  refuses?(box: string): boolean
  /** Ends the link; open requests reject. */
  close(): Promise<void>
}

/** Longest request or answer, in bytes of UTF-8: NATS's default. */
export const PAYLOAD_BYTES_MAX = 1_048_576

/** No answer: the other side is away, does not listen, or took too long. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
}

/**
 * The subjects of the protocol's first version. The broker lets a box publish only below its own name, and hear only
 * what is sent to it.
 */
export const SUBJECTS = {
  /** From a box, every two seconds, without an epoch: the answer brings it. */
  hello: (box: string) => `hl.1.hello.${box}`,
  /** From a box to the head of this epoch, so that two heads never hear the same request. */
  up: (epoch: string, box: string) => `hl.1.up.${epoch}.${box}`,
  /** From the head to one process of a box, by its boot id. */
  to: (box: string, boot: string) => `hl.1.to.${box}.${boot}`,
  /** From a machine that joins, by the id of its invitation. */
  join: (invitation: string) => `hl.1.join.${invitation}`,
} as const
