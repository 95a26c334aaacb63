import type { Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import type { RunProcess, StartReadProcess } from '../../../../system/process.ts'
import { attachLauncher } from './attach-launcher.ts'
import { GoIosLauncher } from './go-ios-launcher.ts'
import type { Launcher, LauncherName } from './launcher.ts'
import { XcodeLauncher } from './xcode-launcher.ts'

export type LauncherOptions = {
  readonly launcher: LauncherName
  /** The executable `ios` of go-ios. */
  readonly goIosPath: string
  /** A folder of ours in which go-ios keeps its identity and the disk images; made where it is missing. */
  readonly goIosFolder: string
  readonly xcodebuildPath: string
  /** What `xcodebuild build-for-testing` has made of WebDriverAgent; null where the owner made none. */
  readonly xctestrunPath: string | null
  /** The runner's, as `com.example.WebDriverAgentRunner.xctrunner`. */
  readonly agentBundleId: string
  /** The port of the phone on which the agent shall listen. */
  readonly agentPort: number
}

export type LauncherTools = {
  readonly clock: Clock
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartReadProcess
}

/** The way to start agents that the options name. */
export function createLauncher(options: LauncherOptions, tools: LauncherTools): Launcher {
  switch (options.launcher) {
    case 'attach':
      return attachLauncher()
    case 'go-ios':
      return new GoIosLauncher(options, tools)
    case 'xcodebuild':
      return new XcodeLauncher(options, tools)
  }
}
