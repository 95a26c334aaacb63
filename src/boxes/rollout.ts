// The upgrade of the boxes from their head: one box, then tenths of them, each batch once the one before is back
// with its lines. The first failure pauses it. Its state is one row: after a restart of the head it goes on.

import { rmSync } from 'node:fs'
import { join } from 'node:path'

import type * as api from '../api/boxes.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import type { BoxId, LineId } from '../domain/ids.ts'
import { lineName, type Line } from '../domain/line.ts'
import { MINUTE_MS, SECOND_MS } from '../domain/time.ts'
import type { Audit } from '../storage/audit.ts'
import { findBox, findLiveBox, readRollout, saveRollout } from '../storage/boxes.ts'
import type { Db } from '../storage/database.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { readTextOrNull } from '../system/files.ts'
import { hashFile } from '../system/hash.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { readChunk } from './files.ts'
import { LinkError } from './link.ts'
import type { Answer, Chunk, Hello, Request } from './wire.ts'

/** Executable of one platform, in the folder of the rollout. */
type ReleaseFile = {
  readonly name: string
  /** As `linux-x64`. */
  readonly platform: string
  readonly sha256: string
  readonly size: number
}

type Step = {
  readonly box: BoxId
  readonly state: 'waiting' | 'upgrading' | 'upgraded' | 'failed'
  /** Orders so far: the last one is that of a box that is upgrading. */
  readonly orders: number
  /** Version that it had, and its lines that were online, when it was ordered to upgrade. */
  readonly from: string | null
  readonly lines: readonly LineId[]
  /** Monotonic time of its order, or when it was first passed over; null for neither. */
  readonly since: number | null
  readonly problem: string | null
}

export type Rollout = {
  readonly id: string
  readonly version: string
  readonly files: readonly ReleaseFile[]
  readonly sums: string
  readonly signature: string | null
  readonly isUnverified: boolean
  readonly origin: Origin
  readonly steps: readonly Step[]
}

export type BoxView = {
  readonly isReachable: boolean
  readonly version: string | null
  readonly platform: string | null
  /** What the box says of an upgrade. */
  readonly upgrade: Hello['upgrade'] | null
  /** Its lines that are turned on. */
  readonly lines: readonly {
    readonly line: Pick<Line, 'id' | 'driver' | 'key' | 'label' | 'number'>
    readonly isOnline: boolean
  }[]
}

/** Null for a box that was removed. */
export type ViewOf = (box: BoxId) => BoxView | null

/** Time for an upgrade, and for a box that is away to be back for its turn. */
const PATIENCE_MS = 30 * MINUTE_MS
const BATCHES = 10

/** The rollout a moment later; the same object where nothing changes. */
export function advance(rollout: Rollout, viewOf: ViewOf, now: number): Rollout {
  const watched = rollout.steps.flatMap((step) => {
    const view = viewOf(step.box)
    // A failure stays until the owner says how to go on.
    if (view === null) return step.state === 'failed' ? [step] : []
    return [watch(step, view, { rollout, now })]
  })
  const isBusy = watched.some(({ state }) => state === 'upgrading' || state === 'failed')
  const steps = isBusy ? watched : startBatch(watched, viewOf, now)
  const isSame =
    steps.length === rollout.steps.length && steps.every((step, at) => step === rollout.steps[at])
  return isSame ? rollout : { ...rollout, steps }
}

function watch(
  step: Step,
  view: BoxView,
  { rollout, now }: { readonly rollout: Rollout; readonly now: number },
): Step {
  if (step.state === 'upgraded' || step.state === 'failed') return step
  const offline = view.lines.filter(
    ({ line, isOnline }) => step.lines.includes(line.id) && !isOnline,
  )
  const hasVersion = view.isReachable && view.version === rollout.version
  const { upgrade } = view
  // Until the box says that it is done, it may go back.
  const isInstalling = upgrade?.state === 'downloading' || upgrade?.state === 'installing'
  if (hasVersion && !isInstalling && offline.length === 0) return { ...step, state: 'upgraded' }
  const isOfOrder = step.state === 'upgrading' && upgrade?.order === orderOf(rollout, step)
  if (isOfOrder && (upgrade.state === 'failed' || upgrade.state === 'rolled_back')) {
    return failed(step, upgrade.problem ?? 'It does not say why.')
  }
  if (step.state === 'waiting' && view.isReachable) {
    return step.since === null ? step : { ...step, since: null }
  }
  if (step.since === null || now - step.since < PATIENCE_MS) return step
  if (!view.isReachable) return failed(step, 'It has not been reached for 30 minutes.')
  const names = offline.map(({ line }) => lineName(line)).join(', ')
  return failed(
    step,
    hasVersion && names !== ''
      ? `It has the new version, and is offline with ${names}.`
      : 'It was not done within 30 minutes.',
  )
}

