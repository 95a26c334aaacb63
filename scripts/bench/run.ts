// Measures every figure that the README states, each against a yardstick of the same run, and prints one
// table, and a line for each floor that says if it holds. Arguments choose figures: `bun scripts/bench/run.ts
// sends pages`. `--beside PATH` measures an older executable in turns with this one, and prints pairs.

import { parseArgs } from 'node:util'

import { replaceExecutable } from '../../test/support/executable.ts'
import { backups } from './backups.ts'
import { boxes } from './boxes.ts'
import { commits } from './commits.ts'
import { moveToLoadCore } from './cores.ts'
import { deliveries } from './deliveries.ts'
import { fake } from './fake.ts'
import { bound, holds, median, type Figure } from './figure.ts'
import { files } from './files.ts'
import { latency } from './latency.ts'
import { macReading } from './mac-reading.ts'
import { mac } from './mac.ts'
import { memory } from './memory.ts'
import { page } from './page.ts'
import { pages } from './pages.ts'
import { returns } from './returns.ts'
import { search } from './search.ts'
import { sends } from './sends.ts'
import { start } from './start.ts'
import { streams } from './streams.ts'

const BENCHES = {
  sends,
  deliveries,
  page,
  pages,
  latency,
  returns,
  start,
  memory,
  streams,
  files,
  mac,
  macReading,
  search,
  boxes,
  commits,
  backups,
  fake,
}

/** Rounds of a pair. */
const PAIRS = 3

type Bench = () => Promise<readonly Figure[]>

const { values: options, positionals: wanted } = parseArgs({
  options: { beside: { type: 'string' } },
  allowPositionals: true,
})
const chosen: readonly (readonly [name: string, bench: Bench])[] = Object.entries(BENCHES).filter(
  ([name]) => wanted.length === 0 || wanted.includes(name),
)

moveToLoadCore()
if (options.beside === undefined) await printTable()
else await printPairs(options.beside)
// The browser of `page` would keep this process running.
process.exit()

async function printTable(): Promise<void> {
  const figures: Figure[] = []
  console.log('| | what | measured | yardstick | value | floor | holds |')
  console.log('|---|---|---|---|---|---|---|')
  for (const [, bench] of chosen) {
    for (const figure of await bench()) {
      figures.push(figure)
      console.log(rowOf(figure))
    }
  }
  console.log('')
  for (const figure of figures) console.log(verdictOf(figure))
  process.exitCode = figures.every(holds) ? 0 : 1
}

function rowOf(figure: Figure): string {
  const { id, what, measured, yardstick, value } = figure
  const verdict = holds(figure) ? 'yes' : '**no**'
  return `| ${id} | ${what} | ${measured} | ${yardstick} | ${value.toFixed(2)} | ${bound(figure)} | ${verdict} |`
}

function verdictOf(figure: Figure): string {
  const { id, what, value } = figure
  const verdict = holds(figure) ? 'holds' : 'DOES NOT HOLD'
  return `${verdict}: (${id}) ${what}: ${value.toFixed(2)}, ${bound(figure)}`
}

/** Each figure beside that of an older executable, in turns, because a machine's speed changes by the minute. */
async function printPairs(older: string): Promise<void> {
  console.log('| | what | older, in each round | this | middle: this ÷ older |')
  console.log('|---|---|---|---|---|')
  for (const [name, bench] of chosen) {
    try {
      const rounds: { readonly theirs: readonly Figure[]; readonly ours: readonly Figure[] }[] = []
      for (let round = 0; round < PAIRS; round += 1)
        rounds.push({
          theirs: await measuredWith(older, bench),
          ours: await measuredWith(null, bench),
        })
      for (const row of pairsOf(rounds)) console.log(row)
    } catch (error) {
      // An older version can't open a database that a bench filled with the tables of this one.
      console.log(`| | ${name} | not measured: ${String(error).replaceAll(/\s+/g, ' ')} | | |`)
    }
  }
}

async function measuredWith(executable: string | null, bench: Bench): Promise<readonly Figure[]> {
  replaceExecutable(executable)
  try {
    return await bench()
  } finally {
    replaceExecutable(null)
  }
}

function pairsOf(
  rounds: readonly { readonly theirs: readonly Figure[]; readonly ours: readonly Figure[] }[],
): readonly string[] {
  return (rounds[0]?.ours ?? []).map(({ id, what }, i) => {
    const theirs = rounds.map((round) => round.theirs[i])
    const ours = rounds.map((round) => round.ours[i])
    const values = (all: readonly (Figure | undefined)[]) =>
      all.map((one) => one?.value ?? Number.NaN)
    const ratio = median(values(ours)) / median(values(theirs))
    const text = (all: readonly (Figure | undefined)[]) =>
      all.map((one) => `${one?.measured} (${one?.value.toFixed(2)})`).join('; ')
    return `| ${id} | ${what} | ${text(theirs)} | ${text(ours)} | ${ratio.toFixed(2)} |`
  })
}
