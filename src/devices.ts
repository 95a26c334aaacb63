// The devices of a relay or box: this machine's line kinds, and for a relay its boxes.

import { homedir, hostname, platform } from 'node:os'
import { join } from 'node:path'

import { brokerUsersOf } from './boxes/admin.ts'
import { createHeadBroker } from './boxes/head-broker.ts'
import { Boxes } from './boxes/head.ts'
import type { Config } from './config.ts'
import type { BoxId } from './domain/ids.ts'
import { boxFindings, groupedByBox, numberTwiceFindings } from './health/box-findings.ts'
import { ofRelay } from './health/catalogue.ts'
import { LINE_KINDS } from './lines/kinds.ts'
import { createKinds, type CreatedKinds, type KindHost, type LineKind } from './lines/line-kind.ts'
import type { LineSnapshot } from './lines/line-state.ts'
import type { Outside, Runtime } from './runtime.ts'
import { listLiveBridges } from './storage/credentials.ts'
import type { DataDirectory } from './system/data-directory.ts'
import {
  findTool,
  ownIds,
  processRunner,
  startProcess,
  startReadProcess,
} from './system/process.ts'
import { VERSION } from './system/version.ts'

type ProcessServices = 'clock' | 'relayClock' | 'random' | 'log' | 'restart' | 'callers'

/** Creates this machine's line kinds, with the clock, log and callers of the relay or box in this process. */
export function createLineKinds(
  config: Config,
  {
    directory,
    ...services
  }: Pick<KindHost, ProcessServices> & { readonly directory: Pick<DataDirectory, 'path'> },
  given: Omit<Parameters<typeof createKinds>[1], 'kinds' | 'options'> & {
    readonly kinds?: readonly LineKind[] | undefined
  },
): CreatedKinds {
  const host: KindHost = {
    ...services,
    run: processRunner(services.clock),
    start: startProcess,
    startRead: startReadProcess,
    self: ownIds(),
    platform: platform(),
    homeFolder: homedir(),
    pathOf: (name) => join(directory.path, name),
  }
  const { kinds = LINE_KINDS, lines, drivers } = given
  return createKinds(host, { kinds, options: config, lines, drivers })
}

export function createDevices(
  runtime: Runtime,
  given: {
    readonly config: Config
    readonly parts: Partial<Outside>
    readonly lines: () => readonly LineSnapshot[]
  },
) {
  const { core, directory, health } = runtime
  const { config, parts, lines } = given
  const { wallClock: clock, random, log } = runtime
  const { restart = null } = parts
  const callers = () => listLiveBridges(core.db)
  const kinds = createLineKinds(
    config,
    { directory, clock, relayClock: core.clock, random, log, restart, callers },
    {
      lines: () => lines().map(({ line }) => line),
      kinds: parts.kinds,
      drivers: parts.drivers,
    },
  )
  const run = processRunner(clock)
  const start = startReadProcess
  const machine = { clock, random, log, run, start, findTool, platform: platform() }
  const users = () => brokerUsersOf(core.db, core.clock.now())
  const broker = parts.broker ?? createHeadBroker(config, { machine, directory, users })
  const boxes = new Boxes(core, {
    healthSignal: runtime.healthSignal,
    metrics: runtime.metrics,
    broker,
    name: hostname(),
    version: VERSION,
    folder: join(directory.path, 'box-files'),
    releases: join(directory.path, 'rollout'),
    lines,
    store: runtime.store,
    drivers: kinds.drivers,
    deviceKinds: kinds.deviceKinds,
  })
  const nameOf = (box: BoxId) => boxes.nameOf(box)
  health.include(async () => {
    const found = broker.findings()
    return [
      ...found.map(ofRelay),
      ...groupedByBox(boxes.rollouts.findings().map(ofRelay), nameOf),
      ...boxFindings(boxes.watched(), found[0]?.code ?? null),
      ...numberTwiceFindings(lines(), nameOf),
    ]
  })
  return { kinds, boxes, services: [...kinds.services, ...boxes.services] }
}
