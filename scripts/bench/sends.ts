// (a) and (b): sends over two simulated lines, durable and answered `sent`, against a bare server that
// parses the same JSON, and against a loop that commits each of a message's three steps alone. Each is
// measured in turns, one after the other, so that a machine that is slower for a while is so for
// all of them.

import { join } from 'node:path'

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atLeast, median, rate, type Figure } from './figure.ts'
import { load } from './load.ts'
import { sendRequest, startBenchRelay, type BenchRelay } from './relay.ts'

const CONNECTIONS = 64
const WARM_UP_MS = 3_000
const ROUNDS = 3
const OURS_MS = 5_000
const BARE_MS = 2_000
const COMMITS_SECONDS = 2

/** Per second, in one round. */
type Round = { readonly ours: number; readonly bare: number; readonly commits: number }

export async function sends(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  await using bare = await startBareServer()
  const ours = sender(bench)
  const theirs = (durationMs: number) =>
    load({ url: bare.url, connections: CONNECTIONS, durationMs, request: requestOf(bench) })
  await ours.send(WARM_UP_MS)
  await theirs(BARE_MS)

  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      ours: await ours.send(OURS_MS),
      bare: (await theirs(BARE_MS)).perSecond,
      commits: await measureBareCommits(join(dir.path, `yardstick-${round}.db`)),
    })
  }
  return figuresOf(rounds, ours.answers())
}

function figuresOf(rounds: readonly Round[], answers: string): readonly Figure[] {
  const isAllSent = answers === 'all sent'
  const middle = (of: (round: Round) => number) => median(rounds.map(of))
  const measured = `${rate(middle((round) => round.ours))}, ${answers}`
  return [
    atLeast({
      id: 'a',
      what: 'sends answered `sent`, 64 connections, against a bare server',
      measured,
      yardstick: rate(middle((round) => round.bare)),
      value: isAllSent ? middle((round) => round.ours / round.bare) : 0,
      floor: 0.06,
    }),
    atLeast({
      id: 'b',
      what: 'the same, against three single commits for each message',
      measured,
      yardstick: rate(middle((round) => round.commits)),
      value: isAllSent ? middle((round) => round.ours / round.commits) : 0,
      floor: 2,
    }),
  ]
}

/** Sends on and on: the numbers go on over all turns, so that no idempotency key comes twice. */
function sender(bench: BenchRelay) {
  const statuses: Record<string, number> = {}
  const request = requestOf(bench)
  return {
    async send(durationMs: number): Promise<number> {
      const { url } = bench.relay
      const result = await load({ url, connections: CONNECTIONS, durationMs, request })
      for (const [status, count] of Object.entries(result.statuses)) {
        statuses[status] = (statuses[status] ?? 0) + count
      }
      return result.perSecond
    },
    answers: () => (Object.keys(statuses).join() === '200' ? 'all sent' : JSON.stringify(statuses)),
  }
}

function requestOf(bench: BenchRelay): () => string {
  let count = 0
  return () => {
    count += 1
    return sendRequest(bench, count)
  }
}

async function startBareServer() {
  const script = join(import.meta.dir, 'bare-server.ts')
  const child = Bun.spawn([...UNDER, process.execPath, script], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

async function measureBareCommits(file: string): Promise<number> {
  const script = join(import.meta.dir, 'bare-commits.ts')
  const child = Bun.spawn([...UNDER, process.execPath, script, file, String(COMMITS_SECONDS)], {
    stdout: 'pipe',
  })
  return Number(await new Response(child.stdout).text())
}
