import { writeFileSync } from 'node:fs'

import {
  createLauncher,
  type LauncherOptions,
} from '../../../src/lines/kinds/iphone/agent/create-launcher.ts'
import type {
  Launched,
  Launcher,
  LaunchTrouble,
} from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { processRunner, startReadProcess, type RunProcess } from '../../../src/system/process.ts'
import { recordingLog, type LogLine } from '../recording-log.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { settle, TestClock } from '../test-clock.ts'
import { FakeGoIos } from './fake-go-ios.ts'
import { FakeTool } from './fake-tool.ts'
import { eventually } from './real-usbmuxd.ts'

export const BUNDLE_ID = 'com.example.WebDriverAgentRunner.xctrunner'

/** A launcher with real processes and a clock that the test moves. */
export class LaunchRig implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly clock = new TestClock()
  readonly goIos = new FakeGoIos(this.folder.path)
  readonly xcodebuild = new FakeTool(this.folder.path, 'xcodebuild', 'eval "$(cat "$here/says")"')
  readonly goIosFolder = this.folder.file('data/go-ios')
  readonly launcher: Launcher
  readonly lines: readonly LogLine[]
  #busy = 0
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(options: Partial<LauncherOptions> & Pick<LauncherOptions, 'launcher'>) {
    const { log, lines } = recordingLog()
    this.lines = lines
    const { clock } = this
    const run = processRunner(clock)
    writeFileSync(this.folder.file('wda.xctestrun'), '')
    this.xcodebuild.put('says', '[ "$1" = -version ] || exec sleep 60')
    const counted: RunProcess = async (order, signal) => {
      this.#busy += 1
      return await run(order, signal).finally(() => {
        this.#busy -= 1
      })
    }
    const tools = { clock, log, run: counted, start: startReadProcess }
    this.launcher = createLauncher(this.#optionsOf(options), tools)
    this.#running = this.launcher.run(this.#end.signal)
  }

  /** Ends what the launcher keeps, as the relay does when it ends. */
  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async launch(udid: string): Promise<Launched> {
    const launched = await this.launcher.launch(udid, new AbortController().signal)
    if ('code' in launched) throw new Error(launched.why)
    return launched
  }

  /** Prepares, while time goes by second after second. */
  async prepare(udid: string): Promise<LaunchTrouble | null> {
    return await this.#whileTimeGoesBy(this.launcher.prepare(udid, new AbortController().signal))
  }

  async prepareAll(udids: readonly string[]): Promise<readonly (LaunchTrouble | null)[]> {
    const { signal } = new AbortController()
    const preparing = udids.map((udid) => this.launcher.prepare(udid, signal))
    return await this.#whileTimeGoesBy(Promise.all(preparing))
  }

  /**
   * Lets time go by until `look` gives something: a second whenever no short-lived process is under way,
   * as those take the real time of a busy computer.
   */
  async comesTo<T>(look: () => T | null, what: string): Promise<T> {
    return await eventually(async () => {
      await (this.#busy > 0 ? settle() : this.clock.advance(1_000))
      return look()
    }, what)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.stop()
    for (const tool of [this.goIos.tool, this.xcodebuild]) {
      for (const pid of tool.alive()) kill(-pid)
    }
    await stopping
    this.folder[Symbol.dispose]()
  }

  async #whileTimeGoesBy<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const watched = promise.finally(() => {
      isSettled = true
    })
    await this.comesTo(() => (isSettled ? true : null), 'the end of the preparations')
    return await watched
  }

  #optionsOf(
    options: Partial<LauncherOptions> & Pick<LauncherOptions, 'launcher'>,
  ): LauncherOptions {
    return {
      goIosPath: this.goIos.tool.path,
      goIosFolder: this.goIosFolder,
      xcodebuildPath: this.xcodebuild.path,
      xctestrunPath: this.folder.file('wda.xctestrun'),
      agentBundleId: BUNDLE_ID,
      agentPort: 8_100,
      ...options,
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
