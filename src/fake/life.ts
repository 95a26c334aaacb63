// One relay of a fake, from its beginning with a state to its end.

import { callOperation } from '../api/client.ts'
import { createApp, type App } from '../app.ts'
import type { Config } from '../config.ts'
import { DAY_MS } from '../domain/time.ts'
import { EVENT_NAMES } from '../domain/webhook.ts'
import type { AroundFake } from '../http/around-fake.ts'
import { isLoopbackName } from '../http/hosts.ts'
import { createSimulatedDriver, SIMULATED_KIND } from '../lines/kinds/simulated/kind.ts'
import type { SimulatedNetwork } from '../lines/kinds/simulated/network.ts'
import { scriptAction } from '../lines/kinds/simulated/script.ts'
import type { Outside } from '../runtime.ts'
import { createAudit } from '../storage/audit.ts'
import { closeDatabase, openDatabase, type Db } from '../storage/database.ts'
import { findEvent } from '../storage/events.ts'
import { Writer } from '../storage/writer.ts'
import { systemClock } from '../system/clock.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { DrivenClock } from '../system/driven-clock.ts'
import { silentLog, type Log } from '../system/log.ts'
import { LogicalClock } from '../system/logical-clock.ts'
import { seededRandom, systemRandom } from '../system/random.ts'
import { createSeal } from '../system/seal.ts'
import { VERSION } from '../system/version.ts'
import { recordedPost } from './calls.ts'
import { FakeClock, SEEDED_START, type ClockState } from './clock.ts'
import { createKeys, SEALING_KEY, WEBHOOK_SECRET } from './credentials.ts'
import type { FakeScript, ScriptState } from './script.ts'
import type { Traffic } from './traffic.ts'

/** A state to begin with. */
export type Image = {
  readonly relay: Uint8Array
  /** Called once the relay before has ended; null for a network that has carried nothing. */
  readonly network: () => Uint8Array | null
  readonly clock: ClockState
  /** The state of people and faults; null if it goes on as it is. */
  readonly script: ScriptState | null
  /** The state of chance that follows from a seed; null without one. */
  readonly random: number | null
}

export type Life = {
  readonly app: App
  readonly db: Db
  readonly clock: FakeClock
  readonly random: ReturnType<typeof seededRandom> | null
  readonly network: () => SimulatedNetwork
  readonly script: FakeScript
}

/** Time that the end of a relay may need on its own clock. */
const END_MS = 120_000

/** Stands in for all that a real relay has on its disk. */
const IN_MEMORY = {
  disk: { freeBytes: () => Number.MAX_SAFE_INTEGER, logBytes: () => 0, requireInPlace() {} },
  backupWorker: {
    take: async ({ to }) => ({ path: to, sizeBytes: 0 }),
    assertIntact: async () => {},
    inspect: () => Promise.reject(new Error('A fake has no backups.')),
  },
  findTool: () => null,
} satisfies Partial<Outside>

/** The parts of a fake that stay while one relay follows another. */
export type Surroundings = Pick<AroundFake, 'listener' | 'bindings' | 'url'> & {
  readonly config: Config
  /** For the files of messages. */
  readonly folder: string
  readonly log: Log
  readonly traffic: Traffic
  readonly script: FakeScript
}

export async function beginLife(image: Image, surroundings: Surroundings): Promise<Life> {
  const { config, folder, log, traffic, script, listener, bindings, url } = surroundings
  if (image.script !== null) script.resume(image.script)
  const { db } = openDatabase(image.relay, { version: VERSION })
  const clock = new FakeClock(image.clock, traffic)
  const random = image.random === null ? null : seededRandom(image.random)
  const simulated = simulatedKind(image.network(), surroundings)
  const now = () => clock.now()
  const nameOf = (id: string) => findEvent(db, id)?.name ?? null
  const app: App = createApp(config, {
    ...IN_MEMORY,
    clock,
    random: random ?? systemRandom,
    log,
    kinds: [simulated.kind],
    data: {
      db,
      directory: dataDirectoryAt(folder),
      secretKey: SEALING_KEY,
      close: () => closeDatabase(db),
    },
    fake: {
      listener: { ...listener, stop: async () => app.http.endStreams() },
      bindings,
      aroundPost: (post) => traffic.around(recordedPost(post, { script, now, nameOf })),
      createStore: (...them) => traffic.createStore(...them),
      // A network of containers has names of its own. On this machine alone, only its names count: anybody knows the
      // keys, so a page whose foreign name leads here could read by them what this machine can reach.
      hosts: isLoopbackName(config.host) ? {} : { isOwnAddress: () => true },
      url,
      // A caller waits in real time, even if the clock stands still.
      callerClock: systemClock,
      webhookSecret: WEBHOOK_SECRET,
    },
  })
  await app.start()
  return { app, db, clock, random, network: simulated.network, script }
}

/** Resolves when nothing of it runs anymore. Its clock moves on, because what ends may wait for it. */
export async function endLife({ app, clock }: Life): Promise<void> {
  await Promise.all([app.stop(), clock.advance(END_MS)])
  clock.freeze(true)
}

export function imageOf({ db, network, clock, random, script }: Life): Image {
  const carried = network().image()
  return {
    relay: db.sqlite.serialize(),
    network: () => carried,
    clock: clock.state(),
    script: script.state(),
    random: random?.state() ?? null,
  }
}

/** The database of a relay that has its keys and has never run. */
export async function emptyRelay(): Promise<Uint8Array> {
  const { db } = openDatabase(':memory:', { version: VERSION })
  const writer = new Writer(db, () => {})
  // Even without a seed, what is fixed has fixed times.
  const random = seededRandom(0)
  const ids = new LogicalClock(new DrivenClock(SEEDED_START), random, 0)
  const audit = createAudit({ writer, ids, log: silentLog })
  await createKeys({ db, writer, ids, audit, random }, createSeal(SEALING_KEY, random))
  writer.close()
  const image = db.sqlite.serialize()
  closeDatabase(db)
  return image
}

/** Adds a webhook that gets every event. */
export async function addWebhook({ app }: Life, url: string): Promise<void> {
  const peer = { address: null, isControl: true, liftTimeout: () => {} }
  const fetch = async (path: string, init: RequestInit) =>
    app.http.fetch(new Request(`http://localhost${path}`, init), peer)
  await callOperation(fetch, 'createWebhook', { body: { url, events: [...EVENT_NAMES] } })
}

function simulatedKind(ledgerImage: Uint8Array | null, { script, traffic }: Surroundings) {
  let network: () => SimulatedNetwork
  const kind: typeof SIMULATED_KIND = {
    ...SIMULATED_KIND,
    create: (host, { simulatedLines: lineCount, simulatedDelayMs: delayMs }) => {
      const options = { lineCount, delayMs, ledgerPath: host.pathOf('simulated.db') }
      const driver = createSimulatedDriver(host, { ...options, ledgerImage, script })
      network = driver.network
      // Its lines are there from the start.
      return {
        driver: { ...traffic.ofDriver(driver), discoverEveryMs: DAY_MS },
        actions: [scriptAction(driver.network)],
      }
    },
  }
  return { kind, network: () => network() }
}
