import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'

import type { ScratchFolder } from '../../scratch-folder.ts'

const TOOL = `${import.meta.dir}/scenario-tool`

/** A real executable in place of one of macOS's tools: it acts by a scenario and remembers its calls. */
export class StandIn {
  readonly path: string

  constructor(folder: ScratchFolder, name: string) {
    this.path = folder.file(name)
    symlinkSync(TOOL, this.path)
  }

  /** What it does from now on: shell, with the arguments as `$1` and so on. */
  plays(scenario: string): void {
    writeFileSync(`${this.path}.scenario`, scenario)
  }

  /** The arguments of each call. */
  calls(): readonly (readonly string[])[] {
    const path = `${this.path}.calls`
    const words = existsSync(path) ? readFileSync(path, 'utf8').split('\0').slice(0, -1) : []
    const calls: (readonly string[])[] = []
    for (let at = 0; at < words.length; at += Number(words[at]) + 1) {
      calls.push(words.slice(at + 1, at + 1 + Number(words[at])))
    }
    return calls
  }

  /** What the last call read on standard input. */
  input(): string {
    return readFileSync(`${this.path}.input`, 'utf8')
  }
}
