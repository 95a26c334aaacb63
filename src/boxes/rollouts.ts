// Upgrades the boxes of a head, in the order of rollout.ts. The state is one row of the database, so that the
// upgrade goes on after a restart of the head.

import { rmSync } from 'node:fs'
import { join } from 'node:path'

import type * as api from '../api/boxes.ts'
import type { AuditAction, Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import type { BoxId } from '../domain/ids.ts'
import { lineName } from '../domain/line.ts'
import { DAY_MS, SECOND_MS } from '../domain/time.ts'
import type { Audit } from '../storage/audit.ts'
import { findBox, findLiveBox, readRollout, saveRollout } from '../storage/boxes.ts'
import type { Core } from '../storage/core.ts'
import { readTextOrNull } from '../system/files.ts'
import { hashFile } from '../system/hash.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { executableName } from '../system/version.ts'
import { readChunk } from './files.ts'
import { LinkError } from './link.ts'
import {
  advance,
  type BoxView,
  failed,
  orderOf,
  resume,
  type Rollout,
  type Step,
  storedRollout,
  type ViewOf,
} from './rollout.ts'
import type { Answer, Chunk, Request } from './wire.ts'

type BoxOrder = Omit<Request<'upgrade'>, 'epoch'>
/** Orders a box to upgrade; rejects with a LinkError if the box gives no answer. */
export type SendOrder = (box: BoxId, request: BoxOrder) => Promise<Answer<'upgrade'>>

type Entry = Parameters<Audit['record']>[2] & { readonly origin: Origin }

const TICK_MS = 2 * SECOND_MS
const IDLE_MS = DAY_MS

export class Rollouts implements Service {
  readonly name = 'rollout'
  readonly #core: Core
  readonly #folder: string
  readonly #version: string
  readonly #viewOf: ViewOf
  readonly #changed: () => void
  readonly #sendOrder: SendOrder
  readonly #wake = new Signal()
  #rollout: Rollout | null

  constructor(
    core: Core,
    given: {
      /** Folder of the executables, which the owner's command fills. */
      readonly folder: string
      readonly version: string
      readonly viewOf: ViewOf
      /** Called after a change of the rollout. */
      readonly changed: () => void
      readonly order: SendOrder
    },
  ) {
    this.#core = core
    this.#folder = given.folder
    this.#version = given.version
    this.#viewOf = given.viewOf
    this.#changed = given.changed
    this.#sendOrder = given.order
    const stored = storedRollout(readRollout(core.db))
    // The stored times are by the monotonic clock of another process, so each wait begins again.
    const since = core.clock.monotonic()
    const again = (step: Step) => (step.since === null ? step : { ...step, since })
    this.#rollout = stored && { ...stored, steps: stored.steps.map(again) }
  }

  current(): api.Rollout | null {
    return this.#rollout === null ? null : this.#resource()
  }

  async start(request: api.NewRollout, origin: Origin): Promise<api.Rollout> {
    const begun = await this.#begin(request, origin)
    await this.#keep(begun, [entryOf('rollout.started', begun, origin)])
    return this.#resource()
  }

  /** Gives the boxes that failed another turn. */
  async resume(origin: Origin): Promise<api.Rollout> {
    const resumed = resume(this.#require())
    await this.#keep(resumed, [entryOf('rollout.resumed', resumed, origin)])
    return this.#resource()
  }

  /** Ends the rollout: no further box begins. A box that is already installing finishes. */
  async cancel(origin: Origin): Promise<api.Rollout> {
    const canceled = this.#resource()
    await this.#keep(null, [entryOf('rollout.canceled', canceled, origin)])
    return canceled
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#advance()
      const upgrading = this.#rollout?.steps.filter(({ state }) => state === 'upgrading') ?? []
      await Promise.all(upgrading.map((step) => this.#order(step)))
      const pauseMs = this.#rollout === null ? IDLE_MS : TICK_MS
      await this.#wake.wait(this.#core.clock, pauseMs, signal)
    }
  }

  /** The state of a box's upgrade, for the owner: its turn in the rollout, or else what the box reports. */
  upgradeOf(box: BoxId): api.BoxUpgrade | null {
    const said = this.#viewOf(box)?.upgrade
    const rollout = this.#rollout
    const step = rollout?.steps.find((one) => one.box === box && one.state !== 'upgraded')
    if (rollout && step && said?.order !== orderOf(rollout, step)) {
      const hasTurn = step.state !== 'waiting' && step.state !== 'failed'
      const state = hasTurn ? 'installing' : step.state
      return { to: rollout.version, state, problem: step.problem }
    }
    return said ? { to: said.to, state: said.state, problem: said.problem } : null
  }

  /** Reads a piece of an executable for a box that was ordered to upgrade. */
  chunk({ sha256, offset }: Request<'release_file'>): Chunk {
    const file = this.#rollout?.files.find((one) => one.sha256 === sha256)
    return file === undefined
      ? { isMissing: true }
      : readChunk(join(this.#folder, executableName(file.platform)), offset)
  }

  findings(): readonly Finding[] {
    const failure = this.#rollout?.steps.find(({ state }) => state === 'failed')
    if (failure === undefined) return []
    const { version, boxes, upgraded } = this.#resource()
    return [
      {
        code: 'rollout_paused',
        severity: 'warning',
        title: `The upgrade of the boxes to ${version} is paused`,
        why: `${failure.problem} ${upgraded} of ${boxes} boxes are upgraded.`,
        fix: 'Go on with: hookline boxes upgrade --resume. Or end it: hookline boxes upgrade --cancel',
        key: null,
        box: failure.box,
        depends_on: null,
      },
    ]
  }

  async #begin(request: api.NewRollout, origin: Origin): Promise<Rollout> {
    const files = await Promise.all(
      request.platforms.map(async (platform) => {
        const path = join(this.#folder, executableName(platform))
        return { platform, sha256: await hashFile(path), size: Bun.file(path).size }
      }),
    )
    if (this.#rollout !== null) throw refused(UNDER_WAY)
    if (Bun.semver.order(request.version, this.#version) > 0) {
      throw refused(`This relay has ${this.#version}. Upgrade it first: hookline upgrade`)
    }
    return {
      id: String(this.#core.ids.now()),
      version: request.version,
      files,
      sums: readTextOrNull(join(this.#folder, 'SHA256SUMS')) ?? '',
      signature: readTextOrNull(join(this.#folder, 'SHA256SUMS.minisig')),
      isUnverified: request.is_unverified,
      origin,
      steps: request.boxes.map((text) => this.#stepOf(text, request.platforms)),
    }
  }

  #stepOf(text: string, platforms: readonly string[]): Step {
    const box = findLiveBox(this.#core.db, text)
    if (box === null || box.joinedAt === null) throw refused(`There is no box ${text}.`)
    const platform = this.#viewOf(box.id)?.platform ?? box.platform
    if (!platforms.includes(platform ?? '')) {
      throw refused(`The release has no executable for ${box.name} (${platform}).`)
    }
    return {
      box: box.id,
      state: 'waiting',
      orders: 0,
      from: null,
      lines: [],
      since: null,
      problem: null,
    }
  }

  async #advance(): Promise<void> {
    const before = this.#rollout
    if (before === null) return
    const after = advance(before, this.#viewOf, this.#core.clock.monotonic())
    const isOver = after.steps.every(({ state }) => state === 'upgraded')
    if (after === before && !isOver) return
    const upgrading = before.steps.filter(({ state }) => state === 'upgrading')
    const ended = after.steps.filter(
      ({ box, state }) => state === 'upgraded' && upgrading.some((step) => step.box === box),
    )
    const entries = ended.map(({ box, from }): Entry => {
      const about = { kind: 'box', id: box } as const
      const [was, is] = [{ version: from }, { version: before.version }]
      return { action: 'box.upgraded', origin: before.origin, about, before: was, after: is }
    })
    await this.#keep(isOver ? null : after, entries)
  }

  /** Repeats the order until the box has begun to install: a box that downloads learns the head's epoch from it. */
  async #order(step: Step): Promise<void> {
    const rollout = this.#rollout
    const view = this.#viewOf(step.box)
    if (rollout === null || !view?.isReachable || view.version === rollout.version) return
    const order = orderOf(rollout, step)
    const { upgrade } = view
    if (upgrade?.order === order && upgrade.state !== 'downloading') return
    const request = requestOf(rollout, step, view)
    if (request === null) return
    try {
      const answer = await this.#sendOrder(step.box, request)
      if ('refused' in answer) await this.#fail(step, answer.refused)
    } catch (error) {
      if (!(error instanceof LinkError)) throw error
    }
  }

  async #fail(step: Step, problem: string): Promise<void> {
    const rollout = this.#rollout
    if (!rollout?.steps.includes(step)) return
    const steps = rollout.steps.map((one) => (one === step ? failed(step, problem) : one))
    await this.#keep({ ...rollout, steps })
  }

  /** Stores the state and `entries` of the audit. Deletes the executables if no rollout is left. */
  async #keep(rollout: Rollout | null, entries: readonly Entry[] = []): Promise<void> {
    const { writer, audit } = this.#core
    this.#rollout = rollout
    this.#wake.notify()
    await writer.write((tx) => {
      saveRollout(tx, rollout)
      for (const { origin, ...entry } of entries) audit.record(tx, origin, entry)
    })
    this.#changed()
    if (this.#rollout === null) rmSync(this.#folder, { recursive: true, force: true })
  }

  #require(): Rollout {
    if (this.#rollout === null) throw refused('No upgrade of boxes is under way.')
    return this.#rollout
  }

  #resource(): api.Rollout {
    const { version, steps } = this.#require()
    const failure = steps.find(({ state }) => state === 'failed')
    const name = failure && (findBox(this.#core.db, failure.box)?.name ?? failure.box)
    return {
      version,
      status: failure === undefined ? 'running' : 'paused',
      boxes: steps.length,
      upgraded: steps.filter(({ state }) => state === 'upgraded').length,
      problem: failure === undefined ? null : `${name}: ${failure.problem}`,
    }
  }
}

/** Null if the release has no executable for the box's platform, which may have changed since it was chosen. */
function requestOf(rollout: Rollout, step: Step, { platform, lines }: BoxView): BoxOrder | null {
  const file = rollout.files.find((one) => one.platform === platform)
  if (file === undefined) return null
  const { version: to, sums, signature, isUnverified } = rollout
  const { sha256, size } = file
  const online = lines.filter(({ line }) => step.lines.includes(line.id))
  return {
    order: orderOf(rollout, step),
    to,
    name: executableName(file.platform),
    sha256,
    size,
    sums,
    signature,
    isUnverified,
    lines: online.map(({ line }) => ({ kind: line.driver, key: line.key, name: lineName(line) })),
  }
}

const UNDER_WAY = 'An upgrade of boxes is under way. End it first: hookline boxes upgrade --cancel'

function refused(message: string): RelayError {
  return new RelayError('rollout_refused', message)
}

function entryOf(
  action: AuditAction,
  { version }: Pick<Rollout, 'version'>,
  origin: Origin,
): Entry {
  return { action, origin, about: { kind: 'relay', id: null }, after: { version } }
}
