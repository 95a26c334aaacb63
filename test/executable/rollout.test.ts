// The real executable on three machines that share one: a head and two boxes, each with a service of its own by a
// stand-in for systemd, and a version that does not exist yet. The states of a rollout are in test/boxes.

import { expect } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

import { minisign } from '../../scripts/sign-release.ts'
import type { HealthFinding } from '../../src/api/health.ts'
import { ControlClient } from '../../src/cli/control-client.ts'
import { eventually } from '../support/eventually.ts'
import { cleanEnvironment, placeExecutable } from '../support/executable.ts'
import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { testNeeding } from '../support/needs.ts'
import { NO_BOX, RELEASE_KEY, nextVersion } from '../support/next-version.ts'
import { serveReleases } from '../support/release-server.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { freePort } from './upgraded-relay.ts'

const hasAll = NATS_SERVER !== null && process.platform === 'linux'
const withServer = testNeeding(`${A_BROKER} on Linux`, hasAll)
const RELEASE_FILE = `hookline-${process.platform}-${process.arch}`

/** A machine with its own home, and the executable that its owner has put there. */
class Machine implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly executable = this.folder.file('bin/hookline')
  readonly data = this.folder.file('data')
  /** Variables of its commands. */
  environment: Readonly<Record<string, string>> = {}
  readonly control = new ControlClient(`${this.data}/control.sock`)

  constructor(executable: string, options: Readonly<Record<string, string>>) {
    mkdirSync(this.folder.file('bin'))
    mkdirSync(this.data, { mode: 0o700 })
    placeExecutable(executable, this.executable)
    const lines = Object.entries(options).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(`${this.data}/hookline.env`, lines.join(''), { mode: 0o600 })
  }

  /** Answer of a command in JSON; throws if it fails. */
  async run<T>(...args: readonly string[]): Promise<T> {
    const child = Bun.spawn([this.executable, ...args, '--json', '--data-dir', this.data], {
      env: cleanEnvironment({ HOME: this.folder.path, ...this.environment }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const
    const [stdout, stderr] = await Promise.all(outputs)
    if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  }

  /** Ends everything that it has started. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.run('down').catch(() => {})
    this.folder[Symbol.dispose]()
  }
}

/** A folder as a release makes it. */
function publish(folder: ScratchFolder, file: string, version: string): string {
  const { path } = folder
  cpSync(file, `${path}/${RELEASE_FILE}`)
  const sum = new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
  const sums = `${sum}  ${RELEASE_FILE}\n`
  writeFileSync(`${path}/SHA256SUMS`, sums)
  const signature = minisign(RELEASE_KEY, Buffer.from(sums), `hookline ${version}`)
  writeFileSync(`${path}/SHA256SUMS.minisig`, signature)
  return path
}

withServer(
  'a head and two boxes go to the next version; a box that does not come up goes back',
  async () => {
    using builds = new ScratchFolder()
    const [old, next] = [await nextVersion('9.9.8'), await nextVersion('9.9.9')]
    const release = publish(builds, next, '9.9.9')
    await using server = await serveReleases(builds)
    const options = { HOOKLINE_PORT: String(freePort()), HOOKLINE_BROKER_PORT: String(freePort()) }
    await using head = new Machine(old, { ...options, HOOKLINE_NATS_SERVER: NATS_SERVER ?? '' })
    await using one = new Machine(old, { HOOKLINE_SIMULATED_LINES: '1' })
    await using two = new Machine(old, { HOOKLINE_SIMULATED_LINES: '1' })
    const boxes = async () => (await head.control.ask('listBoxes')).data
    const versionsNow = async () => (await boxes()).map(({ version }) => version)
    await head.run('up')
    await join(head, one, 'one')
    await join(head, two, 'two')
    await linesOnline(head, 'one', 'two')

    const early = head.run('boxes', 'upgrade', '--from', release)
    await expect(early).rejects.toThrow('Upgrade it first: hookline upgrade')
    await head.run('upgrade', '--from', `${release}/${RELEASE_FILE}`, '--unverified')
    writeFileSync(`${two.data}/${NO_BOX}`, '')
    await linesOnline(head, 'one', 'two')
    head.environment = { NODE_EXTRA_CA_CERTS: builds.file('cert.pem') }
    await head.run('config', 'set', 'release_source', `${server.url.href}latest/`)
    const started = await head.run('boxes', 'upgrade')
    await expect(head.run('boxes', 'upgrade')).rejects.toThrow('Wait for its end')
    const paused = await eventually('the rollout is paused', () => finding(head), 90_000)
    const broken = (await boxes())[1]
    await linesOnline(head, 'one', 'two')
    const afterFailure = await versionsNow()
    rmSync(`${two.data}/${NO_BOX}`)
    await head.run('boxes', 'upgrade', '--resume')
    await eventually(
      'the rollout is done',
      async () => {
        const { rollout } = await head.control.ask('getRollout')
        return rollout === null ? true : null
      },
      60_000,
    )
    const upgraded = await boxes()
    const left = [head, one, two].flatMap(({ folder }) => leftOf(folder))
    await linesOnline(head, 'one', 'two')
    const { data: audited } = await head.control.ask('listAudit', {
      query: { action: 'box.upgraded' },
    })

    await expect(head.run('boxes', 'upgrade', 'three')).rejects.toThrow('no box three')
    const back = await head.run('boxes', 'upgrade', 'one', '--from', old, '--unverified')
    const canceled = await head.run('boxes', 'upgrade', '--cancel')

    expect(started).toMatchObject({ version: '9.9.9', status: 'running', boxes: 2 })
    expect(paused.why).toStartWith('On two. The new version did not start: ')
    expect(broken?.upgrade).toMatchObject({ to: '9.9.9', state: 'rolled_back' })
    expect(afterFailure).toEqual(['9.9.9', '9.9.8'])
    expect(upgraded.map(({ version, upgrade }) => [version, upgrade])).toEqual([
      ['9.9.9', null],
      ['9.9.9', null],
    ])
    expect(back).toMatchObject({ version: '9.9.8', boxes: 1 })
    expect(canceled).toMatchObject({ version: '9.9.8', upgraded: 0 })
    expect(audited.length).toBe(2)
    expect(left).toEqual([])
  },
  600_000,
)

async function join(head: Machine, box: Machine, name: string): Promise<void> {
  const { command } = await head.run<{ command: string }>('boxes', 'add', name)
  await box.run(...command.split(' ').slice(1))
}

function linesOnline(head: Machine, ...boxes: readonly string[]): Promise<true> {
  return eventually('the lines are online', async () => {
    const { data } = await head.control.ask('listPhoneLines')
    const online = data.filter(({ status }) => status === 'online').map(({ box }) => box?.name)
    return boxes.every((name) => online.includes(name)) ? true : null
  })
}

async function finding(head: Machine): Promise<HealthFinding | null> {
  const { data } = await head.control.ask('listHealthFindings')
  return data.find(({ code }) => code === 'rollout_paused') ?? null
}

/** Folders of an upgrade that should be gone. */
function leftOf(folder: ScratchFolder): readonly string[] {
  return ['data/rollout', 'data/download'].filter((name) => existsSync(folder.file(name)))
}
