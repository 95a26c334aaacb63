import { cpSync, linkSync, statSync } from 'node:fs'

import { ROOT } from './source-files.ts'

const EXECUTABLE = `${ROOT}/dist/hookline`

const SOURCES = '{src,migrations}/**/*'
const MORE_SOURCES = ['package.json', 'bun.lock', 'scripts/build.ts']

let isBuilt = false
let replacement: string | null = null

/** Puts another executable in the place of the built one, until it is called with null. */
export function replaceExecutable(path: string | null): void {
  replacement = path
}

/** The built executable, built again if a source is newer; checked once per run. */
export function builtExecutable(): string {
  if (replacement !== null) return replacement
  if (!isBuilt && isStale()) {
    const build = Bun.spawnSync([process.execPath, 'scripts/build.ts'], { cwd: ROOT })
    if (build.exitCode !== 0) throw new Error(`The build failed:\n${build.stderr.toString()}`)
  }
  isBuilt = true
  return EXECUTABLE
}

/**
 * Puts an executable at `path`: under a second name if one disk has both, for it has 135 MB. So nobody may
 * write into the file; who wants another in its place removes it first.
 */
export function placeExecutable(executable: string, path: string): void {
  try {
    linkSync(executable, path)
  } catch {
    cpSync(executable, path)
  }
}

export type CommandResult = {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs one command of the executable to its end, with no option but those given here. `under` is a command
 * that runs it, such as `ip netns exec`.
 */
export async function hookline(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): Promise<CommandResult> {
  const child = Bun.spawn([...under, builtExecutable(), ...args], {
    env: cleanEnvironment(environment),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

/** No option of the person who runs the tests reaches the relay, nor any data in that person's home. */
export function cleanEnvironment(more: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', ...more }
}

function isStale(): boolean {
  const builtAt = statSync(EXECUTABLE, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = [...new Bun.Glob(SOURCES).scanSync({ cwd: ROOT }), ...MORE_SOURCES]
  return sources.some((path) => statSync(`${ROOT}/${path}`).mtimeMs > builtAt)
}
