// A program that stands in for one of others: a small script that records how it was called, and does
// what the test says.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the program was called once. */
export type ToolCall = {
  readonly pid: number
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** What a shell sets by itself. */
const OF_SHELL: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])
const FIELD_END = '\x1F'
const CALL_END = '\x1E'

export class FakeTool {
  /** The executable. */
  readonly path: string
  /** Where its script keeps what it remembers: `$here` in the script. */
  readonly folder: string

  /** `script` runs in sh after the call was recorded. */
  constructor(folder: string, name: string, script: string) {
    this.path = join(folder, name)
    this.folder = join(folder, `${name}.d`)
    mkdirSync(this.folder, { recursive: true })
    writeFileSync(this.path, `#!/bin/sh\nhere='${this.folder}'\n${RECORD}\n${script}\n`)
    chmodSync(this.path, 0o755)
  }

  /** In the order in which they began. */
  calls(): readonly ToolCall[] {
    const file = join(this.folder, 'calls')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return text
      .split(`${CALL_END}${FIELD_END}`)
      .slice(0, -1)
      .map((record) => {
        const [pid = '', ...args] = record.split(FIELD_END).slice(0, -1)
        return { pid: Number(pid), args, environment: this.#environmentOf(pid) }
      })
  }

  /** The arguments of all calls. */
  argsOfCalls(): readonly (readonly string[])[] {
    return this.calls().map(({ args }) => args)
  }

  /** Those of its processes that still run. */
  alive(): readonly number[] {
    return this.calls().flatMap(({ pid }) => (isAlive(pid) ? [pid] : []))
  }

  /** Makes a file that the script looks for. */
  put(name: string, content = ''): void {
    writeFileSync(join(this.folder, name), content)
  }

  #environmentOf(pid: string): Readonly<Record<string, string>> {
    const lines = readFileSync(join(this.folder, `env.${pid}`), 'utf8')
      .trimEnd()
      .split('\n')
    const pairs = lines.map((line) => [line.split('=')[0] ?? '', line.replace(/^[^=]*=/, '')])
    return Object.fromEntries(pairs.filter(([name = '']) => !OF_SHELL.has(name)))
  }
}

/** One write, so that calls that begin together do not mix. */
const RECORD = `env > "$here/env.$$"
printf '%s\\037' "$$" "$@" "$(printf '\\036')" >> "$here/calls"`

/** Whether a process runs; one that has ended and that nobody has waited for does not. */
export function isAlive(pid: number): boolean {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
  const state = stdout.toString().trim()
  return state !== '' && !state.startsWith('Z')
}
