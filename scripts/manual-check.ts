// Does what the manual says: starts a relay with practice lines for each guide, runs its blocks of sh, TypeScript,
// Python and JSON, and compares the answers with those shown (fields, kinds, fixed values; ids, times and ports
// vary). Prints a line for each block: run, compared, skipped with its reason, or what is wrong. Names of guides as
// arguments take those alone. It takes a minute or two, and the built executable (`bun run build`).

import { readFileSync } from 'node:fs'

import { GUIDES } from '../src/guides/guides.ts'
import { ROOT } from '../test/support/source-files.ts'
import { blocksOf } from './manual/blocks.ts'
import { checkGuide, type Outcome } from './manual/runner.ts'

const README = { name: 'README', text: readFileSync(`${ROOT}/README.md`, 'utf8') }

const wanted = process.argv.slice(2)
const outcomes: Outcome[] = []
for (const { name, text } of [...GUIDES, README]) {
  const blocks = blocksOf(name, text)
  if (blocks.length === 0 || (wanted.length > 0 && !wanted.includes(name))) continue
  for (const outcome of await checkGuide(text, blocks)) {
    const { block, what, note } = outcome
    outcomes.push(outcome)
    console.log(
      `${what.padEnd(8)} ${block.guide}:${block.line} ${block.language}${note && ` – ${note}`}`,
    )
  }
}
const count = (what: Outcome['what']) => outcomes.filter((one) => one.what === what).length
console.log(
  `${outcomes.length} blocks: ${count('run')} run, ${count('compared')} compared, ${count('skipped')} skipped; ` +
    `${count('wrong')} wrong`,
)
if (count('wrong') > 0) process.exitCode = 1
