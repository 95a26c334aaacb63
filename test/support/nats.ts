// The real nats-server, for tests of several boxes: started with our configuration, at a free port.

import { createServer } from 'node:net'

import { inboxOf, type BrokerUsers } from '../../src/boxes/broker-config.ts'
import { Broker, type BrokerOptions } from '../../src/boxes/broker.ts'
import { connectNats, type NatsLink, type NatsOptions } from '../../src/boxes/nats-link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { systemClock } from '../../src/system/clock.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { readTextOrNull } from '../../src/system/files.ts'
import { silentLog } from '../../src/system/log.ts'
import { findTool, processRunner, startReadProcess } from '../../src/system/process.ts'
import { systemRandom } from '../../src/system/random.ts'
import { eventually } from './eventually.ts'
import { NATS_SERVER } from './nats-server.ts'
import { ScratchFolder } from './scratch-folder.ts'

export const natsTools = {
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
  run: processRunner(systemClock),
  start: startReadProcess,
  findTool,
  platform: 'linux',
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Resolves as soon as `isTrue`. */
export function until(isTrue: () => boolean): Promise<true> {
  return eventually('what the test waits for', () => (isTrue() ? true : null))
}

/** A running broker and the links to it; `await using rig = await BrokerRig.start()`. */
export class BrokerRig implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly broker: Broker
  readonly port: number
  users: { -readonly [Key in keyof BrokerUsers]: BrokerUsers[Key] } = { boxes: [], invitations: [] }
  readonly #links: NatsLink[] = []
  #stop = new AbortController()
  #running = Promise.resolve()

  private constructor(port: number, more: Partial<BrokerOptions> = {}) {
    this.port = port
    const options = { directory: dataDirectoryAt(this.folder.path), program: NATS_SERVER, port }
    this.broker = new Broker({ ...options, users: () => this.users, ...more }, natsTools)
  }

  static async start(more?: Partial<BrokerOptions>): Promise<BrokerRig> {
    const rig = new BrokerRig(await freePort(), more)
    // A test that fails before it holds the rig leaves its server behind.
    process.once('exit', () => {
      if (rig.pid > 0) process.kill(rig.pid, 'SIGKILL')
    })
    rig.run()
    return rig
  }

  run(): void {
    this.#stop = new AbortController()
    this.#running = this.broker.run(this.#stop.signal)
  }

  /** The seed of a new box, which may connect. */
  async addBox(id: string): Promise<string> {
    const { seed, publicKey: nkey } = await makeKey()
    this.users.boxes = [...this.users.boxes, { id, nkey }]
    if (!(await this.broker.apply())) throw new Error('The broker did not take the box.')
    return seed
  }

  /** As a box or another user; without `seed` and `inboxPrefix` as the head. */
  async connect(more: Partial<NatsOptions>, tools = natsTools): Promise<NatsLink> {
    const link = connectNats({ ...(await this.broker.access()), name: 'test', ...more }, tools)
    this.#links.push(link)
    return link
  }

  /** The process of the server. */
  get pid(): number {
    return Number(readTextOrNull(this.folder.file('broker/nats.pid')) ?? Number.NaN)
  }

  async connectBox(id: string, seed: string, more: Partial<NatsOptions> = {}): Promise<NatsLink> {
    const link = await this.connect({ seed, inboxPrefix: inboxOf(id), ...more })
    await until(() => link.status().isConnected)
    return link
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()))
    await this.stop()
    this.folder[Symbol.dispose]()
  }
}
