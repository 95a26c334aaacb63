// Power cuts. A relay works under load while each change and each flush of its files is recorded; then
// for many moments of that recording the files are put together as a disk may have kept them, and held
// against what clients, the receiver and the network had by then.

import { Database } from 'bun:sqlite'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { MIGRATIONS, readSchemaState } from '../../../src/storage/migrations.ts'
import { Receiver } from '../../support/receiver.ts'
import { ApiClient, createKey, RelayProcess } from '../../support/relay-process.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { STORED_EVENTS, type StoredEvent } from '../ledgers.ts'
import { CrashDisk, LOSSES, type Loss } from './crash-disk.ts'
import { Clients, ENVIRONMENT, prepare } from './load.ts'
import { Recorder, type Moment, type Recording } from './recording.ts'

const LIFE_MS = 900
/** The share of cuts that fall within a checkpoint, which writes the database itself. */
const CHECKPOINT_SHARE = 0.25
const DATABASE = '/hookline.db'

/** What an observer outside knew at a moment. */
type Known = { readonly moment: Moment; readonly id: string; readonly text: string }

export type Load = {
  readonly recording: Recording
  readonly told: readonly Known[]
  readonly received: readonly Known[]
}

export type PowerFigures = {
  readonly images: number
  readonly changes: number
  readonly lookedUp: number
  /** Each fault with the loss and the place in the recording at which it shows. */
  readonly faults: readonly string[]
}

/** Runs a relay for `lives` short lives, which end by SIGKILL and by SIGTERM in turns. */
export async function recordLoad(
  folder: ScratchFolder,
  library: string,
  lives: number,
): Promise<Load> {
  const dataDir = folder.file('data')
  mkdirSync(dataDir, { mode: 0o700 })
  const recorder = new Recorder(folder, library)
  const environment = () => ({ ...ENVIRONMENT, ...recorder.nextLife(dataDir) })
  let relay = await RelayProcess.start({ dataDir, environment: environment() })
  const key = await createKey(dataDir)
  const told: Known[] = []
  const received: Known[] = []
  using receiver = new Receiver((post) => {
    received.push({ moment: recorder.now, id: post.id, text: post.event })
    return new Response('ok')
  })
  const api = new ApiClient(() => relay.url, key)
  const lines = await prepare(api, [receiver])
  const clients = new Clients(api, key, lines, {
    onTold: ({ messageId, text }) => told.push({ moment: recorder.now, id: messageId, text }),
  })
  const running = clients.run()
  for (let life = 1; life < lives; life += 1) {
    await Bun.sleep(LIFE_MS)
    const { port } = relay
    await relay.end(life % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
    relay = await RelayProcess.start({ dataDir, port, environment: environment() })
  }
  await Bun.sleep(LIFE_MS)
  clients.stop()
  await running
  await relay.end('SIGTERM')
  return { recording: recorder.read(), told, received }
}

/** Cuts the power at `images` moments of a load; `ignoresFlush` makes a disk that flushes nothing. */
export function cutPower(
  load: Load,
  images: number,
  options: { readonly seed: number; readonly ignoresFlush?: (path: string) => boolean },
): PowerFigures {
  const random = new SeededRandom(options.seed)
  const { changes } = load.recording
  const cuts = cutsOf(load.recording, images, random)
  const disk = new CrashDisk(options.ignoresFlush)
  const checker = new Checker(load)
  const faults: string[] = []
  using folder = new ScratchFolder()
  let done = 0
  for (const [number, cut] of cuts.entries()) {
    for (; done < cut; done += 1) disk.apply(changes[done] as (typeof changes)[number])
    const loss = LOSSES[number % LOSSES.length] as Loss
    const image = folder.file('image')
    writeImage(
      image,
      disk.image(loss, random, (path) => path.startsWith('/simulated.db')),
    )
    for (const fault of checker.check(image, cut)) faults.push(`${loss}, after ${cut}: ${fault}`)
    rmSync(image, { recursive: true })
  }
  return { images, changes: changes.length, lookedUp: checker.lookedUp, faults }
}

/** Places in the recording at which the power goes, in order; all after the database was made. */
function cutsOf({ changes }: Recording, images: number, random: SeededRandom): readonly number[] {
  const database = new Set<number>()
  const checkpoints: number[] = []
  for (const [index, change] of changes.entries()) {
    if (change.kind === 'opened' || change.kind === 'created') {
      if (change.path === DATABASE) database.add(change.life * 10_000 + change.file)
    } else if (change.kind === 'written' && database.has(change.life * 10_000 + change.file)) {
      checkpoints.push(index + 1)
    }
  }
  const cuts = Array.from({ length: images }, () =>
    random.chance() < CHECKPOINT_SHARE && checkpoints.length > 0
      ? (checkpoints[random.below(checkpoints.length)] ?? 0)
      : random.below(changes.length + 1),
  )
  return cuts.toSorted((a, b) => a - b)
}

function writeImage(folder: string, image: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { mode: 0o700 })
  for (const [path, bytes] of image) writeFileSync(join(folder, path), bytes, { mode: 0o600 })
}

