// Runs everything that a change must pass: the build, and then the tests beside the other checks. Its last
// line is `N passed, M failed`. With arguments it runs the tests that they name, and no checks.

import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'

import { spawn, spawnSync } from 'bun'

import { findChromium } from '../test/browser/chromium.ts'
import { bringMypy } from '../test/support/mypy.ts'
import { readReport, type Report } from './test-report.ts'

type Count = { readonly passed: number; readonly failed: number }
/** `failed` has the file of each test that failed. */
type TestRun = { readonly count: Count; readonly failed: readonly string[] }

/** Many stories walk through days; on a machine that does other things too they take their time. */
const TEST_MS_MAX = 120_000
const TEST = ['bun', 'test', '--only-failures', `--timeout=${TEST_MS_MAX}`]
/** Two for each processor, for many tests wait for something outside. */
const WORKERS = 2 * availableParallelism()
const REPORT = '.tools/tests.xml'
/** How long each file took here, and, for the first run of a checkout, on the machine that wrote it. */
const TIMINGS = '.tools/test-timings.json'
const FIRST_TIMINGS = 'test/timings.json'
const SLOWEST_SHOWN = 10
/** More files than these don't fail because a machine was busy. */
const AGAIN_FILES_MAX = 5
const INSTALL_TIMEOUT_MS = 300_000

/** They need no build, and run one after another beside the tests. */
const CHECKS = ['types', 'lint', 'format', 'unused']

/** Programs that verify our stand-ins for usbmuxd and iPhones, with their Debian packages. */
const PEERS = ['idevice_id', 'ideviceinfo', 'iproxy', 'usbmuxd']
const PEER_PACKAGES = ['libimobiledevice-utils', 'libusbmuxd-tools', 'usbmuxd']

const paths = process.argv.slice(2)
/** What the hostile requests and the kills draw by chance follows from it; property tests print their own seed. */
const SEED = process.env['HOOKLINE_TEST_SEED'] ?? '1'

bringPrograms()
const counts = paths.length > 0 ? [await runTests(paths)] : await runEverything()
const passed = sumOf(counts, ({ passed: count }) => count)
const failed = sumOf(counts, ({ failed: count }) => count)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

/** Tests of the executable need the build, so it comes first. */
async function runEverything(): Promise<readonly Count[]> {
  const build = await runCheck('build', 'build')
  if (build.failed > 0) return [build]
  const [tests, checks] = await Promise.all([runAllTests(), runChecks()])
  return [build, await runFailedAgain(tests), ...checks]
}

/**
 * Runs the files whose tests failed once more, with nothing beside them. On a busy machine a test can fail that waits
 * for a browser or a process; the output names each file that passed only alone, because its test should wait better.
 */
async function runFailedAgain({ count, failed }: TestRun): Promise<Count> {
  const files = [...new Set(failed)]
  // An error outside a test isn't in the report, and it stays one.
  const isInReport = failed.length === count.failed
  if (files.length === 0 || files.length > AGAIN_FILES_MAX || !isInReport) return count
  console.log(`\n== once more, alone: ${files.join(', ')}`)
  const again = await runTests(files)
  if (again.failed > 0) return count
  console.log(`\nFailed beside other tests, passed alone: ${files.join(', ')}`)
  return { passed: count.passed + count.failed, failed: 0 }
}

/** Files run side by side, the slowest first; within a worker a module is loaded once for all its files. */
async function runAllTests(): Promise<TestRun> {
  rmSync(REPORT, { force: true })
  if (!existsSync(TIMINGS)) copyFileSync(FIRST_TIMINGS, TIMINGS)
  const count = await runTests([
    `--parallel=${WORKERS}`,
    '--no-isolate',
    `--timings=${TIMINGS}`,
    '--update-timings',
    '--reporter=junit',
    `--reporter-outfile=${REPORT}`,
  ])
  if (!existsSync(REPORT)) return { count, failed: [] }
  const report = readReport(await Bun.file(REPORT).text())
  show(report)
  return { count, failed: report.failed }
}

async function runChecks(): Promise<readonly Count[]> {
  const counts: Count[] = []
  for (const name of CHECKS) counts.push(await runCheck(name, `check:${name}`))
  return counts
}

/** Runs a script of package.json, and shows what it wrote when it is done. */
async function runCheck(name: string, script: string): Promise<Count> {
  const child = spawn(['bun', 'run', '--silent', script], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  console.log(`\n== ${name}: ${exitCode === 0 ? 'passed' : 'failed'}\n${output}${errors}`.trimEnd())
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/** Runs `bun test`, shows its output as it comes, and counts; a crash of it is one failed test. */
async function runTests(more: readonly string[]): Promise<Count> {
  console.log(`\n== tests (HOOKLINE_TEST_SEED=${SEED})`)
  const child = spawn([...TEST, ...more], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    passOn(child.stdout, process.stdout),
    passOn(child.stderr, process.stderr),
  ])
  const isGood = (await child.exited) === 0
  const count = countOf(`${output}\n${errors}`)
  if (count === null) return { passed: 0, failed: 1 }
  return isGood || count.failed > 0 ? count : { ...count, failed: 1 }
}

function show({ files, skipped }: Report): void {
  console.log('\nSlowest files:')
  for (const { path, seconds } of files.slice(0, SLOWEST_SHOWN)) {
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${path}`)
  }
  if (skipped.length > 0)
    console.log(`\nSkipped:\n${skipped.map((each) => `  ${each}`).join('\n')}`)
}

/** Installs programs that tests need if this is the root of a Debian; without them these tests are skipped. */
function bringPrograms(): void {
  const isWanted = (part: string) =>
    paths.length === 0 || paths.some((path) => path.includes(part) || part.includes(path))
  for (const name of ['chromium-headless-shell', 'chromium']) {
    if (isWanted('browser') && findChromium() === null) install([name])
  }
  const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`
  const isMissing = PEERS.some((name) => Bun.which(name, { PATH }) === null)
  if (isWanted('iphone') && isMissing) install(PEER_PACKAGES)
  if (isWanted('clients')) bringMypy()
}

function install(packages: readonly string[]): void {
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) return
  console.log(`\n== installing ${packages.join(', ')}`)
  const quick = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20']
  for (const step of [['update'], ['install', '--yes', '--no-install-recommends', ...packages]]) {
    const command = ['apt-get', '--quiet', '--quiet', ...quick, ...step]
    spawnSync(command, { timeout: INSTALL_TIMEOUT_MS })
  }
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

function sumOf<T>(list: readonly T[], of: (each: T) => number): number {
  return list.reduce((sum, each) => sum + of(each), 0)
}
