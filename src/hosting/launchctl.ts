// The user's launchd, asked by launchctl(1). Its texts are no interface, as its manual says: what counts
// here are exit codes, which are the numbers of its errors, and of the texts only the process id.

import type { Clock } from '../system/clock.ts'
import type { RunProcess } from '../system/process.ts'
import { STOP_MS_MAX } from './service-host.ts'
import {
  HostingError,
  askTool,
  describeFailure,
  tryTool,
  useTool,
  type ToolAnswer,
} from './system-tool.ts'

export type LaunchdAgent = {
  /** The service's label. */
  readonly label: string
  readonly uid: number
  /** The path of its property list. */
  readonly path: string
}

const LAUNCHCTL = '/bin/launchctl'
const LOOK_AGAIN_MS = 500
/**
 * "Input/output error" and "operation already in progress": launchd still clears away the service of
 * before, whose label stays taken for seconds after its process has ended (seen on macOS 26 and 27).
 */
const STILL_CLEARING: readonly number[] = [5, 37]
const BOOTSTRAP_TRIES = 5
const BOOTSTRAP_PAUSE_MS = 2_000
/** "No such process" and "operation now in progress": gone, or about to be. */
const GONE_OR_GOING: readonly number[] = [3, 36]

export class Launchd {
  readonly #run: RunProcess
  readonly #clock: Clock
  readonly #agent: LaunchdAgent
  /** The session at the screen, and the service in it. */
  readonly #domain: string
  readonly #target: string

  constructor(tools: { readonly run: RunProcess; readonly clock: Clock }, agent: LaunchdAgent) {
    this.#run = tools.run
    this.#clock = tools.clock
    this.#agent = agent
    this.#domain = `gui/${agent.uid}`
    this.#target = `${this.#domain}/${agent.label}`
  }

  /** Whether the service is loaded, and the process it runs as; null for both where nobody can say. */
  async look(
    signal: AbortSignal,
  ): Promise<{ readonly isLoaded: boolean; readonly pid: number | null }> {
    const answer = await tryTool(this.#run, this.#order('print', this.#target), signal)
    if (answer?.exitCode !== 0) return { isLoaded: false, pid: null }
    const pid = /^\s*pid = (\d+)$/m.exec(answer.stdout)?.[1]
    return { isLoaded: true, pid: pid === undefined ? null : Number(pid) }
  }

  /** Loads the service, which starts it; starts it where it is loaded and does not run. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#requireSession(signal)
    if ((await this.look(signal)).isLoaded) {
      // Not with `-k`, which would kill a send that is past its point of no return.
      const order = this.#order('kickstart', this.#target)
      await useTool(this.#run, { ...order, purpose: 'start the service' }, signal)
      return
    }
    // Whoever switched it off once wants it now.
    await tryTool(this.#run, this.#order('enable', this.#target), signal)
    await this.#bootstrap(signal)
  }

  /** Unloads the service, and returns when its process has ended: launchctl does not wait for that. */
  async stop(signal: AbortSignal): Promise<void> {
    if (!(await this.look(signal)).isLoaded) return
    const answer = await askTool(this.#run, this.#order('bootout', this.#target), signal)
    const { exitCode } = answer
    if (exitCode !== 0 && !GONE_OR_GOING.includes(exitCode)) throw cannot('stop', answer)
    const until = this.#clock.monotonic() + STOP_MS_MAX
    while ((await this.look(signal)).isLoaded) {
      if (this.#clock.monotonic() > until || signal.aborted) {
        throw new HostingError('The service has not ended in time. Look again: hookline status')
      }
      await this.#clock.sleep(LOOK_AGAIN_MS, signal)
    }
  }

  async #bootstrap(signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const order = this.#order('bootstrap', this.#domain, this.#agent.path)
      const answer = await askTool(this.#run, order, signal)
      if (answer.exitCode === 0) return
      const mayPass = STILL_CLEARING.includes(answer.exitCode)
      if (!mayPass || tries === BOOTSTRAP_TRIES || signal.aborted) throw cannot('start', answer)
      await this.#clock.sleep(BOOTSTRAP_PAUSE_MS, signal)
    }
  }

  /** Over ssh, and at the login window, there is no such session; launchd would only say a number. */
  async #requireSession(signal: AbortSignal): Promise<void> {
    const { exitCode } = await askTool(this.#run, this.#order('print', this.#domain), signal)
    if (exitCode === 0) return
    throw new HostingError(
      'Nobody is logged in at the screen of this Mac, and only there can Messages be used. ' +
        'Log in once as this user (screen sharing will do), then again: hookline up',
    )
  }

  #order(...args: readonly string[]) {
    return { path: LAUNCHCTL, args }
  }
}

function cannot(what: 'start' | 'stop', answer: ToolAnswer): HostingError {
  return new HostingError(`Cannot ${what} the service: ${describeFailure(LAUNCHCTL, answer)}`)
}
