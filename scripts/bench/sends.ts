// (a) and (b): sends over two simulated lines, durable and answered `sent`, against a bare server that
// parses the same JSON, and against a loop that commits each of a message's three steps alone.

import { join } from 'node:path'

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atLeast, rate, type Figure } from './figure.ts'
import { load, type LoadResult } from './load.ts'
import { sendRequest, startBenchRelay, type BenchRelay } from './relay.ts'

const CONNECTIONS = 64
const WARM_UP_MS = 3_000
const MEASURED_MS = 10_000
const COMMITS_SECONDS = 5

export async function sends(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const bench = await startBenchRelay(dir.path)
  await using relay = bench.relay
  const ours = await measureSends(bench, relay.url)
  const isAllSent = Object.keys(ours.statuses).join() === '200'
  const answers = isAllSent ? 'all sent' : JSON.stringify(ours.statuses)
  const bare = await measureBareServer(bench)
  const commits = await measureBareCommits(dir.path)
  const measured = `${rate(ours.perSecond)}, ${answers}`
  return [
    atLeast({
      id: 'a',
      what: 'sends answered `sent`, 64 connections, against a bare server',
      measured,
      yardstick: rate(bare.perSecond),
      value: isAllSent ? ours.perSecond / bare.perSecond : 0,
      floor: 0.08,
    }),
    atLeast({
      id: 'b',
      what: 'the same, against three single commits for each message',
      measured,
      yardstick: rate(commits),
      value: isAllSent ? ours.perSecond / commits : 0,
      floor: 2,
    }),
  ]
}

/** The numbers go on over both runs, so that no idempotency key comes twice. */
async function measureSends(bench: BenchRelay, url: string): Promise<LoadResult> {
  let count = 0
  const request = () => {
    count += 1
    return sendRequest(bench, count)
  }
  await load({ url, connections: CONNECTIONS, durationMs: WARM_UP_MS, request })
  return load({ url, connections: CONNECTIONS, durationMs: MEASURED_MS, request })
}

async function measureBareServer(bench: BenchRelay): Promise<LoadResult> {
  const script = join(import.meta.dir, 'bare-server.ts')
  const child = Bun.spawn([...UNDER, process.execPath, script], { stdout: 'pipe' })
  try {
    const { value } = await child.stdout.getReader().read()
    const url = new TextDecoder().decode(value).trim()
    const request = (number: number) => sendRequest(bench, number)
    await load({ url, connections: CONNECTIONS, durationMs: WARM_UP_MS, request })
    return await load({ url, connections: CONNECTIONS, durationMs: MEASURED_MS / 2, request })
  } finally {
    child.kill()
  }
}

async function measureBareCommits(folder: string): Promise<number> {
  const script = join(import.meta.dir, 'bare-commits.ts')
  const file = join(folder, 'yardstick.db')
  const child = Bun.spawn([...UNDER, process.execPath, script, file, String(COMMITS_SECONDS)], {
    stdout: 'pipe',
  })
  return Number(await new Response(child.stdout).text())
}
