// Runs the checks, the build and the tests one after another, and adds up what passed and failed. Its
// last line is `N passed, N failed`. With arguments it runs the tests that they name, and no checks.

import { availableParallelism } from 'node:os'

import { spawn, spawnSync } from 'bun'

import { findChromium } from '../test/browser/chromium.ts'
import { bringMypy } from '../test/support/mypy.ts'
import { NATS_SERVER } from '../test/support/nats-server.ts'

type Part = { readonly name: string; readonly command: readonly string[] }
type Count = { readonly passed: number; readonly failed: number }

/** Many stories walk through days; on a machine that does other things too they take their time. */
const TEST_MS_MAX = 120_000
const TEST = ['bun', 'test', '--only-failures', `--timeout=${TEST_MS_MAX}`]
/**
 * Files of tests run side by side in two processes for each processor, for many of them wait for
 * something outside. Within a process modules are loaded once, for all its files.
 */
const SIDE_BY_SIDE = [`--parallel=${2 * availableParallelism()}`, '--no-isolate']
/** Tests that take minutes come last, in two processes: each has a browser or a relay with processes of its own. */
const HEAVY = [
  'test/browser/',
  'test/executable/boxes-kill.test.ts',
  'test/executable/kill.test.ts',
  'test/fuzz/',
]
const IN_TWO = ['--parallel=2', '--no-isolate']
/** The file that measures how long a page and the relay work: it wants the machine for itself. */
const MEASURED = 'test/browser/many-conversations.test.ts'
const INSTALL_TIMEOUT_MS = 300_000

const CHECKS: readonly Part[] = [
  { name: 'types', command: ['bun', 'run', '--silent', 'check:types'] },
  { name: 'lint', command: ['bun', 'run', '--silent', 'check:lint'] },
  { name: 'format', command: ['bun', 'run', '--silent', 'check:format'] },
  { name: 'unused code', command: ['bun', 'run', '--silent', 'check:unused'] },
  { name: 'build', command: ['bun', 'run', '--silent', 'build'] },
]

/** Programs that verify our stand-ins for usbmuxd and iPhones, with their Debian packages. */
const PEERS = ['idevice_id', 'ideviceinfo', 'iproxy', 'usbmuxd']
const PEER_PACKAGES = ['libimobiledevice-utils', 'libusbmuxd-tools', 'usbmuxd']

const paths = process.argv.slice(2)
const parts = paths.length > 0 ? [{ name: 'tests', command: [...TEST, ...paths] }] : allParts()

if (paths.length === 0 || paths.some((path) => path.includes('browser'))) bringBrowser()
if (paths.length === 0 || paths.some((path) => path.includes('iphone'))) bringPeers()
if (paths.length === 0 || paths.some((path) => path.includes('clients'))) bringMypy()
const wantsBoxes = paths.length === 0 || paths.some((path) => path.includes('boxes'))
if (wantsBoxes && NATS_SERVER === null) {
  console.log('\nnats-server 2.10.4 or later is missing: skipping tests of several boxes.')
}

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
  const ignored = HEAVY.map((path) => `--path-ignore-patterns=${path}**`)
  const unmeasured = `--path-ignore-patterns=${MEASURED}`
  return [
    ...CHECKS,
    { name: 'tests', command: [...TEST, ...SIDE_BY_SIDE, ...ignored] },
    { name: HEAVY.join(', '), command: [...TEST, ...IN_TWO, unmeasured, ...HEAVY] },
    { name: MEASURED, command: [...TEST, MEASURED] },
  ]
}

/** Installs the browser where that is possible; the tests that need it are skipped without it. */
function bringBrowser(): void {
  const isMissing = () => findChromium() === null
  if (isMissing()) install('chromium, for the tests of the dashboard', ['chromium-headless-shell'])
  if (!isMissing()) return
  console.log('\nChromium is missing: skipping the browser tests of the dashboard.')
}

/** Installs the programs that verify our stand-ins for iPhones; without them their tests are skipped. */
function bringPeers(): void {
  const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`
  const isMissing = () => PEERS.some((name) => Bun.which(name, { PATH }) === null)
  if (isMissing()) install('libimobiledevice, for the tests of iPhones', PEER_PACKAGES)
  if (!isMissing()) return
  console.log(`\nSome of ${PEER_PACKAGES.join(', ')} are missing: skipping tests of iPhones.`)
}

/** Does nothing where this is not the root of a Debian. */
function install(what: string, packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) return
  console.log(`\n== ${what}`)
  const quick = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20']
  for (const step of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const command = ['apt-get', '--quiet', '--quiet', ...quick, ...step]
    spawnSync(command, { timeout: INSTALL_TIMEOUT_MS })
  }
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
