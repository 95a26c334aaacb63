// (k): the longest of many commits in a row, within which SQLite empties the log; against the same with a log that is
// never emptied, which is what the disk takes for a commit.

import { join } from 'node:path'

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atMost, type Figure } from './figure.ts'

const SECONDS = 20
const CEILING_MS = 15

type Times = { readonly longest: number; readonly middle: number }

export async function commits(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const never = await measure(join(dir.path, 'never.db'), 'never')
  const { longest, middle } = await measure(join(dir.path, 'relay.db'), 'relay')
  return [
    atMost({
      id: 'k',
      what: 'the longest of many commits of 20 messages, ms',
      measured: `${longest.toFixed(1)} ms, the middle one ${middle.toFixed(1)} ms`,
      yardstick: `log never emptied: ${never.longest.toFixed(1)} ms, ${never.middle.toFixed(1)} ms`,
      value: longest,
      floor: CEILING_MS,
    }),
  ]
}

async function measure(path: string, mode: 'relay' | 'never'): Promise<Times> {
  const script = join(import.meta.dir, 'bare-commit-times.ts')
  const command = [...UNDER, process.execPath, script, path, String(SECONDS), mode]
  const child = Bun.spawn(command, { stdout: 'pipe' })
  return JSON.parse(await new Response(child.stdout).text()) as Times // What the script prints.
}
