// Files of contacts with broken entries of every kind, brought into the built executable while it sends:
// each good entry comes in, each bad one is reported, and no send waits for them.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { ImportReport } from '../../src/api/contacts.ts'
import { hookline } from '../support/executable.ts'
import {
  ApiClient,
  createKey,
  eventually,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'

/** Good entries of each file; 100,000 take some minutes. */
const ENTRIES = Number(process.env['HOOKLINE_IMPORT_ENTRIES'] ?? '10000')
const BROKEN_EVERY = 10
/** Long ones stand at the beginning only, because a file may have 10 MiB. */
const LONG_UNTIL = 140
const SENDS_EVERY_MS = 25
const SEND_MS_MAX = 1_000
const MEMORY_MB_MAX = 400

/** Text of an entry, and its problems. */
type Broken = readonly [text: string, problems: number]

const ROWS: readonly Broken[] = [
  ['"Never closed,12', 1],
  ['Nobody,', 1],
  [',+12025550147', 1],
  ['"a"b"c,"""', 1],
  ['Short,4.91701E+11', 1],
  ['Nul\0,12\0', 1],
  ['\uFEFFMark,\u202E12', 1],
  [`Digits,${'9'.repeat(1_000_000)}`, 1],
  [`${'x'.repeat(20_000)},12`, 1],
  [`${'a@'.repeat(20_000)},12`, 1],
  [`Cells${','.repeat(50_000)}`, 1],
  [`"${'quoted ""'.repeat(5_000)}",12`, 1],
  ['', 0],
  [',,,,,', 0],
]

const CARDS: readonly Broken[] = [
  ['BEGIN:VCARD\nFN:No number\nEND:VCARD', 1],
  ['BEGIN:VCARD\nTEL:+12025550147\nEND:VCARD', 1],
  ['BEGIN:VCARD\nFN:Cut off\nTEL:12', 1],
  ['END:VCARD\nEND:VCARD\nTEL:12', 0],
  ['BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE:=ZZ=\n=\nTEL:12\nEND:VCARD', 1],
  [`${'BEGIN:VCARD\n'.repeat(10_000)}FN:Nested\nTEL:12\n${'END:VCARD\n'.repeat(10_000)}`, 1],
  [`BEGIN:VCARD\nFN:Folded\nTEL:12\nPHOTO:A${'\n A'.repeat(100_000)}\nEND:VCARD`, 1],
  [`BEGIN:VCARD\nFN:Long${'x'.repeat(1_000_000)}\nTEL:12\nEND:VCARD`, 1],
]

type Entries = { readonly text: string; readonly good: number; readonly bad: number }

/** Good entries, every tenth with the number of the one before, and broken ones between them. */
function entries(
  good: (name: string, number: string) => string,
  broken: readonly Broken[],
): Entries {
  const texts: string[] = []
  let bad = 0
  for (let place = 0; place < ENTRIES; place += 1) {
    const number = `+1202${2_000_000 + place - (place % 10 === 9 ? 1 : 0)}`
    texts.push(good(`Person ${place}`, number))
    const [text, problems] = broken[(place / BROKEN_EVERY) % broken.length] ?? ['', 0]
    if (place % BROKEN_EVERY !== 0 || (text.length > 500 && place > LONG_UNTIL)) continue
    texts.push(text)
    bad += problems
  }
  return { text: texts.join('\n'), good: ENTRIES, bad }
}

const table = entries((name, number) => `"${name}, ""jr""",${number}\r`, ROWS)
const cards = entries((name, number) => `BEGIN:VCARD\nFN:${name}\nTEL:${number}\nEND:VCARD`, CARDS)
const short = ROWS.filter(([text, problems]) => text === '' || (problems > 0 && text.length < 500))
const wide = entries((name, number) => `${name}\t${number}`, short)
const NO_UTF8 = Buffer.from('\nJ\xF6rg,12\n\xFF\xFE,12', 'latin1')

const FILES = {
  'people.csv': {
    ...table,
    bad: table.bad + 2,
    bytes: Buffer.concat([Buffer.from(`Name,Phone\n${table.text}`), NO_UTF8]),
  },
  'wide.csv': { ...wide, bytes: Buffer.from(`\uFEFFName\tPhone\n${wide.text}`, 'utf16le') },
  'people.vcf': { ...cards, bytes: Buffer.from(`\uFEFF${cards.text}`) },
}

for (const [name, { bytes, good, bad }] of Object.entries(FILES)) {
  test(`the good entries of ${name} come in, the bad ones are reported, and sends go on`, async () => {
    using dir = temporaryDataDir()
    const key = await createKey(dir.path)
    await using relay = await RelayProcess.start({
      dataDir: dir.path,
      environment: { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' },
    })
    const api = new ApiClient(() => relay.url, key)
    await eventually('a line is online', async () => ((await sendMs(api)) === null ? null : true))

    const start = performance.now()
    const uploaded = upload(relay.url, key, bytes)
    const times = await sendsUntil(api, uploaded)
    const { status, report } = await uploaded
    const seconds = ((performance.now() - start) / 1_000).toFixed(1)
    const file = join(dir.path, name)
    writeFileSync(file, bytes)
    const again = await hookline(['contacts', 'import', file, '--json', '--data-dir', dir.path])
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
    const peak = peakMb(relay.pid)
    process.stdout.write(
      `${name}: ${bytes.length} bytes in ${seconds} s, sends p99 ${p99.toFixed(0)} ms of ${times.length}, peak ${peak} MB\n`,
    )

    expect([status, report.failed]).toEqual([200, bad])
    expect(report.imported + report.updated + report.skipped).toBe(good)
    expect(report.errors).toHaveLength(Math.min(bad, 1_000))
    expect(report.errors.every(({ why }) => why.length < 150)).toBe(true)
    expect([again.exitCode, again.stderr]).toEqual([1, ''])
    expect(JSON.parse(again.stdout)).toMatchObject({ imported: 0, failed: bad })
    expect(Math.max(...times)).toBeLessThan(SEND_MS_MAX)
    expect(peak).toBeLessThan(MEMORY_MB_MAX)
  }, 300_000)
}

async function upload(url: string, { key, secret }: ApiKey, bytes: Buffer<ArrayBuffer>) {
  const headers = { 'X-API-Key': key, 'X-API-Secret': secret }
  const answer = await fetch(`${url}/api/v1/contacts/import`, {
    method: 'POST',
    headers,
    body: bytes,
  })
  return { status: answer.status, report: (await answer.json()) as ImportReport }
}

/** Milliseconds of one send; null where no line takes it. */
async function sendMs(api: ApiClient): Promise<number | null> {
  const start = performance.now()
  const body = { to: '+12025550123', text: 'hello' }
  const { status } = await api.request('POST', '/api/v1/messages/send', { body })
  return status === 200 ? performance.now() - start : null
}

async function sendsUntil(api: ApiClient, end: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  const ended = end.then(() => true)
  do times.push((await sendMs(api)) ?? Infinity)
  while (!(await Promise.race([ended, Bun.sleep(SENDS_EVERY_MS)])))
  return times
}

/** Largest resident memory so far; 0 where the system does not say it. */
function peakMb(pid: number): number {
  if (process.platform !== 'linux') return 0
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(peak) / 1_024)
}
