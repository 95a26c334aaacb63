// Runs the checks, the build and the tests one after another, and adds up what passed and failed. Its
// last line is `N passed, N failed`. With arguments it runs the tests that they name, and no checks.

import { spawn } from 'bun'

type Part = { readonly name: string; readonly command: readonly string[] }
type Count = { readonly passed: number; readonly failed: number }

const TEST = ['bun', 'test', '--only-failures']
/** Tests that take minutes come last, each alone: they want the machine for themselves. */
const HEAVY = ['test/fuzz/', 'test/executable/']

const CHECKS: readonly Part[] = [
  { name: 'types', command: ['bun', 'run', '--silent', 'check:types'] },
  { name: 'lint', command: ['bun', 'run', '--silent', 'check:lint'] },
  { name: 'format', command: ['bun', 'run', '--silent', 'check:format'] },
  { name: 'unused code', command: ['bun', 'run', '--silent', 'check:unused'] },
  { name: 'build', command: ['bun', 'run', '--silent', 'build'] },
]

const paths = process.argv.slice(2)
const parts = paths.length > 0 ? [{ name: 'tests', command: [...TEST, ...paths] }] : allParts()

let passed = 0
let failed = 0
for (const part of parts) {
  const count = await run(part)
  passed += count.passed
  failed += count.failed
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

function allParts(): readonly Part[] {
  const ignored = HEAVY.map((folder) => `--path-ignore-patterns=${folder}**`)
  return [
    ...CHECKS,
    { name: 'tests', command: [...TEST, ...ignored] },
    ...HEAVY.map((folder) => ({ name: folder, command: [...TEST, folder] })),
  ]
}

/** A check counts as one; a run of tests counts its tests, and a crash of it as one failed. */
async function run(part: Part): Promise<Count> {
  console.log(`\n== ${part.name}`)
  const child = spawn([...part.command], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    passOn(child.stdout, process.stdout),
    passOn(child.stderr, process.stderr),
  ])
  const isGood = (await child.exited) === 0
  const count = countOf(`${output}\n${errors}`)
  if (count === null) return isGood ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
  return isGood || count.failed > 0 ? count : { ...count, failed: 1 }
}

/** Shows a child's output as it comes, and gives the whole of it. */
async function passOn(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of from) {
    to.write(chunk)
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

/** The closing lines of `bun test`: ` 17 pass` and ` 0 fail`, and `1 error` for a file that threw. */
function countOf(output: string): Count | null {
  const of = (word: string) =>
    Number(new RegExp(`^\\s*(\\d+) ${word}s?$`, 'm').exec(output)?.[1] ?? 0)
  if (!/^Ran \d+ tests? across/m.test(output)) return null
  return { passed: of('pass'), failed: of('fail') + of('error') }
}