/** The first one alone, then a tenth at a time. A box that is away has its turn once it is back. */
function startBatch(steps: readonly Step[], viewOf: ViewOf, now: number): readonly Step[] {
  const isProven = steps.some(({ state }) => state === 'upgraded')
  let places = isProven ? Math.ceil(steps.length / BATCHES) : 1
  return steps.map((step) => {
    const view = viewOf(step.box)
    if (step.state !== 'waiting' || view === null || places === 0) return step
    if (!view.isReachable) return step.since === null ? { ...step, since: now } : step
    places -= 1
    const lines = view.lines.flatMap(({ line, isOnline }) => (isOnline ? [line.id] : []))
    const started = { state: 'upgrading', orders: step.orders + 1, since: now } as const
    return { ...step, ...started, lines, from: view.version }
  })
}

/** Boxes that failed have another turn. */
export function resume(rollout: Rollout): Rollout {
  const steps = rollout.steps.map((step) =>
    step.state === 'failed'
      ? ({ ...step, state: 'waiting', since: null, problem: null } as const)
      : step,
  )
  return { ...rollout, steps }
}

function failed(step: Step, problem: string): Step {
  return { ...step, state: 'failed', problem }
}

/** The same each time that it is asked: a box takes an order once. */
function orderOf({ id }: Rollout, { orders }: Step): string {
  return `${id}.${orders}`
}

export type RolloutTools = {
  readonly db: Db
  readonly writer: Writer
  readonly clock: Clock
  readonly stamps: LogicalClock
  readonly audit: Pick<Audit, 'record'>
  /** Folder of the executables, which the owner's command fills. */
  readonly folder: string
  /** Version of this head. */
  readonly version: string
  readonly viewOf: ViewOf
  /** Called after a change of the rollout. */
  readonly changed: () => void
  /** Rejects with a LinkError where the box gives no answer. */
  readonly order: (
    box: BoxId,
    request: Omit<Request<'upgrade'>, 'epoch'>,
  ) => Promise<Answer<'upgrade'>>
}

export type RolloutActions = {
  current(): api.Rollout | null
  start(wish: api.NewRollout, origin: Origin): Promise<api.Rollout>
  /** Gives the boxes that failed another turn. */
  resume(): Promise<api.Rollout>
  /** No further box begins; one that has begun to install goes on. */
  cancel(): Promise<api.Rollout>
}

const TICK_MS = 2 * SECOND_MS
const IDLE_MS = MINUTE_MS

/** The rollout of a head: there is one at a time. */
export class Rollouts implements Service {
  readonly name = 'rollout'
  readonly #tools: RolloutTools
  readonly #news = new Signal()
  #rollout: Rollout | null

  constructor(tools: RolloutTools) {
    this.#tools = tools
    const stored = readRollout(tools.db) as Rollout | null // `#keep` stored it.
    const now = tools.clock.monotonic()
    // The clock of another process: each wait begins anew.
    const steps = stored?.steps.map((step) =>
      step.since === null ? step : { ...step, since: now },
    )
    this.#rollout = stored && { ...stored, steps: steps ?? [] }
  }

