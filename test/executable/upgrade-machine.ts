// A machine with the real executable as its service: only systemd is a stand-in, which starts and stops
// real processes.

import { cpSync, mkdirSync, rmSync } from 'node:fs'

import { EXIT, Options, type Call, type ExitCode } from '../../src/cli/command.ts'
import { upgradeCommand } from '../../src/cli/loaded-commands.ts'
import { createServiceHost } from '../../src/cli/service.ts'
import { loadConfig } from '../../src/config.ts'
import type { Machine } from '../../src/hosting/machine.ts'
import { systemClock } from '../../src/system/clock.ts'
import { processRunner, startDetached, type RunProcess } from '../../src/system/process.ts'
import { systemRandom } from '../../src/system/random.ts'
import { recordedOutput } from '../cli/recorded-output.ts'
import {
  builtExecutable,
  cleanEnvironment,
  placeExecutable,
  type CommandResult,
} from '../support/executable.ts'
import { createKey, type ApiKey } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { UpgradedRelay, freePort, type Started } from './upgraded-relay.ts'

export type Told = {
  readonly exitCode: ExitCode
  readonly json: unknown
  readonly problems: string
}

const PERSON = '+12025550123'
/** Text of the message that waits. */
const WAITING = 'wait for it'

/** What every machine begins with, made once in a process. */
type First = { readonly data: ScratchFolder; readonly key: ApiKey }
let first: Promise<First> | null = null

export class UpgradeMachine implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly executable = this.folder.file('bin/hookline')
  readonly dataDir = this.folder.file('data')
  readonly port = freePort()
  /** Variables of the commands that are run. */
  environment: Readonly<Record<string, string>> = {}
  /** The executable that runs now, and whether a person started it by hand. */
  relay: UpgradedRelay | null = null
  isByHand = false

  private constructor() {
    for (const name of ['bin', 'data']) mkdirSync(this.folder.file(name), { mode: 0o700 })
    placeExecutable(builtExecutable(), this.executable)
  }

  /** The old version, stopped, with a message that waits. */
  static async create(): Promise<{ machine: UpgradeMachine; key: ApiKey }> {
    first ??= UpgradeMachine.#createFirst()
    const { data, key } = await first
    const machine = new UpgradeMachine()
    cpSync(data.path, machine.dataDir, { recursive: true })
    return { machine, key }
  }

  /** The same, and its relay runs as a service. */
  static async createRunning(): Promise<{ machine: UpgradeMachine; key: ApiKey }> {
    const { machine, key } = await UpgradeMachine.create()
    await machine.start({ lines: 0 }).until('/readyz', '200')
    return { machine, key }
  }

  /** Its message is to a line that the second start did not ask for. */
  static async #createFirst(): Promise<First> {
    await using machine = new UpgradeMachine()
    const key = await createKey(machine.dataDir)
    const once = machine.start()
    await once.until('/readyz', '200')
    const lines = await once
      .client(key)
      .ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
    await machine.stop()
    const again = machine.start({ lines: 0 })
    await again.until('/readyz', '200')
    const body = { to: PERSON, text: WAITING, phone_line_id: lines.data[0]?.id }
    const { status } = await again.client(key).request('POST', '/api/v1/messages/send', { body })
    if (status !== 202) throw new Error(`The message was answered ${status}.`)
    await machine.stop()
    const data = new ScratchFolder()
    process.once('exit', () => data[Symbol.dispose]())
    cpSync(machine.dataDir, data.path, { recursive: true })
    return { data, key }
  }

  /** Puts another version in the executable's place. */
  replace(executable: string): void {
    rmSync(this.executable)
    placeExecutable(executable, this.executable)
  }

  /** Starts what lies in the executable's place, as a service unless asked otherwise. */
  start(more: Partial<Started> = {}): UpgradedRelay {
    const { executable, dataDir, port } = this
    this.isByHand = more.isService === false
    const usual = { executable, dataDir, port, lines: 1, isService: true }
    this.relay = new UpgradedRelay({ ...usual, ...more })
    return this.relay
  }

  async stop(): Promise<number | undefined> {
    const { relay } = this
    this.relay = null
    return relay?.end()
  }

  /** Runs a command of what lies in the executable's place, where no service is installed. */
  async run(...args: readonly string[]): Promise<CommandResult> {
    const child = Bun.spawn([this.executable, ...args, '--data-dir', this.dataDir], {
      env: cleanEnvironment({ HOME: this.folder.path, ...this.environment }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const
    const [stdout, stderr] = await Promise.all(outputs)
    return { exitCode: await child.exited, stdout, stderr }
  }

  /** Runs `hookline upgrade --from FILE` to its end, in this process, with a service installed. */
  async upgrade(from: string): Promise<Told> {
    const { executable, dataDir } = this
    const machine = this.#machine()
    const order = { executable, dataDir, version: '0', codesignIdentity: null }
    const { signal } = new AbortController()
    await createServiceHost(machine).install(order, signal)
    const { out, printed } = recordedOutput()
    const command = upgradeCommand(() => ({ machine, executable, signal }))
    const call: Call = {
      args: [],
      options: new Options([
        ['from', from],
        ['unverified', 'true'],
      ]),
      groups: [{ heading: '', commands: [command] }],
      surroundings: { args: [], environment: {}, folder: '/', isTerminal: false, columns: null },
      out,
      loadConfig: () =>
        loadConfig({
          flags: {},
          environment: {},
          defaultDataDir: dataDir,
          folder: '/',
          readText: () => null,
        }),
    }
    const exitCode = (await command.run(call)) ?? EXIT.ok
    return { exitCode, json: printed.json.at(-1) ?? null, problems: printed.problems.join('\n') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay?.[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }

  #machine(): Machine {
    return {
      run: this.#run,
      startDetached,
      clock: systemClock,
      random: systemRandom,
      platform: 'linux',
      home: this.folder.path,
      uid: 1000,
      userName: 'ann',
      environment: {},
    }
  }

  readonly #run: RunProcess = async (order, signal) => {
    if (!order.path.startsWith('/usr/bin/')) return processRunner(systemClock)(order, signal)
    const verb = order.path === '/usr/bin/env' ? order.args[3] : null
    if (verb === 'start') this.start()
    if (verb === 'stop') await this.stop()
    const { isByHand, relay } = this
    const isRunning = relay !== null && !isByHand
    const state = `ActiveState=${isRunning ? 'active' : 'inactive'}`
    const stdout = verb === 'show' ? `MainPID=${isRunning ? relay.pid : 0}\n${state}\n` : ''
    return { end: 'exited', exitCode: 0, stdout, stderr: '' }
  }
}
