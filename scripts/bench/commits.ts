// (k): the longest of many commits in a row, while the log of the database is emptied beside them; against the same
// with the log emptied by SQLite, within commits.

import { join } from 'node:path'

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atMost, type Figure } from './figure.ts'

const SECONDS = 20
const CEILING_MS = 15

type Times = { readonly longest: number; readonly middle: number }

export async function commits(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const sqlite = await measure(join(dir.path, 'sqlite.db'), 'sqlite')
  const { longest, middle } = await measure(join(dir.path, 'relay.db'), 'relay')
  return [
    atMost({
      id: 'k',
      what: 'the longest of many commits of 20 messages, ms',
      measured: `${longest.toFixed(1)} ms, the middle one ${middle.toFixed(1)} ms`,
      yardstick: `log emptied within commits: ${sqlite.longest.toFixed(1)} ms, ${sqlite.middle.toFixed(1)} ms`,
      value: longest,
      floor: CEILING_MS,
    }),
  ]
}

async function measure(path: string, mode: 'relay' | 'sqlite'): Promise<Times> {
  const script = join(import.meta.dir, 'bare-commit-times.ts')
  const command = [...UNDER, process.execPath, script, path, String(SECONDS), mode]
  const child = Bun.spawn(command, { stdout: 'pipe' })
  return JSON.parse(await new Response(child.stdout).text()) as Times // What the script prints.
}
