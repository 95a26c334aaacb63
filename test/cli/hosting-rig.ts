// The commands of the service on a machine of stand-ins: systemd answers as the test asks, the relay is a stand-in
// at the control socket that holds the lock.

import { mkdirSync, writeFileSync } from 'node:fs'

import { EXIT, type Call, type ExitCode } from '../../src/cli/command.ts'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { supportCommand } from '../../src/cli/loaded-commands.ts'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { hostingCommands } from '../../src/cli/run.ts'
import { loadConfig } from '../../src/config.ts'
import { dataDirectoryAt, openDataDirectory } from '../../src/system/data-directory.ts'
import { readTextOrNull } from '../../src/system/files.ts'
import { takeInstanceLock, type InstanceLock } from '../../src/system/instance-lock.ts'
import { RecordingTools, type Called } from '../hosting/recording-tools.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { recordedOutput, type Recorded } from './recorded-output.ts'

export type Printed = Recorded & { readonly exitCode: ExitCode }

type Answers = Readonly<Record<string, unknown>>

export const READY = { status: 'online', is_enabled: true, imessage_active: true }
export const PAUSED = { ...READY, is_enabled: false }

/** What a relay answers to each path, where a test says nothing else. */
const WELL: Answers = {
  '/healthz': { status: 'ok' },
  '/readyz': { status: 'ready' },
  '/api/v1/about': { version: '1.2.3', is_claimed: true },
  '/api/v1/health': { data: [] },
  '/api/v1/keys?limit=1': { data: [{ id: 'key_a' }] },
  '/api/v1/phone-lines': { data: [READY, PAUSED] },
  '/api/v1/phone-lines?limit=200': { data: [READY, PAUSED] },
}

export class HostingRig implements Disposable {
  readonly folder = new ScratchFolder()
  readonly clock = new TestClock()
  readonly stop = new AbortController()
  readonly dataDir = this.folder.file('data')
  readonly executable = this.folder.file('hookline')
  readonly tools = new RecordingTools((called) => this.answer(called))
  /** What `systemctl show` says. */
  shown = 'MainPID=0\nActiveState=inactive\n'
  isTerminal = false
  /** Where the relay listens, as its lock says. */
  address = '127.0.0.1:4665'
  /** Called when `systemctl start` or `stop` is. */
  onStart: () => void = () => {}
  onStop: () => void = () => {}
  #relay: Bun.Server<undefined> | null = null
  #lock: InstanceLock | null = null

  constructor() {
    writeFileSync(this.executable, 'an executable')
    mkdirSync(this.dataDir, { mode: 0o700 })
  }

  /** A machine on which the service is installed and runs, as `up` leaves it. */
  static async withService(): Promise<HostingRig> {
    const rig = new HostingRig()
    rig.onStart = () => rig.startRelay()
    rig.onStop = () => rig.endRelay()
    await rig.run('up')
    rig.verbs()
    return rig
  }

  /** The owner has started a relay, and no service has. */
  startInForeground(): void {
    this.startRelay()
    this.shown = 'MainPID=0\nActiveState=inactive\n'
  }

  /** Runs one command to its end. */
  async run(line: string, environment: Readonly<Record<string, string>> = {}): Promise<Printed> {
    const machine = this.tools.machine({ clock: this.clock, home: this.folder.path })
    const { executable, isTerminal } = this
    const findPlace = () => ({ machine, executable, signal: this.stop.signal })
    const commands = [
      ...hostingCommands(findPlace),
      supportCommand(findPlace),
      doctorCommand({ platform: 'linux', run: this.tools.run, findPlace }),
    ]
    const { command, args, options } = parseCommandLine(line.split(' '), commands)
    const { out, printed } = recordedOutput()
    const call: Call = {
      args,
      options,
      groups: [],
      surroundings: { args: [], environment, folder: '/', isTerminal, columns: null },
      out,
      loadConfig: () =>
        loadConfig({
          flags: {},
          environment: { HOOKLINE_DATA_DIR: this.dataDir, ...environment },
          defaultDataDir: '/nowhere',
          folder: '/',
          readText: readTextOrNull,
        }),
    }
    const exitCode = command == null ? EXIT.failed : ((await command.run(call)) ?? EXIT.ok)
    return { exitCode, ...printed }
  }

  /** A relay answers from now on, in this process; a path may have a status of its own. */
  startRelay(answers: Answers = {}, status: Readonly<Record<string, number>> = {}): void {
    const all = { ...WELL, ...answers }
    const directory = openDataDirectory(this.dataDir)
    const holder = { since: TEST_START, task: 'relay', address: this.address }
    this.#lock = takeInstanceLock(directory.lock, holder)
    this.#relay = Bun.serve({
      unix: directory.controlSocket,
      fetch: ({ url }) => {
        const { pathname, search } = new URL(url)
        const path = pathname + search
        return Response.json(all[path] ?? {}, { status: status[path] ?? 200 })
      },
    })
    this.shown = `MainPID=${process.pid}\nActiveState=active\n`
  }

  endRelay(): void {
    void this.#relay?.stop(true)
    this.#lock?.release()
    this.#relay = null
    this.#lock = null
    this.shown = 'MainPID=0\nActiveState=inactive\n'
  }

  /** Lets time pass until `work` is done; requests over the socket take real time in between. */
  async advanceUntil<T>(work: Promise<T>): Promise<T> {
    const end = new AbortController()
    const done = work.finally(() => end.abort())
    while (!end.signal.aborted) {
      await this.clock.advance(1_000)
      await Bun.sleep(1)
    }
    return done
  }

  get environmentFile(): string {
    return dataDirectoryAt(this.dataDir).environmentFile
  }

  /** The verbs of systemctl and loginctl that were called. */
  verbs(): readonly string[] {
    const verbs = this.tools.taken().map(verbOf)
    return verbs.filter((verb) => verb !== 'show')
  }

  answer(called: Called) {
    const verb = verbOf(called)
    if (verb === 'start') this.onStart()
    if (verb === 'stop') this.onStop()
    return verb === 'show' ? { stdout: this.shown } : {}
  }

  [Symbol.dispose](): void {
    this.endRelay()
    this.folder[Symbol.dispose]()
  }
}

function verbOf(called: Called): string {
  return (called[0] === '/usr/bin/env' ? called[4] : called[1]) ?? ''
}
