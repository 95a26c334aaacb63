// The agent by Xcode, on a Mac: it mounts the image, installs what the owner has built, and starts it.

import { existsSync } from 'node:fs'

import type { Clock } from '../../../../system/clock.ts'
import type { RunProcess, StartReadProcess } from '../../../../system/process.ts'
import { CALLED_OFF, endWhy, startTrouble, troubleIn } from './launch-words.ts'
import { LauncherProcesses } from './launcher-processes.ts'
import type { Launched, Launcher, LaunchTrouble } from './launcher.ts'
import { udidTrouble } from './udid-form.ts'
import { XCODE_WORDS, wordsOfXcode } from './xcode-words.ts'

export type XcodeOptions = {
  readonly xcodebuildPath: string
  readonly xctestrunPath: string | null
  readonly agentPort: number
}

type XcodeTools = {
  readonly clock: Clock
  readonly run: RunProcess
  readonly start: StartReadProcess
}

/** The first call after an update of Xcode takes its time. */
const VERSION_LIMITS = { timeoutMs: 60_000, killAfterMs: 65_000 }

export class XcodeLauncher implements Launcher {
  readonly name = 'xcodebuild'
  readonly #options: XcodeOptions
  readonly #processes: LauncherProcesses

  constructor(options: XcodeOptions, tools: XcodeTools) {
    this.#options = options
    this.#processes = new LauncherProcesses(tools)
  }

  async prepare(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const trouble = udidTrouble(udid) ?? this.#bundleTrouble()
    if (trouble !== null) return trouble
    const { xcodebuildPath: path } = this.#options
    const end = await this.#processes.run({ path, args: ['-version'], ...VERSION_LIMITS }, signal)
    switch (end.end) {
      case 'not_started':
        return startTrouble(end.why)
      case 'killed':
        if (end.why === 'aborted') return CALLED_OFF
        return { code: 'launcher_absent', why: 'Xcode does not answer.' }
      case 'exited': {
        if (end.exitCode === 0) return null
        const lines = `${end.stdout}\n${end.stderr}`.split('\n')
        return readXcode(lines) ?? { code: 'launcher_absent', why: endWhy(end) }
      }
    }
  }

  launch(udid: string, signal: AbortSignal): Promise<Launched | LaunchTrouble> {
    return Promise.resolve(this.#launch(udid, signal))
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#processes.endWith(signal)
  }

  #launch(udid: string, signal: AbortSignal): Launched | LaunchTrouble {
    const { xcodebuildPath: path, xctestrunPath, agentPort } = this.#options
    const trouble = udidTrouble(udid)
    if (trouble !== null) return trouble
    if (xctestrunPath === null) return NO_BUNDLE
    if (signal.aborted) return CALLED_OFF
    const of = ['-xctestrun', xctestrunPath, '-destination', `id=${udid}`]
    // What begins with TEST_RUNNER_ goes on to the agent without that (xcodebuild(1), ENVIRONMENT).
    const environment = {
      TEST_RUNNER_USE_IP: '127.0.0.1',
      TEST_RUNNER_USE_PORT: String(agentPort),
    }
    const args = ['test-without-building', ...of]
    return this.#processes.launch({ path, args, environment }, readXcode)
  }

  #bundleTrouble(): LaunchTrouble | null {
    const { xctestrunPath } = this.#options
    if (xctestrunPath === null) return NO_BUNDLE
    if (existsSync(xctestrunPath)) return null
    return { code: 'launcher_absent', why: 'The .xctestrun file is not where the option says.' }
  }
}

const NO_BUNDLE: LaunchTrouble = {
  code: 'launcher_absent',
  why: 'No option names the .xctestrun file of WebDriverAgent.',
}

function readXcode(lines: readonly string[]): LaunchTrouble | null {
  return troubleIn(wordsOfXcode(lines), XCODE_WORDS)
}
