// (k): a file of 100 MB up and down, against a bare server that streams the same with SHA-256, and the
// resident memory that it takes.

import { join } from 'node:path'

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atLeast, atMost, median, type Figure } from './figure.ts'
import { residentMb, startBenchRelay } from './relay.ts'

const BYTES = 100 * 1_024 * 1_024
const ROUNDS = 5
const SAMPLE_MS = 20
const REST_MS = 15_000

/** Megabytes in a second. */
type Speeds = { readonly up: number; readonly down: number }

export async function files(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const bench = await startBenchRelay(dir.path)
  await using relay = bench.relay
  const credentials = { 'X-API-Key': bench.key.key, 'X-API-Secret': bench.key.secret }
  await using bare = await startBareServer(join(dir.path, 'bare'))
  await Bun.sleep(REST_MS)
  const idle = await residentMb(relay.pid)

  const ours: Speeds[] = []
  const theirs: Speeds[] = []
  const peak = await peakWhile(relay.pid, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = await newFile(join(dir.path, `upload-${round}`))
      ours.push(await measured(`${relay.url}/api/v1/attachments`, path, credentials))
      theirs.push(await measured(bare.url, path, {}))
    }
  })
  return [
    figureOf('up', ours, theirs),
    figureOf('down', ours, theirs),
    atMost({
      id: 'k',
      what: 'resident memory above idle, at most, with files of 100 MB up and down',
      measured: `${peak.toFixed(0)} MB`,
      yardstick: `${idle.toFixed(0)} MB`,
      value: peak - idle,
      floor: 20,
    }),
  ]
}

function figureOf(way: keyof Speeds, ours: readonly Speeds[], theirs: readonly Speeds[]): Figure {
  const of = (speeds: readonly Speeds[]) => median(speeds.map((speed) => speed[way]))
  return atLeast({
    id: 'k',
    what: `a file of 100 MB ${way}, against a bare server with SHA-256`,
    measured: `${of(ours).toFixed(0)} MB/s`,
    yardstick: `${of(theirs).toFixed(0)} MB/s`,
    value: of(ours) / of(theirs),
    floor: 0.5,
  })
}

/** A file that was never seen before: the same bytes would be stored once. */
async function newFile(path: string): Promise<string> {
  const bytes = new Uint8Array(BYTES)
  for (let from = 0; from < BYTES; from += 65_536)
    crypto.getRandomValues(bytes.subarray(from, from + 65_536))
  await Bun.write(path, bytes)
  return path
}

async function measured(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Speeds> {
  const startedAt = performance.now()
  const answer = await fetch(url, { method: 'POST', headers, body: Bun.file(path) })
  const body = (await answer.json()) as { readonly url?: string } // The relay's own, or the yardstick's.
  const between = performance.now()
  const content = await fetch(new URL(body.url ?? '/', url), { headers })
  let length = 0
  for await (const chunk of content.body ?? []) length += chunk.length
  if (length !== BYTES) throw new Error(`${url} gave ${length} bytes back`)
  const end = performance.now()
  const speed = (ms: number) => BYTES / 1_024 / 1_024 / (ms / 1_000)
  return { up: speed(between - startedAt), down: speed(end - between) }
}

async function peakWhile(pid: number, work: () => Promise<void>): Promise<number> {
  let peak = 0
  const sampling = setInterval(() => {
    void residentMb(pid).then((mb) => (peak = Math.max(peak, mb)))
  }, SAMPLE_MS)
  await work()
  clearInterval(sampling)
  return peak
}

async function startBareServer(path: string) {
  const script = join(import.meta.dir, 'bare-files.ts')
  const child = Bun.spawn([...UNDER, process.execPath, script, path], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}
