// What the page's parts stand on in tests: a clock that the test moves, changes that the test tells,
// and an API whose answers the test gives.

import { signal } from '@preact/signals'

import type { List } from '../../src/dashboard/api.ts'
import type { Changes, Told } from '../../src/dashboard/changes.ts'
import type { Clock } from '../../src/dashboard/clock.ts'
import type { Answer, Failure } from '../../src/dashboard/request.ts'
import { TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000

export function pageClock(clock = new TestClock()): Clock {
  return {
    time: () => clock.now(),
    now: signal(clock.now()),
    sleep: (ms, end) => clock.sleep(ms, end),
    startOfDay: (time) => time - (time % DAY_MS),
  }
}

/** Changes as the test tells them. */
export class ToldChanges implements Changes {
  readonly #listeners = new Set<(told: Told) => void>()

  subscribe(listener: (told: Told) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(told: Told): void {
    for (const listener of this.#listeners) listener(told)
  }

  get listenerCount(): number {
    return this.#listeners.size
  }
}

export const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: 'The relay does not answer.',
  status: 0,
  details: {},
  retryAfterSeconds: null,
}

export function ok<T>(value: T): Answer<T> {
  return { ok: true, value }
}

export function listOf<T>(data: readonly T[], nextCursor?: string | null): List<T> {
  const next = nextCursor ?? null
  return { data, has_more: next !== null, next_cursor: next }
}
