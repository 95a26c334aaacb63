// The support of the page's parts in tests: a clock that the test moves, updates that the test emits,
// and an API whose answers the test gives.

import { signal } from '@preact/signals'

import type { Page } from '../../src/api/schema.ts'
import type { AnyCall, Answer, Api, Failure, OperationId } from '../../src/dashboard/api.ts'
import type { Clock } from '../../src/dashboard/clock.ts'
import type { Update, Updates } from '../../src/dashboard/live.ts'
import { TestClock } from '../support/test-clock.ts'

export function pageClock(clock = new TestClock()): Clock {
  return {
    time: () => clock.now(),
    now: signal(clock.now()),
    sleep: (ms, end) => clock.sleep(ms, end),
  }
}

/** Updates from the test. */
export class FakeUpdates implements Updates {
  readonly #listeners = new Set<(update: Update) => void>()

  subscribe(listener: (update: Update) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(update: Update): void {
    for (const listener of this.#listeners) listener(update)
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

/** The calls of an API, each answered as the test says. */
export function fakeApi(
  answer: (id: OperationId, call: AnyCall) => Answer<unknown>,
): Pick<Api, 'call'> {
  return { call: async (id, ...[call = {}]) => answer(id, call) as never } // As the operation would.
}

export function listOf<T>(data: readonly T[], nextCursor?: string | null): Page<T> {
  const next = nextCursor ?? null
  return { data, has_more: next !== null, next_cursor: next }
}
