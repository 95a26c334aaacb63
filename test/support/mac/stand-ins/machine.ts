import type { ProcessEnd, RunProcess, StartProcess } from '../../../../src/system/process.ts'

export const PATHS = {
  open: '/usr/bin/open',
  pgrep: '/usr/bin/pgrep',
  caffeinate: '/usr/bin/caffeinate',
}

/** The processes of a machine, as the tools show and end them. */
export class Machine {
  readonly calls: (readonly string[])[] = []
  readonly started: (readonly string[])[] = []
  readonly signals: string[] = []
  /** What a tool answers instead of doing its work. */
  readonly answers = new Map<string, ProcessEnd>()
  /** Those of `pids` that SIGTERM does not end. */
  readonly stubborn = new Set<number>()
  pids: readonly number[] = []
  hasCaffeinate = true
  isCaffeinateStubborn = false
  endCaffeinate = () => {}

  readonly run: RunProcess = async ({ path, args }, signal) => {
    if (signal.aborted) return { end: 'not_started', why: 'aborted' }
    this.calls.push([path, ...args])
    return this.answers.get(path) ?? this.#act(path, args)
  }

  readonly start: StartProcess = ({ path, args }) => {
    if (!this.hasCaffeinate) throw new Error('ENOENT')
    this.started.push([path, ...args])
    const ended = Promise.withResolvers<number | null>()
    this.endCaffeinate = () => ended.resolve(1)
    const kill = (name: string) => {
      this.signals.push(name)
      if (name === 'SIGKILL' || !this.isCaffeinateStubborn) ended.resolve(null)
    }
    return { pid: 5_000, ended: ended.promise, kill }
  }

  kills(): readonly (readonly string[])[] {
    return this.calls.filter(([path]) => path === '/bin/kill').map((call) => call.slice(1))
  }

  #act(path: string, args: readonly string[]): ProcessEnd {
    if (path === PATHS.pgrep) {
      return exited(this.pids.length > 0 ? 0 : 1, this.pids.map((pid) => `${pid}\n`).join(''))
    }
    if (path === '/bin/kill') {
      const [name, ...named] = args
      const ending = (pid: number) => name === '-KILL' || !this.stubborn.has(pid)
      this.pids = this.pids.filter((pid) => !(named.includes(String(pid)) && ending(pid)))
    }
    return exited(0, '')
  }
}

export function exited(exitCode: number, stdout: string): ProcessEnd {
  return { end: 'exited', exitCode, stdout, stderr: '' }
}
