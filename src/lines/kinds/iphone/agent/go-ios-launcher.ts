// The agent by go-ios, on Linux and on a Mac: a tunnel for all phones, the image, and one process for each
// agent, which ends with it.

import { join } from 'node:path'

import type { Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import type { RunProcess, StartReadProcess } from '../../../../system/process.ts'
import { GoIosImage } from './go-ios-image.ts'
import { GoIosTunnel } from './go-ios-tunnel.ts'
import { GoIosVersion } from './go-ios-version.ts'
import { AGENT_WORDS, complaints } from './go-ios-words.ts'
import { CALLED_OFF, troubleIn } from './launch-words.ts'
import { LauncherProcesses } from './launcher-processes.ts'
import type { Launched, Launcher, LaunchTrouble } from './launcher.ts'
import { udidTrouble } from './udid-form.ts'

export type GoIosOptions = {
  readonly goIosPath: string
  readonly goIosFolder: string
  readonly agentBundleId: string
  readonly agentPort: number
}

type GoIosTools = {
  readonly clock: Clock
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartReadProcess
}

/** WebDriverAgent's test bundle keeps the name of its target, whatever id the app was signed with. */
const TEST_BUNDLE = 'WebDriverAgentRunner.xctest'

export class GoIosLauncher implements Launcher {
  readonly name = 'go-ios'
  readonly #options: GoIosOptions
  readonly #processes: LauncherProcesses
  readonly #version: GoIosVersion
  readonly #tunnel: GoIosTunnel
  readonly #image: GoIosImage

  constructor(options: GoIosOptions, tools: GoIosTools) {
    const { goIosPath, goIosFolder: folder } = options
    const processes = new LauncherProcesses(tools)
    this.#options = options
    this.#processes = processes
    this.#version = new GoIosVersion(processes, goIosPath)
    this.#tunnel = new GoIosTunnel({ ...tools, processes, goIosPath, folder })
    this.#image = new GoIosImage({ processes, goIosPath, folder: join(folder, 'images') })
  }

  async prepare(udid: string, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const until = AbortSignal.any([signal, this.#processes.over])
    const own = udidTrouble(udid) ?? (await this.#version.trouble(until))
    const trouble = own ?? (await this.#tunnel.stand(udid, until))
    return trouble ?? (await this.#image.mount(this.#tunnel.nameOf(udid), until))
  }

  launch(udid: string, signal: AbortSignal): Promise<Launched | LaunchTrouble> {
    return Promise.resolve(this.#launch(udid, signal))
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#tunnel.run(signal), this.#processes.endWith(signal)])
  }

  #launch(udid: string, signal: AbortSignal): Launched | LaunchTrouble {
    const { goIosPath: path, agentBundleId, agentPort } = this.#options
    const trouble = udidTrouble(udid)
    if (trouble !== null) return trouble
    if (signal.aborted) return CALLED_OFF
    const args = [
      'runwda',
      `--udid=${this.#tunnel.nameOf(udid)}`,
      // The runner is also the app whose tests it runs (go-ios 1.3.2, cmd_device_ui_run.go).
      `--bundleid=${agentBundleId}`,
      `--testrunnerbundleid=${agentBundleId}`,
      `--xctestconfig=${TEST_BUNDLE}`,
      // Without it the agent, which knows no password, listens to everybody on the phone's network.
      '--env=USE_IP=127.0.0.1',
      `--env=USE_PORT=${agentPort}`,
    ]
    const order = { path, args, environment: {} }
    return this.#watched(udid, this.#processes.launch(order, readGoIos))
  }

  #watched(udid: string, launched: Launched | LaunchTrouble): Launched | LaunchTrouble {
    if ('code' in launched) return launched
    const ended = launched.ended.then((trouble) => {
      if (trouble.code === 'tunnel_failed') this.#tunnel.doubt(udid)
      return trouble
    })
    return { ...launched, ended }
  }
}

function readGoIos(lines: readonly string[]): LaunchTrouble | null {
  return troubleIn(complaints(lines), AGENT_WORDS)
}
