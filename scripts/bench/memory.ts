// (g): resident memory when idle, under load, and what a further million requests add to it: nine in
// ten read, one sends.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, type Figure } from './figure.ts'
import { httpRequest, load } from './load.ts'
import { residentMb, sendRequest, startBenchRelay, type BenchRelay } from './relay.ts'

const CONNECTIONS = 64
const FIRST_REQUESTS = 250_000
const FURTHER_REQUESTS = 1_000_000
const SEND_EVERY = 10
const REST_MS = 15_000

export async function memory(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const bench = await startBenchRelay(dir.path)
  await using relay = bench.relay
  await Bun.sleep(REST_MS)
  const idle = await residentMb(relay.pid)
  const run = mixedLoad(bench)
  const afterFirst = await memoryAfter(bench, () => run(FIRST_REQUESTS))
  const afterAll = await memoryAfter(bench, () => run(FURTHER_REQUESTS))
  return [
    figure('resident memory, idle', idle, 100),
    figure('resident memory, after 1,250,000 requests', afterAll, 200),
    figure('growth over the last 1,000,000 of them', afterAll - afterFirst, 5),
  ]
}

function figure(what: string, value: number, floor: number): Figure {
  return atMost({ id: 'g', what, measured: `${value.toFixed(0)} MB`, yardstick: '', value, floor })
}

async function memoryAfter(bench: BenchRelay, work: () => Promise<void>): Promise<number> {
  await work()
  await Bun.sleep(REST_MS)
  return residentMb(bench.relay.pid)
}

/** The numbers go on over all runs, so that no idempotency key comes twice. */
function mixedLoad(bench: BenchRelay): (count: number) => Promise<void> {
  const headers = { 'X-API-Key': bench.key.key, 'X-API-Secret': bench.key.secret }
  const paths = ['/api/v1/messages?limit=1', '/api/v1/phone-lines', '/api/v1/conversations?limit=1']
  const reads = paths.map((path) => httpRequest('GET', path, headers))
  let total = 0
  const request = () => {
    total += 1
    if (total % SEND_EVERY === 0) return sendRequest(bench, total)
    return reads[total % reads.length] ?? ''
  }
  return async (count) => {
    const { statuses } = await load({
      url: bench.relay.url,
      connections: CONNECTIONS,
      count,
      request,
    })
    if (Object.keys(statuses).join() !== '200') throw new Error(JSON.stringify(statuses))
  }
}
