// Files of contacts with broken entries of every kind, brought into the built executable while it sends:
// each good entry comes in, each bad one is reported, and sends go on between them.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { ImportReport } from '../../src/api/contacts.ts'
import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'

/** Good entries of each file, which come in in batches of 100. */
const ENTRIES = 1_500
const BROKEN_EVERY = 10
/** Long ones stand at the beginning only, because a file may have 10 MiB. */
const LONG_UNTIL = 140

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
  test(`the good entries of ${name} come in, the bad ones are reported, and sends go on between them`, async () => {
    using dir = temporaryDataDir()
    const key = await createKey(dir.path)
    await using relay = await RelayProcess.start({
      dataDir: dir.path,
      environment: { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' },
    })
    const api = new ApiClient(() => relay.url, key)
    await eventually('a line is online', async () => ((await send(api)) === 200 ? true : null))

    const uploaded = upload(relay.url, key, bytes)
    const statuses = await sendsUntil(api, uploaded)
    const { status, report } = await uploaded
    const file = join(dir.path, name)
    writeFileSync(file, bytes)
    const again = await hookline(['contacts', 'import', file, '--json', '--data-dir', dir.path])
    await relay.end()

    expect([status, report.failed]).toEqual([200, bad])
    expect(report.imported + report.updated + report.skipped).toBe(good)
    expect(report.errors).toHaveLength(Math.min(bad, 1_000))
    expect(report.errors.every(({ why }) => why.length < 150)).toBe(true)
    expect([again.exitCode, again.stderr]).toEqual([1, ''])
    expect(JSON.parse(again.stdout)).toMatchObject({ imported: 0, failed: bad })
    expect(statuses.filter((one) => one !== 200)).toEqual([])
    expect(sentBetweenContacts(dir.path)).toBeGreaterThan(0)
  }, 180_000)
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

async function send(api: ApiClient): Promise<number> {
  const body = { to: '+12025550123', text: 'hello' }
  return (await api.request('POST', '/api/v1/messages/send', { body })).status
}

/** The statuses of sends, one after another, until the end. */
async function sendsUntil(api: ApiClient, end: Promise<unknown>): Promise<readonly number[]> {
  const statuses: number[] = []
  const over = new AbortController()
  const ended = end.finally(() => over.abort())
  while (!over.signal.aborted) statuses.push(await send(api))
  await ended
  return statuses
}

/** Messages that were accepted after the first contact of the file came in, and before the last one did. */
function sentBetweenContacts(dataDir: string): unknown {
  using database = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const sql = `SELECT count(*) FROM messages WHERE direction = 'outbound' AND created_at BETWEEN
    (SELECT min(created_at) FROM people) AND
    (SELECT max(created_at) FROM people)`
  return database.query(sql).values()[0]?.[0]
}
