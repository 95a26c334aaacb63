// A head and its boxes as their users have them: the built executable in a process each, with a data
// directory each, and a real nats-server as the head's child. A process that was killed starts again.

import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { hookline as hooklineHere } from '../../support/command-line.ts'
import { eventually } from '../../support/eventually.ts'
import { builtExecutable, cleanEnvironment, hookline } from '../../support/executable.ts'
import { NATS_SERVER } from '../../support/nats-server.ts'
import { freePort } from '../../support/nats.ts'
import { ApiClient, createKey, type ApiKey } from '../../support/relay-process.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import type { Line, Page } from './load.ts'

export type Member = {
  readonly name: string
  readonly dataDir: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** A command that runs it, such as `ip netns exec`. */
  readonly under: readonly string[]
}

/** Head or box: one process at a time. */
export class FleetProcess {
  readonly name: string
  readonly dataDir: string
  readonly #member: Member
  #child: Bun.Subprocess | null = null

  constructor(member: Member) {
    this.name = member.name
    this.dataDir = member.dataDir
    this.#member = member
  }

  get pid(): number {
    return this.#child?.pid ?? Number.NaN
  }

  start(): void {
    const { under, args, dataDir, environment } = this.#member
    // One file for all its lives, beside its data.
    const log = openSync(`${dataDir}.log`, 'a')
    this.#child = Bun.spawn([...under, builtExecutable(), ...args, '--data-dir', dataDir], {
      cwd: dataDir,
      env: cleanEnvironment(environment),
      stdio: ['ignore', 'ignore', log],
    })
    closeSync(log)
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name)
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
    this.#child?.kill(signal)
    return (await this.#child?.exited) ?? 0
  }
}

export type FleetOptions = {
  readonly boxes: number
  readonly linesOfBox: number
  /** Lines of the head itself. */
  readonly ownLines: number
  /** For all processes. */
  readonly environment: Readonly<Record<string, string>>
  /** A command that runs the process of this name: `head`, `box-1` and so on. */
  readonly under?: (name: string) => readonly string[]
}

const ALL_ONLINE_MS_MAX = 60_000

export class Fleet implements AsyncDisposable {
  readonly url: string
  readonly key: ApiKey
  readonly api: ApiClient
  readonly head: FleetProcess
  readonly boxes: FleetProcess[] = []
  readonly brokerPort: number
  readonly #folder: ScratchFolder
  readonly #options: FleetOptions

  private constructor(
    folder: ScratchFolder,
    options: FleetOptions,
    { key, ports }: { readonly key: ApiKey; readonly ports: readonly [number, number] },
  ) {
    const [port, brokerPort] = ports
    this.#folder = folder
    this.#options = options
    this.key = key
    this.brokerPort = brokerPort
    this.url = `http://127.0.0.1:${port}`
    this.api = new ApiClient(() => this.url, key)
    this.head = this.#member('head', ['serve', '--port', String(port)], options.ownLines)
  }

  /** Started, joined, and with all lines online. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const folder = new ScratchFolder()
    mkdirSync(folder.file('head'), { mode: 0o700 })
    const key = await createKey(folder.file('head'))
    const fleet = new Fleet(folder, options, { key, ports: [await freePort(), await freePort()] })
    try {
      fleet.head.start()
      await eventually('the head answers', () => fleet.isReady(), ALL_ONLINE_MS_MAX)
      for (let number = 1; number <= options.boxes; number += 1) await fleet.addBox(`box-${number}`)
      await fleet.allOnline()
      return fleet
    } catch (cause) {
      const logs = fleet.logs()
      await fleet[Symbol.asyncDispose]()
      throw new Error(`The fleet did not start:\n${logs}`, { cause })
    }
  }

  /** Invites a machine, lets it join, and starts it. */
  async addBox(name: string): Promise<FleetProcess> {
    const token = await this.invite(name)
    const box = this.#member(name, ['box'], this.#options.linesOfBox)
    await this.run(name, ['join', token, '--no-service', '--data-dir', box.dataDir])
    box.start()
    this.boxes.push(box)
    return box
  }

  async invite(name: string): Promise<string> {
    const add = ['boxes', 'add', name, '--json', '--data-dir', this.head.dataDir]
    const { command } = JSON.parse(await this.run('head', add)) as { command: string } // As the API answers.
    return command.slice(command.indexOf('hlj_'))
  }

  /** Output of one command, run where the process of this name runs. */
  async run(name: string, args: readonly string[]): Promise<string> {
    const under = this.#under(name)
    const environment = this.#environment(0)
    const { stdout, stderr, exitCode } =
      under.length === 0
        ? await hooklineHere(args, environment)
        : await hookline(args, environment, under)
    if (exitCode !== 0) throw new Error(`${args.slice(0, 2).join(' ')}: ${stdout}${stderr}`)
    return stdout
  }

  get lineCount(): number {
    return this.#options.ownLines + this.boxes.length * this.#options.linesOfBox
  }

  async allOnline(): Promise<readonly Line[]> {
    const path = '/api/v1/phone-lines?limit=200'
    return eventually(
      'all lines are online',
      async () => {
        const page = await this.api.ask<Page<Line>>('GET', path).catch(() => null)
        const online = page?.data.filter((line) => line.status === 'online') ?? []
        return online.length === this.lineCount ? online : null
      },
      ALL_ONLINE_MS_MAX,
    )
  }

  async isReady(): Promise<true | null> {
    const answer = await fetch(`${this.url}/readyz`).catch(() => null)
    return answer?.status === 200 ? true : null
  }

  get brokerFolder(): string {
    return join(this.head.dataDir, 'broker')
  }

  /** Processes of the broker: one, but for moments. */
  brokerPids(): readonly number[] {
    const { stdout } = Bun.spawnSync(['pgrep', '-f', `nats-server.*${this.brokerFolder}`])
    return stdout.toString().split('\n').filter(Boolean).map(Number)
  }

  /** Sends a signal to the broker; false if none runs. */
  signalBroker(signal: NodeJS.Signals): boolean {
    const [pid] = this.brokerPids()
    try {
      return pid !== undefined && process.kill(pid, signal)
    } catch {
      return false
    }
  }

  /** Last words of all processes. */
  logs(): string {
    return [this.head, ...this.boxes]
      .map(
        ({ name, dataDir }) => `${name}:\n${readFileSync(`${dataDir}.log`, 'utf8').slice(-2_000)}`,
      )
      .join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [this.head, ...this.boxes]
    await Promise.all(all.map((one) => one.end('SIGKILL')))
    while (this.signalBroker('SIGKILL')) await Bun.sleep(20)
    this.#folder[Symbol.dispose]()
  }

  #member(name: string, args: readonly string[], lines: number): FleetProcess {
    const dataDir = this.#folder.file(name)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const environment = this.#environment(lines)
    return new FleetProcess({ name, dataDir, args, environment, under: this.#under(name) })
  }

  #under(name: string): readonly string[] {
    return this.#options.under?.(name) ?? []
  }

  #environment(lines: number): Readonly<Record<string, string>> {
    return {
      ...this.#options.environment,
      HOOKLINE_SIMULATED_LINES: String(lines),
      HOOKLINE_NATS_SERVER: NATS_SERVER ?? '',
      HOOKLINE_BROKER_PORT: String(this.brokerPort),
    }
  }
}
