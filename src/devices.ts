// The devices of a relay or of a box: the kinds of lines of this machine, and for a relay the boxes as well.

import { homedir, hostname, platform } from 'node:os'
import { join } from 'node:path'

import { createHeadBroker } from './boxes/head-broker.ts'
import { createBoxes } from './boxes/head.ts'
import type { Config } from './config.ts'
import { boxFindings, groupedByBox, numberTwiceFindings } from './health/box-findings.ts'
import { ofRelay } from './health/catalogue.ts'
import { LINE_KINDS } from './lines/kinds.ts'
import { createKinds, type CreatedKinds, type KindTools, type LineKind } from './lines/line-kind.ts'
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

type Given = Pick<KindTools, 'clock' | 'relayClock' | 'random' | 'log' | 'restart' | 'callers'> &
  Pick<Parameters<typeof createKinds>[2], 'lines' | 'drivers'> & {
    readonly kinds?: readonly LineKind[] | undefined
    readonly directory: Pick<DataDirectory, 'path'>
  }

/** The kinds of lines, with all that they need of this machine. */
export function createLineKinds(config: Config, given: Given): CreatedKinds {
  const { kinds = LINE_KINDS, directory, ...tools } = given
  return createKinds(kinds, config, {
    ...tools,
    run: processRunner(tools.clock),
    start: startProcess,
    startRead: startReadProcess,
    self: ownIds(),
    platform: platform(),
    homeFolder: homedir(),
    pathOf: (name) => join(directory.path, name),
  })
}

type Start = {
  readonly config: Config
  readonly parts: Partial<Outside>
  /** The lines of now. */
  readonly listed: () => readonly LineSnapshot[]
}

/** All devices of a relay: kinds of lines and boxes, with their findings. */
export function createDevices(runtime: Runtime, { config, parts, listed }: Start) {
  const { wallClock: clock, clock: relayClock, random, log, directory, health, db } = runtime
  const kinds = createLineKinds(config, {
    ...runtime,
    clock,
    relayClock,
    restart: parts.restart ?? null,
    callers: () => listLiveBridges(db),
    kinds: parts.kinds,
    drivers: parts.drivers,
    lines: () => listed().map(({ line }) => line),
  })
  const start = { run: processRunner(clock), start: startReadProcess, findTool }
  const outside = { ...start, clock, random, log, platform: platform() }
  const options = { ...config, dataDir: directory.path }
  const boxes = createBoxes({
    ...runtime,
    ...kinds,
    version: VERSION,
    name: hostname(),
    folder: join(directory.path, 'box-files'),
    releases: join(directory.path, 'rollout'),
    lines: listed,
    createBroker: (users) => parts.broker ?? createHeadBroker(options, outside, users),
  })
  health.include(async () => {
    const broker = boxes.findings()
    return [
      ...broker.map(ofRelay),
      ...groupedByBox(boxes.rollouts.findings().map(ofRelay), (box) => boxes.nameOf(box)),
      ...boxFindings(boxes.watched(), broker[0]?.code ?? null),
      ...numberTwiceFindings(listed(), (box) => boxes.nameOf(box)),
    ]
  })
  return { kinds, boxes, services: [...kinds.services, ...boxes.services] }
}
