// A program that stands in for one of others: a small script that records how it was called, and does
// what the test says.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { LaunchTrouble } from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import {
  type AgentOptions,
  type Launched,
  Launcher,
} from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { processRunner, startReadProcess } from '../../../src/system/process.ts'
import { recordingLog } from '../recording-log.ts'
import { eventually } from '../relay-process.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { TestClock } from '../test-clock.ts'
import { OTHER_UDID, UDID } from './fake-phones.ts'

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

  constructor(preset: AgentOptions['iphoneAgent'], more: Partial<AgentOptions> = {}) {
    const { log, lines } = recordingLog()
    const { clock, tool } = this
    this.lines = lines
    this.does({ tunnel: 'exec sleep 60', image: 'exit 0', agent: 'exec sleep 60' })
    writeFileSync(this.folder.file('wda.xctestrun'), '')
    const options: AgentOptions = {
      iphoneAgent: preset,
      iphoneAgentCommand: null,
      iphoneTunnelCommand: null,
      iphoneGoIos: tool.path,
      iphoneXcodebuild: tool.path,
      folder: this.folder.file('data/go-ios'),
      iphoneXctestrun: this.folder.file('wda.xctestrun'),
      iphoneAgentBundle: BUNDLE,
      iphoneAgentPort: 8_123,
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
    await eventually('the end of the preparations', async () => {
      await this.clock.advance(100)
      return isOver ? true : null
    })
    return await preparing
  }

  /** The commands, without their arguments. */
  get commands(): readonly string[] {
    return this.tool.argsOfCalls().map(([word = '']) => word)
  }

  async calls(count: number): Promise<void> {
    await eventually(`${count} calls`, () => (this.tool.calls().length >= count ? true : null))
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

/** How the program was called once. */
type ToolCall = {
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

  argsOfCalls(): readonly (readonly string[])[] {
    return this.calls().map(({ args }) => args)
  }

  /** Those of its processes that still run; of all commands, or of one. */
  alive(command: string | null = null): readonly number[] {
    const calls = this.calls().filter(({ args }) => command === null || args[0] === command)
    return calls.flatMap(({ pid }) => (isAlive(pid) ? [pid] : []))
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
