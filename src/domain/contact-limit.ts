// The daily limit of new contacts. A contact is new if the line has no history with it. One new contact takes one
// place of the day, however many messages it gets: `reserved` while its messages wait, `spent` on the day when one
// of them passed its point of no return. A reserved place counts on every day until it is spent or given back, so
// an accepted message keeps its place over midnight.

import type { Day } from './days.ts'

/** A line's history with one handle. */
export type DailyContact = {
  /** The time since which the line has history with the handle; null if it has none. */
  readonly knownAt: number | null
  /** The number of waiting messages to it that hold a place. */
  readonly queued: number
  /** The number of messages to it that hold a place, passed their point of no return, and aren't proven unsent. */
  readonly passed: number
  /** The day when the first of the `passed` messages passed. */
  readonly spentDay: Day | null
}

export const NO_CONTACT: DailyContact = { knownAt: null, queued: 0, passed: 0, spentDay: null }

/**
 * A message's place in its line's daily limit: `none` if the contact is known, and `undecided` if the line was
 * offline when the message was accepted.
 */
export const CONTACT_HOLDS = ['none', 'undecided', 'reserved', 'spent'] as const
export type ContactHold = (typeof CONTACT_HOLDS)[number]

export type ContactStep = 'reserve' | 'release' | 'spend' | 'return' | 'requeue'

export function stepContact(contact: DailyContact, step: ContactStep, today: Day): DailyContact {
  switch (step) {
    case 'reserve':
      return { ...contact, queued: contact.queued + 1 }
    case 'release':
      return { ...contact, queued: Math.max(0, contact.queued - 1) }
    case 'spend':
      return {
        ...contact,
        queued: Math.max(0, contact.queued - 1),
        passed: contact.passed + 1,
        spentDay: contact.spentDay ?? today,
      }
    case 'return':
    case 'requeue': {
      const passed = Math.max(0, contact.passed - 1)
      const spentDay = passed === 0 && contact.knownAt === null ? null : contact.spentDay
      const queued = step === 'requeue' ? contact.queued + 1 : contact.queued
      return { ...contact, queued, passed, spentDay }
    }
  }
}

/** Joins a person's two contacts of a line, one for each spelling. */
export function joinedContact(one: DailyContact, other: DailyContact): DailyContact {
  return {
    knownAt: earlier(one.knownAt, other.knownAt),
    queued: one.queued + other.queued,
    passed: one.passed + other.passed,
    spentDay: earlier(one.spentDay, other.spentDay),
  }
}

function earlier<T extends number>(one: T | null, other: T | null): T | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

export function placeOf(contact: DailyContact): 'none' | 'reserved' | Day {
  if (contact.spentDay !== null) return contact.spentDay
  return contact.queued > 0 && contact.knownAt === null ? 'reserved' : 'none'
}

/** The used part of a line's daily limit: `near` from 80 % on. */
export type LimitLevel = 'room' | 'near' | 'reached'

const NEAR_FROM = 0.8
const NEAR_UNTIL = 0.7

/**
 * The level of a line whose level was `before` at the same limit. A failed message gives its place back and the
 * next one takes it again, so a level ends only well below where it begins: `reached` when two places are free,
 * `near` when less than 70 % is used. A limit of 0 is the owner's decision, not a shortage.
 */
export function limitLevel(
  { used, limit }: { readonly used: number; readonly limit: number },
  before: LimitLevel,
): LimitLevel {
  if (limit === 0) return 'room'
  const isBarelyBelow = used > 0 && used === limit - 1
  if (used >= limit || (before === 'reached' && isBarelyBelow)) return 'reached'
  return used >= limit * (before === 'room' ? NEAR_FROM : NEAR_UNTIL) ? 'near' : 'room'
}
