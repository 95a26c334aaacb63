// (l): the longest read of a page of messages while `hookline backup` copies and checks a database of five million.

import { hookline } from '../../test/support/executable.ts'
import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, type Figure } from './figure.ts'
import { populate } from './population.ts'
import { startBenchRelay, withDatabase } from './relay.ts'

const MESSAGES = 5_000_000
const CONVERSATIONS = 9_999
const PROBE_MS = 5
const REST_MS = 5_000
const CEILING_MS = 50

export async function backups(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  withDatabase(dir.path, (sqlite) => populate(sqlite, MESSAGES, CONVERSATIONS))
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  const read = async () => {
    const startedAt = performance.now()
    await bench.api.ask('GET', '/api/v1/messages?limit=50')
    return performance.now() - startedAt
  }
  const quiet = await longest(read, Bun.sleep(REST_MS))
  const startedAt = performance.now()
  const value = await longest(read, hookline(['backup', '--data-dir', dir.path]))
  const seconds = (performance.now() - startedAt) / 1_000
  return [
    atMost({
      id: 'l',
      what: 'the longest read while five million messages are backed up, ms',
      measured: `${value.toFixed(1)} ms, in a backup of ${seconds.toFixed(0)} s`,
      yardstick: `${REST_MS / 1_000} s without a backup: ${quiet.toFixed(1)} ms`,
      value,
      floor: CEILING_MS,
    }),
  ]
}

/** The longest of the reads until `work` has ended. */
async function longest(read: () => Promise<number>, work: Promise<unknown>): Promise<number> {
  const over = new AbortController()
  const ended = work.finally(() => over.abort())
  let longestMs = 0
  while (!over.signal.aborted) {
    longestMs = Math.max(longestMs, await read())
    await Bun.sleep(PROBE_MS)
  }
  await ended
  return longestMs
}
