// The way between a head and its boxes: requests with answers, over a network that may drop, double, delay
// and reorder each of them. Every request can be repeated: the protocol on top counts on nothing more.

import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'

export type ClockRandomLog = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export type Link = {
  /**
   * Resolves with the answer; rejects with a LinkError where none came within `timeoutMs`, or where
   * nobody listens. The request may have arrived all the same.
   */
  ask(subject: string, request: string, timeoutMs: number): Promise<string>
  /**
   * Answers requests, each as its own work: a later one may overtake it. A part of `subject` may be `*`.
   * Null gives no answer at all. Returns a function that stops it.
   */
  serve(
    subject: string,
    answer: (request: string, subject: string) => Promise<string | null>,
  ): () => void
  /** True if the box, or its head, is not silent, but what it says is refused; left out if nothing is. */
  refuses?(box: string): boolean
  /** Ends it; open requests reject. */
  close(): Promise<void>
}

/** Longest request or answer, in bytes of UTF-8: the default of NATS. */
export const PAYLOAD_BYTES_MAX = 1_048_576

/** No answer: the other side is away, does not listen, or took too long. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
}

/**
 * The subjects of the protocol's first version. The broker holds each box to its own: a box publishes
 * only below its own name, and hears only what is sent to it.
 */
export const SUBJECTS = {
  /** From a box, every two seconds: it needs no epoch, for its answer brings it. */
  hello: (box: string) => `hl.1.hello.${box}`,
  /** From a box to the head of this epoch; two heads never hear the same request. */
  up: (epoch: string, box: string) => `hl.1.up.${epoch}.${box}`,
  /** From the head to one process of a box: the boot id ends with it. */
  to: (box: string, boot: string) => `hl.1.to.${box}.${boot}`,
  /** From a machine that enrols, by the id of its invitation. */
  join: (invitation: string) => `hl.1.join.${invitation}`,
} as const