class Checker {
  lookedUp = 0
  readonly #told: readonly { readonly index: number; readonly known: Known }[]
  readonly #received: readonly { readonly index: number; readonly known: Known }[]

  constructor({ recording, told, received }: Load) {
    const placed = (all: readonly Known[]) =>
      all.map((known) => ({ index: recording.indexOf(known.moment), known }))
    this.#told = placed(told)
    this.#received = placed(received)
  }

  /** Everything that is wrong with what is left after `cut` changes. */
  check(folder: string, cut: number): readonly string[] {
    const told = this.#told.filter(({ index }) => index <= cut)
    const received = this.#received.filter(({ index }) => index <= cut)
    this.lookedUp += told.length + received.length
    try {
      const stored = readStored(folder)
      if (stored === null) return told.length > 0 ? ['the database is not whole'] : []
      return [
        ...stored.damage,
        ...told
          .filter(({ known }) => stored.texts.get(known.id) !== known.text)
          .map(({ known }) => `${known.id} was acknowledged and is lost`),
        ...received
          .filter(({ known }) => !stored.events.has(known.id))
          .map(({ known }) => `${known.id} was delivered and is lost`),
        ...stored.carried
          .filter((id) => (stored.statuses.get(id) ?? 'queued') === 'queued')
          .map((id) => `${id} was carried and would be sent again`),
      ]
    } catch (error) {
      return [`it cannot be read: ${String(error)}`]
    }
  }
}

/** What a start would find; null where the power went before the database was whole. */
function readStored(folder: string) {
  using relay = new Database(join(folder, DATABASE), { create: true, readwrite: true })
  const { version } = readSchemaState(relay)
  const integrity = relay.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  const damage = integrity.map((row) => row.integrity_check).filter((line) => line !== 'ok')
  if (version < MIGRATIONS.length) return damage.length > 0 ? { ...NOTHING, damage } : null
  const messages = relay
    .query<{ id: string; text: string; status: string }, []>(
      'SELECT id, text, status FROM messages',
    )
    .all()
  const events = relay.query<StoredEvent, []>(STORED_EVENTS).all()
  return {
    damage,
    texts: new Map(messages.map(({ id, text }) => [id, text])),
    statuses: new Map(messages.map(({ id, status }) => [id, status])),
    events: new Set(events.map(({ id }) => id)),
    carried: readCarried(folder),
  }
}

const NOTHING = {
  texts: new Map<string, string>(),
  statuses: new Map<string, string>(),
  events: new Set<string>(),
  carried: [] as readonly string[],
}

function readCarried(folder: string): readonly string[] {
  using network = new Database(join(folder, 'simulated.db'), { create: true, readwrite: true })
  const tables = network.query("SELECT 1 FROM sqlite_schema WHERE name = 'carried'").all()
  if (tables.length === 0) return []
  return network
    .query<{ id: string }, []>('SELECT message_id AS id FROM carried')
    .all()
    .map(({ id }) => id)
}
