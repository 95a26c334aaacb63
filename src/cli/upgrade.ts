import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { arch } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

import { readInstallation } from '../hosting/installation.ts'
import type { Machine } from '../hosting/machine.ts'
import type { ServiceState } from '../hosting/service-host.ts'
import { watchStartup } from '../hosting/startup-check.ts'
import { HostingError } from '../hosting/system-tool.ts'
import { PACKAGED_UNIT } from '../hosting/systemd.ts'
import { newestRelease, type Release } from '../hosting/update-check.ts'
import { RELEASE_KEY } from '../hosting/upgrade-executable.ts'
import { trialPath, upgrade } from '../hosting/upgrade.ts'
import {
  UPGRADE_STEPS,
  type RelayState,
  type UpgradeResult,
  type UpgradedMachine,
  type UpgradedService,
} from '../hosting/upgraded-machine.ts'
import { tryMigrations } from '../storage/integrity.ts'
import { NEVER } from '../system/clock.ts'
import { isOfBox, openDataDirectory, type DataDirectory } from '../system/data-directory.ts'
import { takeInstanceLock } from '../system/instance-lock.ts'
import { systemLookup } from '../system/network-address.ts'
import { VERSION } from '../system/version.ts'
import { createDownload, createFetchText } from '../webhooks/network.ts'
import { EXIT, NoRelayError, UsageError, argument, type Call, type ExitCode } from './command.ts'
import { settingText } from './config.ts'
import type { ControlClient } from './control-client.ts'
import { askRelay } from './own-file.ts'
import { type ServiceCall, refuseForeground } from './service.ts'

export async function checkMigrations(call: Call): Promise<undefined> {
  const file = resolve(call.surroundings.folder, argument(call, 0))
  const { from, to } = tryMigrations(file, trialPath(file), VERSION)
  call.out.data({ from_schema: from, to_schema: to }, [`schema ${from} becomes ${to}`])
}

export async function checkUpdate(call: Call): Promise<ExitCode> {
  const state = await askRelay(call, 'checkUpdate')
  const { version, latest, fix, problem } = state
  if (problem === null) {
    call.out.data(state, [
      fix === null
        ? `Hookline ${version} is up to date.`
        : `Hookline ${latest} is available. ${fix}`,
    ])
    return EXIT.ok
  }
  call.out.data(state, [])
  call.out.problem(problem)
  return EXIT.failed
}

