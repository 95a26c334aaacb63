import { writeFileSync } from 'node:fs'

import type { LaunchTrouble } from '../../../src/lines/kinds/iphone/agent/launch-trouble.ts'
import {
  Launcher,
  type AgentOptions,
  type Launched,
} from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { processRunner, startReadProcess } from '../../../src/system/process.ts'
import { recordingLog } from '../recording-log.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { TestClock } from '../test-clock.ts'
import { OTHER_UDID, UDID } from './fake-phones.ts'
import { FakeTool } from './fake-tool.ts'
import { eventually } from './real-usbmuxd.ts'

const NEVER = new AbortController().signal
export const BUNDLE = 'com.example.WebDriverAgentRunner.xctrunner'
export const SERIAL = UDID.replace('-', '')
export const PHONE = { udid: UDID, serial: SERIAL }
export const OTHER = { udid: OTHER_UDID, serial: OTHER_UDID }

/** What each command of the stand-in does: a file of its name says it. */
const SCRIPT = `
case "$1 $2" in
'tunnel start') name=tunnel ;;
'image auto') name=image ;;
version*) name=version ;;
*) name=agent ;;
esac
eval "$(cat "$here/$name")"`

/** A launcher over real processes, with a clock that the test moves. */
export class LaunchRig implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly clock = new TestClock()
  readonly tool = new FakeTool(this.folder.path, 'tool', SCRIPT)
  readonly lines
  readonly launcher: Launcher
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(preset: AgentOptions['preset'], more: Partial<AgentOptions> = {}) {
    const { log, lines } = recordingLog()
    const { clock, tool } = this
    this.lines = lines
    this.does({ tunnel: 'exec sleep 60', image: 'exit 0', agent: 'exec sleep 60' })
    this.does({ version: `echo '{"version":"1.3.2"}'` })
    writeFileSync(this.folder.file('wda.xctestrun'), '')
    const options: AgentOptions = {
      preset,
      agentCommand: null,
      tunnelCommand: null,
      goIosPath: tool.path,
      xcodebuildPath: tool.path,
      folder: this.folder.file('data/go-ios'),
      xctestrunPath: this.folder.file('wda.xctestrun'),
      bundleId: BUNDLE,
      port: 8_123,
      ...more,
    }
    const tools = { clock, log, run: processRunner(clock), start: startReadProcess }
    const launcher = Launcher.of(options, tools)
    if (launcher === null) throw new Error('There is no launcher.')
    this.launcher = launcher
    this.#running = launcher.run(this.#end.signal)
  }

  does(scripts: Readonly<Record<string, string>>): void {
    for (const [name, script] of Object.entries(scripts)) this.tool.put(name, script)
  }

  launch(phone = PHONE): Launched {
    const launched = this.launcher.launch(phone)
    if ('code' in launched) throw new Error(launched.why)
    return launched
  }

  /** How an agent ends by itself that was just started. */
  ended(): Promise<LaunchTrouble> {
    return this.launch().ended
  }

  /** Prepares, while time goes by second after second. */
  async prepare(phone = PHONE, signal = NEVER): Promise<LaunchTrouble | null> {
    let isOver = false
    const preparing = this.launcher.prepare(phone, signal).finally(() => {
      isOver = true
    })
    await eventually(async () => {
      await this.clock.advance(100)
      return isOver ? true : null
    }, 'the end of the preparations')
    return await preparing
  }

  /** The commands, without their arguments. */
  get commands(): readonly string[] {
    return this.tool.argsOfCalls().map(([word = '']) => word)
  }

  async calls(count: number): Promise<void> {
    await eventually(() => (this.tool.calls().length >= count ? true : null), `${count} calls`)
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopping = this.stop()
    for (const pid of this.tool.alive()) killGroup(pid)
    await stopping
    this.folder[Symbol.dispose]()
  }
}

function killGroup(pid: number): void {
  try {
    if (pid > 1) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}