  readonly actions: RolloutActions = {
    current: () => (this.#rollout === null ? null : this.#resource()),
    start: async (wish, origin) => {
      await this.#start(wish, origin)
      return this.#resource()
    },
    resume: async () => {
      await this.#keep(resume(this.#require()))
      return this.#resource()
    },
    cancel: async () => {
      const canceled = this.#resource()
      await this.#keep(null)
      return canceled
    },
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#advance()
      await Promise.all((this.#rollout?.steps ?? []).map((step) => this.#order(step)))
      const pauseMs = this.#rollout === null ? IDLE_MS : TICK_MS
      await this.#news.wait(this.#tools.clock, pauseMs, signal)
    }
  }

  /** For the owner: its turn in the rollout, and what the box says itself. */
  upgradeOf(box: BoxId): api.BoxUpgrade | null {
    const said = this.#tools.viewOf(box)?.upgrade
    const own = said ? { to: said.to, state: said.state, problem: said.problem } : null
    const rollout = this.#rollout
    const step = rollout?.steps.find((one) => one.box === box)
    if (rollout === null || step === undefined || step.state === 'upgraded') return own
    if (said?.order === orderOf(rollout, step)) return own
    const { state, problem } = step
    return { to: rollout.version, state: state === 'upgrading' ? 'installing' : state, problem }
  }

  /** A part of an executable, for a box that was ordered to upgrade. */
  chunk({ sha256, offset }: Request<'release_file'>): Chunk {
    const file = this.#rollout?.files.find((one) => one.sha256 === sha256)
    if (file === undefined) return { isMissing: true }
    return readChunk(join(this.#tools.folder, file.name), offset)
  }

  findings(): readonly Finding[] {
    const rollout = this.actions.current()
    if (!rollout?.problem) return []
    const { version, problem, boxes, upgraded } = rollout
    return [
      {
        code: 'rollout_paused',
        severity: 'warning',
        title: `The upgrade of the boxes to ${version} is paused`,
        why: `${problem.box}: ${problem.why} ${upgraded} of ${boxes} boxes are upgraded.`,
        fix: 'Go on with: hookline boxes upgrade --resume. Or end it: hookline boxes upgrade --cancel',
        key: null,
        depends_on: null,
      },
    ]
  }

  async #start(wish: api.NewRollout, origin: Origin): Promise<void> {
    const { db, stamps, folder, version } = this.#tools
    if (this.#rollout !== null) throw refused(UNDER_WAY)
    if (Bun.semver.order(wish.version, version) > 0) {
      throw refused(`This relay has ${version}. Upgrade it first: hookline upgrade`)
    }
    const files = await Promise.all(wish.files.map((file) => this.#fileOf(file)))
    const steps = wish.boxes.map((text): Step => {
      const box = findLiveBox(db, text)
      if (box === null || box.joinedAt === null) throw refused(`There is no box ${text}.`)
      const platform = this.#tools.viewOf(box.id)?.platform ?? box.platform
      if (!files.some((file) => file.platform === platform)) {
        throw refused(`The release has no executable for ${box.name} (${platform}).`)
      }
      const fresh = { state: 'waiting', orders: 0, from: null, lines: [], since: null } as const
      return { box: box.id, ...fresh, problem: null }
    })
    if (this.#rollout !== null) throw refused(UNDER_WAY)
    const sums = readTextOrNull(join(folder, 'SHA256SUMS')) ?? ''
    const signature = readTextOrNull(join(folder, 'SHA256SUMS.minisig'))
    const { version: to, is_unverified: isUnverified } = wish
    const release = { version: to, files, sums, signature, isUnverified }
    await this.#keep({ id: String(stamps.now()), ...release, origin, steps })
  }

  async #fileOf({ name, platform }: api.NewRollout['files'][number]): Promise<ReleaseFile> {
    const path = join(this.#tools.folder, name)
    const file = Bun.file(path)
    if (!(await file.exists())) throw refused(`${path} is missing.`)
    return { name, platform, sha256: await hashFile(path), size: file.size }
  }

  async #advance(): Promise<void> {
    const before = this.#rollout
    if (before === null) return
    const after = advance(before, this.#tools.viewOf, this.#tools.clock.monotonic())
    const isOver = after.steps.every(({ state }) => state === 'upgraded')
    if (after === before && !isOver) return
    const ended = after.steps.filter(
      ({ box, state }) =>
        state === 'upgraded' &&
        before.steps.some((step) => step.box === box && step.state === 'upgrading'),
    )
    await this.#keep(isOver ? null : after, ended)
  }

  /** Asks a box that is upgrading and does not say so yet; repeated until it does. */
  async #order(step: Step): Promise<void> {
    const rollout = this.#rollout
    if (rollout === null || step.state !== 'upgrading') return
    const view = this.#tools.viewOf(step.box)
    const order = orderOf(rollout, step)
    if (!view?.isReachable || view.version === rollout.version) return
    if (view.upgrade?.order === order && view.upgrade.state !== 'downloading') return
    const file = rollout.files.find(({ platform }) => platform === view.platform)
    if (file === undefined) return
    const lines = view.lines
      .filter(({ line }) => step.lines.includes(line.id))
      .map(({ line: { driver: kind, key, label, number } }) => ({
        kind,
        key,
        name: lineName({ label, number }),
      }))
    const { version: to, sums, signature, isUnverified } = rollout
    const { name, sha256, size } = file
    const request = { order, to, name, sha256, size, sums, signature, isUnverified, lines }
    try {
      const answer = await this.#tools.order(step.box, request)
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

  /** Stores the state; the executables go with the last of it. */
  async #keep(rollout: Rollout | null, ended: readonly Step[] = []): Promise<void> {
    const { writer, audit, folder, changed } = this.#tools
    const { origin, version } = rollout ?? this.#require()
    this.#rollout = rollout
    this.#news.notify()
    await writer.write((tx) => {
      saveRollout(tx, rollout)
      for (const { box, from } of ended) {
        const about = { kind: 'box', id: box } as const
        const [before, after] = [{ version: from }, { version }]
        audit.record(tx, origin, { action: 'box.upgraded', about, before, after })
      }
    })
    changed()
    if (this.#rollout === null) rmSync(folder, { recursive: true, force: true })
  }

  #require(): Rollout {
    if (this.#rollout === null) throw refused('No upgrade of boxes is under way.')
    return this.#rollout
  }

  #resource(): api.Rollout {
    const { version, steps } = this.#require()
    const failure = steps.find(({ state }) => state === 'failed')
    const problem = failure && { box: this.#nameOf(failure.box), why: failure.problem ?? '' }
    return {
      version,
      status: failure === undefined ? 'running' : 'paused',
      boxes: steps.length,
      upgraded: steps.filter(({ state }) => state === 'upgraded').length,
      problem: problem ?? null,
    }
  }

  #nameOf(box: BoxId): string {
    return findBox(this.#tools.db, box)?.name ?? box
  }
}

const UNDER_WAY = 'An upgrade of boxes is under way. End it first: hookline boxes upgrade --cancel'

function refused(message: string): RelayError {
  return new RelayError('rollout_refused', message)
}
