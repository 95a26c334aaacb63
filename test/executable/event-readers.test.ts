import { expect, test } from 'bun:test'

import { cutReaders } from './torture/readers.ts'

const CUTS = 10

test(`a reader that is cut ${CUTS} times under load, at times with the relay, sees every event once`, async () => {
  const { faults, events, kills } = await cutReaders(CUTS)

  expect(faults).toEqual([])
  expect(kills).toBe(2)
  expect(events).toBeGreaterThan(CUTS)
}, 120_000)
