import type { Installed, ServiceState } from '../hosting/service-host.ts'
import { requireDatabase } from '../storage/data.ts'
import { readInstanceHolder } from '../system/instance-lock.ts'
import { VERSION } from '../system/version.ts'
import { EXIT, UsageError, type Command, type CommandOption, type ExitCode } from './command.ts'
import { makeDatabase } from './own-file.ts'
import { openServiceCall, type FindPlace, type ServiceCall } from './service-place.ts'

/** Options of the commands that install. */
export const INSTALL_OPTIONS: readonly CommandOption[] = [
  {
    name: 'codesign-identity',
    value: 'NAME',
    sentence: 'On a Mac, who signs: a Developer ID, or "-" for nobody (permissions are lost then).',
  },
]

const CODESIGN_VARIABLE = 'HOOKLINE_CODESIGN_IDENTITY'

/** `service install`, `service uninstall` and `down`. */
export function serviceCommands(findPlace: FindPlace): readonly Command[] {
  return [
    {
      name: 'down',
      args: [],
      options: [],
      sentence: 'Stop the service; it stays installed, and starts again with the machine.',
      run: (call) => stop(openServiceCall(call, findPlace)),
    },
    {
      name: 'service install',
      args: [],
      options: INSTALL_OPTIONS,
      sentence: 'Have the relay start with the machine, or with your login on a Mac.',
      run: (call) => install(openServiceCall(call, findPlace)),
    },
    {
      name: 'service uninstall',
      args: [],
      options: [],
      sentence: 'Stop the service and remove it; the data stay.',
      run: (call) => uninstall(openServiceCall(call, findPlace)),
    },
  ]
}

/** Installs what this executable is, and says what the owner should know of it. */
export async function installService(service: ServiceCall): Promise<Installed> {
  const { call, host, executable, directory, signal } = service
  if (executable === null) throw new UsageError('A service needs the built executable.')
  const { isInstalled } = await host.state(signal)
  if (isInstalled) requireDatabase(directory)
  else await makeDatabase(call)
  const fromShell = call.surroundings.environment[CODESIGN_VARIABLE] ?? null
  const order = {
    executable,
    dataDir: directory.path,
    version: VERSION,
    codesignIdentity: call.options.get('codesign-identity') ?? (fromShell || null),
  }
  const installed = await host.install(order, signal)
  for (const sentence of [...installed.warnings, ...leftBehind(service)]) call.out.note(sentence)
  return installed
}

/** The relay that runs and is not the service's: its process, or null. */
export async function foreignRelay(
  { client, directory }: ServiceCall,
  state: ServiceState,
): Promise<number | null> {
  if (!(await client.isThere())) return null
  const pid = readInstanceHolder(directory.lock)?.pid ?? null
  const isOurs = state.pid === null ? state.activity === 'running' : state.pid === pid
  return isOurs ? null : pid
}

async function install(service: ServiceCall): Promise<ExitCode> {
  const { call, host } = service
  const { isChanged } = await installService(service)
  call.out.data({ installed: true, changed: isChanged }, [
    isChanged ? `Installed as a ${host.name}.` : `It is installed already, as a ${host.name}.`,
  ])
  call.out.note('Start it, or bring it up to date: hookline up')
  return EXIT.ok
}

async function uninstall({ call, host, directory, signal }: ServiceCall): Promise<ExitCode> {
  const { isInstalled } = await host.state(signal)
  await host.uninstall(directory.path, signal)
  call.out.data({ installed: false, changed: isInstalled }, [
    isInstalled ? 'The service is removed.' : 'There was no service.',
  ])
  call.out.note(`The data stay in ${directory.path}.`)
  return EXIT.ok
}

async function stop(service: ServiceCall): Promise<ExitCode> {
  const { call, host, signal } = service
  const state = await host.state(signal)
  const foreign = await foreignRelay(service, state)
  if (state.activity !== 'stopped') await host.stop(signal)
  if (foreign !== null) {
    call.out.problem(`A relay runs in the foreground (process ${foreign}): press Ctrl-C there.`)
    return EXIT.failed
  }
  const wasRunning = state.activity !== 'stopped'
  call.out.data({ running: false, changed: wasRunning }, [
    wasRunning ? 'The relay has stopped.' : 'No service is running.',
  ])
  if (wasRunning) {
    call.out.note('It starts again with the machine, or by: hookline up')
    call.out.note('To keep it off: hookline service uninstall')
  }
  return EXIT.ok
}

/** Options that are set in this shell, which the service will never see. */
function leftBehind({ call, directory }: ServiceCall): readonly string[] {
  const fromShell = call
    .loadConfig()
    .rows.filter(({ name, from }) => name !== 'data-dir' && from.startsWith('HOOKLINE_'))
  return fromShell.map(
    ({ from }) =>
      `${from} is set in this shell only. For the service, write it into ${directory.environmentFile}`,
  )
}
