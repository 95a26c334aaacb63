// Measures every figure that the README tells, each against a yardstick of the same run, and prints one
// table. Arguments choose figures: `bun scripts/bench/run.ts sends pages`.

import { boxes } from './boxes.ts'
import { moveToLoadCore } from './cores.ts'
import { deliveries } from './deliveries.ts'
import { holds, type Figure } from './figure.ts'
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
}

const wanted = process.argv.slice(2)
const chosen = Object.entries(BENCHES).filter(
  ([name]) => wanted.length === 0 || wanted.includes(name),
)

moveToLoadCore()
console.log('| | what | measured | yardstick | value | floor | holds |')
console.log('|---|---|---|---|---|---|---|')
let isGood = true
for (const [, bench] of chosen) {
  for (const figure of await bench()) {
    isGood &&= holds(figure)
    console.log(rowOf(figure))
  }
}
process.exitCode = isGood ? 0 : 1

function rowOf(figure: Figure): string {
  const { id, what, measured, yardstick, value, floor, isCeiling } = figure
  const bound = `${isCeiling ? 'at most' : 'at least'} ${floor}`
  const verdict = holds(figure) ? 'yes' : '**no**'
  return `| ${id} | ${what} | ${measured} | ${yardstick} | ${value.toFixed(2)} | ${bound} | ${verdict} |`
}
