// The devices of a relay or of a box: the kinds of lines of this machine, and for a relay the boxes as well.

import { homedir, hostname, platform } from 'node:os'
import { join } from 'node:path'

import { createHeadBroker } from './boxes/head-broker.ts'
import { createBoxes, type Boxes } from './boxes/head.ts'
import type { Config } from './config.ts'
import { boxFindings, numberTwiceFindings } from './health/box-findings.ts'
import { ofRelay } from './health/catalogue.ts'
import { LINE_KINDS } from './lines/kinds.ts'
import { createKinds, type CreatedKinds, type KindTools, type LineKind } from './lines/line-kind.ts'
import type { LineSnapshot } from './lines/line-state.ts'
import type { Parts, Runtime } from './runtime.ts'
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

/** Boxes of a relay, with their findings. */
export function createBoxModule(
  runtime: Runtime,
  config: Config,
  {
    kinds,
    parts,
    lines,
  }: {
    readonly kinds: CreatedKinds
    readonly parts: Partial<Parts>
    readonly lines: () => readonly LineSnapshot[]
  },
): Boxes {
  const { wallClock: clock, random, log, directory, health } = runtime
  const run = processRunner(clock)
  const outside = { clock, random, log, run, start: startReadProcess, platform: platform() }
  const options = { ...config, dataDir: directory.path }
  const boxes = createBoxes({
    ...runtime,
    ...kinds,
    version: VERSION,
    name: hostname(),
    folder: join(directory.path, 'box-files'),
    releases: join(directory.path, 'rollout'),
    lines,
    createBroker: (users) =>
      parts.broker ?? createHeadBroker(options, { ...outside, findTool }, users),
  })
  health.include(async () => {
    const broker = boxes.findings()
    return [
      ...broker.map(ofRelay),
      ...boxes.rollouts.findings().map(ofRelay),
      ...boxFindings(boxes.watched(), broker[0]?.code ?? null),
      ...numberTwiceFindings(lines(), boxes.nameOf),
    ]
  })
  return boxes
}