export async function runUpgrade(service: ServiceCall): Promise<ExitCode> {
  const { call } = service
  const from = call.options.get('from')
  if (from !== undefined) return upgradeTo(service, resolve(call.surroundings.folder, from))
  const source = await releaseSource(call, 'hookline upgrade --from FILE')
  const { download, fetchText } = downloadOf(service.machine)
  const release = await newestRelease(source, RELEASE_KEY, fetchText)
  if (!release.isNewer) {
    const { version: latest } = release
    call.out.data({ version: VERSION, latest }, [`Hookline ${VERSION} is up to date.`])
    return EXIT.ok
  }
  if (isAbsolute(source)) return upgradeTo(service, release.file.place)
  const folder = join(openDataDirectory(service.directory.path).path, 'download')
  try {
    return await upgradeTo(service, await fetchRelease(call, { release, download, folder }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The configured source of releases. Throws a UsageError if there is none. */
export async function releaseSource(call: Call, usage: string): Promise<string> {
  const source = await settingText(call, 'release_source')
  if (source === 'none') throw new UsageError(`Usage: ${usage}. ${NO_FILE}`)
  return source
}

export function downloadOf(machine: Machine) {
  // The owner chose the source, so it may be on the private network.
  const rules = { policy: () => 'any-private' as const, isOwnListener: () => false }
  const download = createDownload({ lookup: systemLookup, rules, ...machine }, DOWNLOAD_MS_MAX)
  return { download, fetchText: createFetchText(download) }
}

const NO_FILE =
  'release_source is empty. In a clone: git pull && ./scripts/install. ' +
  'Where releases are published: hookline config set release_source URL'
/** Enough for a hundred megabytes over a slow connection. */
const DOWNLOAD_MS_MAX = 1_800_000

/** Downloads the executable of `release` and its signed sums into `folder`; returns the executable's path. */
async function fetchRelease(
  { out }: Call,
  order: {
    readonly release: Release
    readonly download: ReturnType<typeof createDownload>
    readonly folder: string
  },
): Promise<string> {
  const { folder, download, release } = order
  const { name, place } = release.file
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [beside, text] of Object.entries(release.beside))
    await Bun.write(join(folder, beside), text)
  const file = join(folder, name)
  const work = download(place, (response) => Bun.write(file, response))
  const found = await out.during(`Downloading ${name}`, work)
  if ('why' in found) throw new HostingError(`${place} cannot be downloaded. ${found.why}`)
  return file
}

/** The way to upgrade an executable that a package manager installed; null for any other. */
function packageProblem(executable: string): string | null {
  if (executable.includes('/Cellar/')) {
    return 'Homebrew installed this executable. Run: brew upgrade hookline && hookline up'
  }
  if (executable !== '/usr/bin/hookline' || !existsSync(PACKAGED_UNIT)) return null
  return 'A package brought this executable. Install the next one: sudo apt install ./FILE.deb'
}

async function upgradeTo(service: ServiceCall, file: string): Promise<ExitCode> {
  const { call, machine } = service
  const directory = openDataDirectory(service.directory.path)
  const hosted = await hostedService(service)
  const refused = hosted === null ? null : await refuseForeground(service, hosted.state)
  if (refused !== null) return refused
  const executable = hosted?.executable ?? ownTarget(service)
  const packaged = packageProblem(executable)
  if (packaged !== null) return printResult(call, { outcome: 'refused', why: packaged })
  const isUnverified = call.options.has('unverified')
  const { signal } = service
  const order = { file, executable, isUnverified, releaseKey: RELEASE_KEY, signal }
  const upgraded = upgradedMachine(service, directory, hosted)
  const watch = watchStartup(directory, machine.clock.now())
  try {
    const steps = upgrade(upgraded, order)
    for (;;) {
      const { done, value } = await steps.next()
      if (done === true) return printResult(call, value)
      call.out.note(UPGRADE_STEPS[value])
    }
  } finally {
    watch.release()
  }
}

type Hosted = UpgradedService & {
  /** The file that the service runs, or is made from. */
  readonly executable: string
  readonly state: ServiceState
}

async function hostedService(service: ServiceCall): Promise<Hosted | null> {
  const { host, directory, signal } = service
  const installation = readInstallation(directory.path)
  if (installation === null) return null
  const state = await host.state(signal)
  if (!state.isInstalled) return null
  const executable = realpathSync(installation.source.path)
  const dataDir = directory.path
  return {
    executable,
    state,
    async start(version) {
      await host.install({ executable, dataDir, version, codesignIdentity: null }, NEVER)
      await host.start(NEVER)
    },
    stop: () => host.stop(NEVER),
  }
}

/** The path to replace. If the kept previous version runs the command, that is the current version's path. */
function ownTarget({ executable }: ServiceCall): string {
  if (executable === null) throw new UsageError('An upgrade needs the built executable.')
  return executable.replace(/\.previous$/, '')
}

function upgradedMachine(
  { machine, client }: ServiceCall,
  directory: DataDirectory,
  service: UpgradedService | null,
): UpgradedMachine {
  const { clock, run, platform } = machine
  return {
    clock,
    run,
    directory,
    service,
    readyMs: isOfBox(directory) ? BOX_READY_MS : READY_MS,
    relay: {
      state: () => stateOf(client),
      async confirmHealthy() {
        await client.ask('confirmUpgrade', { timeoutMs: CONFIRM_TIMEOUT_MS })
      },
    },
    isSignedHere: platform === 'darwin' && arch() === 'x64',
    holdData: () =>
      takeInstanceLock(directory.lock, { task: 'upgrade', address: null, since: clock.now() }),
  }
}

const READY_MS = 60_000
/** A box also connects to its head and brings its lines online. */
const BOX_READY_MS = 120_000
const CONFIRM_TIMEOUT_MS = 5_000

/** A relay that does not answer in time counts as starting. */
async function stateOf(client: ControlClient): Promise<RelayState> {
  try {
    const { http, reason: why } = await client.probe('/readyz')
    if (http === 200) return { is: 'ready' }
    const { status, reason = '' } = await client.probe('/healthz')
    return status === 'safe_mode' ? { is: 'safe_mode', reason } : { is: 'starting', why }
  } catch (error) {
    return { is: error instanceof NoRelayError ? 'absent' : 'starting' }
  }
}

function printResult({ out }: Call, result: UpgradeResult): ExitCode {
  switch (result.outcome) {
    case 'upgraded':
      out.data(result, [
        `Hookline ${result.to} is installed. The old version is kept as ${result.previous}.`,
      ])
      if (result.from !== null && Bun.semver.order(result.to, result.from) < 0) {
        out.note(`This is a downgrade from ${result.from}.`)
      }
      if (!result.isRunning) out.note('Start it: hookline serve')
      return EXIT.ok
    case 'refused':
      out.data(result, [])
      out.problem(`Nothing was changed. ${result.why}`)
      return EXIT.failed
    case 'rolled_back':
      out.data(
        result,
        result.aside === null ? [] : [`The migrated database was moved to ${result.aside}.`],
      )
      out.problem(`Rolled back to the old version. ${result.why}`)
      if (result.trouble !== null)
        out.problem(`The old version does not start either: ${result.trouble}`)
      return EXIT.failed
    case 'stuck':
      out.data(result, [])
      out.problem(`${result.why} Rolling back is not possible: ${result.noWayBack}`)
      out.problem('Check it with hookline status. Backups to restore: hookline backups.')
      return EXIT.failed
  }
}
