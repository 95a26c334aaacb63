import { whenAborted, type Clock } from '../../../../system/clock.ts'
import type {
  ProcessEnd,
  ProcessOrder,
  RunProcess,
  StartReadProcess,
} from '../../../../system/process.ts'
import { endTrouble, startTrouble } from './launch-words.ts'
import type { Launched, LaunchTrouble } from './launcher.ts'
import { ToolRun, type ToolOrder } from './tool-run.ts'

type ProcessTools = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly start: StartReadProcess
}

/** The processes of a launcher, all of which end with it. */
export class LauncherProcesses {
  readonly #tools: ProcessTools
  readonly #over = new AbortController()
  readonly #living = new Set<ToolRun>()
  readonly #brief = new Set<Promise<ProcessEnd>>()

  constructor(tools: ProcessTools) {
    this.#tools = tools
  }

  /** Aborts with the launcher. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  /** Runs a program to its end, which an abort brings about, as does that of the launcher. */
  async run(order: ProcessOrder, signal: AbortSignal): Promise<ProcessEnd> {
    const running = this.#tools.run(order, AbortSignal.any([signal, this.over]))
    this.#brief.add(running)
    return await running.finally(() => this.#brief.delete(running))
  }

  /** Starts a program that lives on. */
  start(order: ToolOrder): ToolRun | LaunchTrouble {
    if (this.over.aborted) return { code: 'launch_failed', why: 'The relay is ending.' }
    try {
      return this.#keep(new ToolRun(this.#tools, order))
    } catch (error) {
      return startTrouble(codeOf(error))
    }
  }

  /** Starts what keeps an agent alive; `read` knows the words of that program. */
  launch(
    order: ToolOrder,
    read: (lines: readonly string[]) => LaunchTrouble | null,
  ): Launched | LaunchTrouble {
    const tool = this.start(order)
    if (!(tool instanceof ToolRun)) return tool
    const ended = tool.ended.then((end) => endTrouble(end, read))
    return { ended, stop: () => tool.stop() }
  }

  /** Resolves after `signal` has aborted, when none of them runs any more. */
  async endWith(signal: AbortSignal): Promise<void> {
    await whenAborted(signal)
    this.#over.abort()
    await Promise.all([...this.#brief, ...[...this.#living].map((tool) => tool.stop())])
  }

  #keep(tool: ToolRun): ToolRun {
    this.#living.add(tool)
    void tool.ended.then(() => this.#living.delete(tool))
    return tool
  }
}

/** The code of a failed start; its message may quote an argument. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'unknown'
}
