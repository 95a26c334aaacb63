import { homedir, platform, userInfo } from 'node:os'

import { createServiceHost, type Machine } from '../hosting/create-service-host.ts'
import type { ServiceHost } from '../hosting/service-host.ts'
import { systemClock } from '../system/clock.ts'
import { dataDirectoryAt, type DataDirectory } from '../system/data-directory.ts'
import { ownExecutable } from '../system/own-executable.ts'
import { stopSignal } from '../system/own-process.ts'
import { processRunner } from '../system/process.ts'
import { systemRandom } from '../system/random.ts'
import type { Call } from './command.ts'
import { ControlClient } from './control-client.ts'

/** Where the commands of the service act. */
export type ServicePlace = {
  readonly machine: Machine
  /** The path of this executable; null where the sources run. */
  readonly executable: string | null
  /** Ctrl-C: what is under way is brought to an orderly end. */
  readonly signal: AbortSignal
}

export type FindPlace = (call: Call) => ServicePlace

/** The real machine. */
export function thisMachine(call: Call): ServicePlace {
  const { environment } = call.surroundings
  const { uid, username: userName } = userInfo()
  const machine = {
    run: processRunner(systemClock),
    clock: systemClock,
    random: systemRandom,
    platform: platform(),
    home: environment['HOME'] ?? homedir(),
    uid,
    userName,
    environment,
  }
  return { machine, executable: ownExecutable(), signal: stopSignal() }
}

/** What every command of the service needs. */
export type ServiceCall = ServicePlace & {
  readonly call: Call
  readonly host: ServiceHost
  readonly directory: DataDirectory
  readonly client: ControlClient
}

export function openServiceCall(call: Call, findPlace: FindPlace): ServiceCall {
  const place = findPlace(call)
  const directory = dataDirectoryAt(call.loadConfig().config.dataDir)
  const client = new ControlClient(directory.controlSocket)
  return { ...place, call, host: createServiceHost(place.machine), directory, client }
}
