// (i): resident memory of a hundred idle streams of events, from the same relay without them.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, type Figure } from './figure.ts'
import { residentMb, startBenchRelay } from './relay.ts'

const STREAMS = 100
const REST_MS = 10_000

export async function streams(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const { relay, key } = await startBenchRelay(dir.path)
  await using _relay = relay
  await Bun.sleep(REST_MS)
  const before = await residentMb(relay.pid)
  const end = new AbortController()
  const headers = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  const open = async () => {
    const response = await fetch(`${relay.url}/api/v1/events/stream`, {
      headers,
      signal: end.signal,
    })
    await response.body?.getReader().read()
  }
  await Promise.all(Array.from({ length: STREAMS }, open))
  const more = await fetch(`${relay.url}/api/v1/events/stream`, { headers })
  if (more.status !== 429) throw new Error(`The streams are not open: ${more.status}.`)
  await Bun.sleep(REST_MS)
  const value = (await residentMb(relay.pid)) - before
  end.abort()
  const measured = `${value.toFixed(1)} MB`
  const what = `resident memory of ${STREAMS} idle streams of events`
  return [atMost({ id: 'i', what, measured, yardstick: '', value, floor: 30 })]
}
