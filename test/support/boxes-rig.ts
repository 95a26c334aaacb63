// A relay and its boxes on one test clock: the real `createApp`, real agents, and a network in memory
// in the place of the broker.

import { Database } from 'bun:sqlite'

import type { BoxAgent } from '../../src/boxes/box-agent.ts'
import { readToken } from '../../src/boxes/enrolment.ts'
import type { HeadBroker } from '../../src/boxes/head-broker.ts'
import { Journal } from '../../src/boxes/journal.ts'
import { type Link, SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { SignedLink } from '../../src/boxes/signed-link.ts'
import { whenAborted } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { VERSION } from '../../src/system/version.ts'
import { launchBox, type BoxProcess } from './box-rig.ts'
import { MemoryNetwork } from './memory-link.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { ScriptedDriver } from './scripted-driver.ts'
import { settle, TestClock } from './test-clock.ts'
import { startRelay, type Json, type TestRelay } from './test-relay.ts'

/** Nkey of the head. */
const HEAD_KEY = await makeKey()
type Key = typeof HEAD_KEY

export type Answer = { readonly status: number; readonly body: Json }

export type BoxesRelay = Awaited<ReturnType<typeof startWithBoxes>>

type RelayOptions = NonNullable<Parameters<typeof startRelay>[0]>
type Options = Pick<
  RelayOptions,
  'drivers' | 'database' | 'key' | 'environment' | 'post' | 'folder'
> & { readonly clock?: TestClock }

export async function startWithBoxes({
  drivers = [],
  clock = new TestClock(),
  ...more
}: Options = {}) {
  const folder = new ScratchFolder()
  const network = new MemoryNetwork(clock)
  const applied: number[] = []
  const broker = memoryBroker(network, () => applied.push(clock.now()))
  const relay = await startRelay({
    clock,
    drivers,
    folder: folder.file('data'),
    ...more,
    parts: { broker },
  })
  const joined: BoxMachine[] = []
  return {
    relay,
    clock,
    network,
    applied,
    owner: (method: string, path: string, body?: unknown) => askAsOwner(relay, method, path, body),
    /** Invites a machine and lets it join, with the numbers of its devices. An old version signs nothing. */
    async join(name: string, numbers: readonly string[], signs = true): Promise<BoxMachine> {
      const machine = { name, numbers, signs }
      const box = await joinBox({ relay, network, clock, folder }, machine)
      joined.push(box)
      await settle(20)
      return box
    },
    async [Symbol.asyncDispose]() {
      for (const box of joined) await box.cut()
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

export function memoryBroker(network: MemoryNetwork, onApply: () => void): HeadBroker {
  return {
    prepare: async () => ({
      kind: 'invitation',
      addresses: ['192.0.2.1:4666'],
      ca: null,
      headKey: null,
    }),
    key: async () => HEAD_KEY,
    run: async (signal) => void (await whenAborted(signal)),
    connect: async () => network.link(),
    apply: async () => {
      onApply()
      return true
    },
    users: async () => 'users: []',
    findings: () => [],
  }
}

/** A request on the control socket. */
async function askAsOwner(
  relay: TestRelay,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await relay.app.http.fetch(
    new Request(`http://localhost/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
    { address: null, isControl: true, liftTimeout() {} },
  )
  return { status: response.status, body: await response.json() }
}

type Place = {
  readonly relay: TestRelay
  readonly network: MemoryNetwork
  readonly clock: TestClock
  readonly folder: ScratchFolder
}

type Machine = {
  readonly name: string
  readonly numbers: readonly string[]
  readonly signs: boolean
}

async function joinBox(
  { relay, network, clock, folder }: Place,
  { name, numbers, signs }: Machine,
): Promise<BoxMachine> {
  const key = await makeKey()
  const id = await enrol({ relay, network }, name, { key, signs })
  const driver = new ScriptedDriver()
  for (const number of numbers) driver.add(number)
  const box = new BoxMachine({ id, key, driver, network, clock, folder: folder.file(name) })
  box.signs = signs
  await box.start()
  return box
}

/** Invites a machine, and lets it join; gives its id. */
export async function enrol(
  { relay, network }: Pick<Place, 'relay' | 'network'>,
  name: string,
  { key, signs = false }: { readonly key?: Key; readonly signs?: boolean } = {},
): Promise<string> {
  const invited = await askAsOwner(relay, 'POST', '/boxes', { name })
  const token = readToken(String(invited.body.command).replace('hookline join ', ''))
  if ('problem' in token) throw new Error(token.problem)
  await settle(20)
  const { publicKey } = key ?? (await makeKey())
  const machine = { name: '*', version: VERSION, platform: 'darwin' }
  const request = { ...machine, public_key: publicKey, ...(signs && { signs }) }
  const link = network.link()
  const answer = await link.ask(SUBJECTS.join(token.id), JSON.stringify(request), 1_000)
  const { box: id, refused } = JSON.parse(answer)
  if (refused !== undefined) throw new Error(refused)
  return id
}

/** A machine that has joined, with a Mac driver of its own. */
class BoxMachine {
  readonly id: string
  readonly driver: ScriptedDriver
  /** Whether its next start is of a version that signs. */
  signs = true
  /** Public nkey of its head, once it insists on it. */
  headKey: string | null = null
  readonly #key: Key
  readonly #tools: { network: MemoryNetwork; clock: TestClock; folder: string }
  readonly #journal = new Database(':memory:', { strict: true })
  #process: BoxProcess | null = null

  constructor(given: {
    readonly id: string
    readonly key: Key
    readonly driver: ScriptedDriver
    readonly network: MemoryNetwork
    readonly clock: TestClock
    readonly folder: string
  }) {
    const { id, key, driver, ...tools } = given
    this.id = id
    this.#key = key
    this.driver = driver
    this.#tools = tools
  }

  agent(): BoxAgent {
    if (this.#process === null) throw new Error('The box does not run.')
    return this.#process.agent
  }

  async start(): Promise<void> {
    const { id: boxId, driver } = this
    const { clock } = this.#tools
    const journal = new Journal(this.#journal, { clock, random: systemRandom, machine: boxId })
    const drivers = [driver]
    const link = this.#link()
    const { folder } = this.#tools
    this.#process = launchBox({ link, clock, folder, boxId, drivers, journal, version: VERSION })
    await settle(20)
  }

  #link(): Link {
    const { network, clock } = this.#tools
    if (!this.signs) return network.link()
    const tools = { clock, random: systemRandom, log: silentLog }
    const trust = {
      peer: () => ({ key: this.headKey, mustSign: this.headKey !== null }),
      insist: (_box: string, key: string) => void (this.headKey = key),
    }
    return new SignedLink(network.link(), this.#key, trust, tools)
  }

  /** Lets its disk, which has nothing but its journal, take writes or refuse them. */
  setWritable(isWritable: boolean): void {
    this.#journal.run(`PRAGMA query_only = ${isWritable ? 'OFF' : 'ON'}`)
  }

  /** Ends it as a power cut does. */
  async cut(): Promise<void> {
    this.#process?.kill()
    this.#process = null
  }

  /** Its process ends in order. */
  async stop(): Promise<void> {
    const running = this.#process
    const stopped = running?.stop()
    await this.#tools.clock.advance(1_000)
    await stopped
    await running?.link.close()
    this.#process = null
  }
}
