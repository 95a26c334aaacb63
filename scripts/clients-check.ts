// Makes clients of the OpenAPI document with seven generators, compiles each, and lets each do the main
// jobs against a live relay that answers as a later version may. One line of outcome for each; names as
// arguments take those alone. The tools come from their registries into a folder of temporary files.

import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { createKey, RelayProcess, temporaryDataDir } from '../test/support/relay-process.ts'
import { generatorsWith, toolsIn, type Generator, type Step } from './clients/generators.ts'
import { startLaterRelay } from './clients/later-relay.ts'

const CACHE = join(tmpdir(), 'hookline-clients-check')
const PROGRAMS = join(import.meta.dir, 'clients/programs')
const STEP_MS_MAX = 600_000
const OUTPUT_LENGTH_MAX = 4_000

type Environment = Readonly<Record<string, string>>

/** Failed step with its output. */
class FailedStep extends Error {}

const tools = toolsIn(CACHE)
const missing = new Map<string, string>()
mkdirSync(tools.npm, { recursive: true })
await Bun.write(`${tools.npm}/package.json`, tools.manifest)
for (const [tool, steps] of Object.entries(tools.fetch)) await bring(tool, steps)

using dir = temporaryDataDir()
const key = await createKey(dir.path)
const simulated = { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_SIMULATED_DELAY_MS: '0' }
await using relay = await RelayProcess.start({ dataDir: dir.path, environment: simulated })
using later = await startLaterRelay(relay.url)
const document = await (await fetch(`${relay.url}/swagger/json`)).text()
const environment = {
  API_URL: later.url.origin,
  API_KEY: key.key,
  API_SECRET: key.secret,
}

const wanted = process.argv.slice(2)
for (const generator of generatorsWith(tools)) {
  const isWanted = wanted.length === 0 || wanted.some((name) => generator.name.includes(name))
  if (isWanted) await check(generator)
}

/** Fetches missing tools; a tool that cannot be fetched fails the clients that need it. */
async function bring(tool: string, steps: readonly Step[]): Promise<void> {
  try {
    for (const step of steps) await take(step, CACHE)
  } catch (error) {
    missing.set(tool, error instanceof Error ? error.message : String(error))
  }
}

async function check(generator: Generator): Promise<void> {
  const startedAt = performance.now()
  const problem = await problemWith(generator)
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
  const outcome = problem ?? 'generated, compiled, and works against a later relay'
  console.log(
    `${problem === null ? 'ok    ' : 'FAILED'} ${generator.name}: ${outcome} (${seconds} s)`,
  )
  if (problem !== null) process.exitCode = 1
}

/** Null if the client was made, compiled, and did its jobs. */
async function problemWith({ name, needs, program, ...steps }: Generator): Promise<string | null> {
  const absent = needs.filter((tool) => Bun.which(tool) === null)
  if (absent.length > 0) return `not on this machine: ${absent.join(', ')}`
  const unfetched = needs.find((tool) => missing.has(tool))
  if (unfetched !== undefined) return `its tools did not come: ${missing.get(unfetched) ?? ''}`
  const folder = join(CACHE, 'clients', name.replaceAll(/[^a-z]+/g, '-'))
  await layOut(folder, program)
  try {
    for (const step of [...steps.generate, ...steps.compile]) await take(step, folder)
    await take(steps.run, folder, environment)
    return null
  } catch (error) {
    if (error instanceof FailedStep) return error.message
    throw error
  }
}

async function layOut(folder: string, [file, to]: Generator['program']): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(dirname(join(folder, to)), { recursive: true })
  cpSync(join(PROGRAMS, file), join(folder, to))
  await Bun.write(join(folder, 'openapi.json'), document)
  // Else openapi-python-client asks for a formatter.
  await Bun.write(join(folder, 'config.json'), '{"post_hooks":[]}')
  const packages = join(tools.npm, 'node_modules')
  if (existsSync(packages)) symlinkSync(packages, join(folder, 'node_modules'))
}

async function take(step: Step, folder: string, more: Environment = {}): Promise<void> {
  const child = Bun.spawn([...step], {
    cwd: folder,
    env: { ...process.env, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: STEP_MS_MAX,
  })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (exitCode === 0) return
  const told = `${output}\n${errors}`.trim().slice(-OUTPUT_LENGTH_MAX)
  throw new FailedStep(`\`${step.join(' ')}\` ended with ${exitCode}:\n${told}`)
}
