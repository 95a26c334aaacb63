// What a box whose owner is a stranger costs its head in memory and on disk: it names devices, sends items that
// come too early, and files that are longer than it says or without an end.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { residentMb } from '../../../scripts/bench/relay.ts'
import { inboxOf } from '../../../src/boxes/broker-config.ts'
import { SUBJECTS } from '../../../src/boxes/link.ts'
import { connectNats } from '../../../src/boxes/nats-link.ts'
import { publicKeyOf } from '../../../src/boxes/nkeys.ts'
import { SignedLink } from '../../../src/boxes/signed-link.ts'
import { natsTools } from '../../support/nats.ts'
import { Fleet } from './fleet.ts'

/** What all items that wait for an earlier one may take; the rest is the relay's own work on them. */
const MEMORY_MB_MAX = 32
/** `attachment_max_mb` of the head: one file may come, and no byte more. */
const FILE_MB_MAX = 20
const BOOT = 'hostile'
const REST_MS = 10_000
const ASK_MS = 2_000
const PIECE = { data: new Uint8Array(500_000).toBase64(), isLast: false }
const EARLY = {
  type: 'event',
  event: { type: 'checkpoint', checkpoint: '1', padding: 'p'.repeat(900_000) },
}

type Json = { readonly [name: string]: unknown }
/** As `hookline join` wrote it. */
type Stored = Record<'box_id' | 'seed' | 'ca' | 'server_name', string>

/** Growth in megabytes: of memory at most and in the end, and of the data directory. */
export type Cost = { readonly peakMb: number; readonly memoryMb: number; readonly diskMb: number }

export async function runHostileBox(seconds: number) {
  const environment = { HOOKLINE_ATTACHMENT_MAX_MB: String(FILE_MB_MAX) }
  await using fleet = await Fleet.open({ boxes: 1, linesOfBox: 1, ownLines: 1, environment })
  const { head, boxes } = fleet
  const [box] = boxes
  const stored: Stored = JSON.parse(readFileSync(join(box?.dataDir ?? '', 'box.json'), 'utf8'))
  await box?.end('SIGKILL')
  await Bun.sleep(REST_MS)
  const before = { memory: await residentMb(head.pid), disk: sizeMb(head.dataDir) }
  let peak = before.memory
  const hostile = await Hostile.connect(stored, fleet.brokerPort)
  for (let second = 0; second < seconds; second += 1) {
    await Promise.all([hostile.hello(), Bun.sleep(1_000)])
    peak = Math.max(peak, await residentMb(head.pid))
  }
  const { asked, files } = hostile
  await hostile.close()
  await Bun.sleep(REST_MS)
  const cost: Cost = {
    peakMb: peak - before.memory,
    memoryMb: (await residentMb(head.pid)) - before.memory,
    diskMb: sizeMb(head.dataDir) - before.disk,
  }
  return { ...cost, asked, files, faults: faultsOf(cost, asked) }
}

function faultsOf({ memoryMb, diskMb }: Cost, asked: number): readonly string[] {
  return [
    ...(asked > 0 ? [] : ['the head has run no line of the hostile box']),
    ...(memoryMb < MEMORY_MB_MAX ? [] : [`memory of the head grew by ${memoryMb.toFixed(0)} MB`]),
    ...(diskMb < FILE_MB_MAX ? [] : [`its data directory grew by ${diskMb.toFixed(0)} MB`]),
  ]
}

function sizeMb(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  const sizes = files.map((file) =>
    file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0,
  )
  return sizes.reduce((sum, size) => sum + size, 0) / 1_000_000
}

class Hostile {
  /** Items and pieces of files that it has sent. */
  asked = 0
  files = 0
  readonly #id: string
  readonly #link: SignedLink
  #isOver = false

  private constructor(id: string, link: SignedLink) {
    this.#id = id
    this.#link = link
    link.serve(SUBJECTS.to(id, BOOT), async (json) =>
      JSON.stringify(this.#answer(JSON.parse(json))),
    )
  }

  static async connect({ box_id, seed, ca, server_name }: Stored, port: number): Promise<Hostile> {
    const place = { servers: [`127.0.0.1:${port}`], ca, serverName: server_name }
    const own = { seed, inboxPrefix: inboxOf(box_id), name: BOOT }
    const trust = { peer: () => ({ key: null, mustSign: false }), insist() {} }
    const link = connectNats({ ...place, ...own }, natsTools)
    const key = { seed, publicKey: await publicKeyOf(seed) }
    return new Hostile(box_id, new SignedLink(link, key, trust, natsTools))
  }

  async hello(): Promise<void> {
    const devices = Array.from({ length: 100 }, (_, at) => {
      return {
        kind: 'simulated',
        key: `h${at}`,
        number: `+120255550${String(at).padStart(2, '0')}`,
      }
    })
    const facts = { protocol: 1, version: '0.1.0', platform: 'linux', boot: BOOT, fence: 0 }
    const hello = { op: 'hello', ...facts, sessions: [], kinds: ['simulated'], devices, health: {} }
    await this.#ask(SUBJECTS.hello(this.#id), hello)
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#link.close()
  }

  #answer(request: Json): Json {
    if (request['op'] === 'end') return { records: [] }
    if (request['op'] === 'received_file') {
      this.files += 1
      return PIECE
    }
    if (request['op'] !== 'run') return {}
    void this.#pour(String(request['session']))
    return { isRunning: true }
  }

  /** A message whose files are none, and items that come too early meanwhile: more than one run may have. */
  async #pour(session: string): Promise<void> {
    const [epoch = ''] = session.split('.')
    const subject = SUBJECTS.up(epoch, this.#id)
    const item = (seq: number, one: Json) =>
      this.#ask(subject, { op: 'item', session, seq, item: one })
    const early = Array.from({ length: 12 }, (_, at) => at + 2)
    while (!this.#isOver) {
      const all = [item(1, messageOf([900e12, 19e6, 5e6])), ...early.map((seq) => item(seq, EARLY))]
      this.asked += all.length
      await Promise.all(all)
    }
  }

  async #ask(subject: string, request: Json): Promise<void> {
    await this.#link.ask(subject, JSON.stringify(request), ASK_MS).catch(() => {})
  }
}

/** A message with files of these sizes, as the box says. */
function messageOf(sizes: readonly number[]): Json {
  const attachments = sizes.map((size, at) => {
    const file = { state: 'available', size }
    return { guid: `F${at}`, filename: 'movie.mov', declaredType: null, size, file }
  })
  const facts = {
    guid: 'M',
    handle: '+12025550777',
    text: 'hi',
    isFromMe: false,
    service: 'iMessage',
  }
  const message = { ...facts, at: 1_795_255_100_000, isHistory: false, attachments }
  return { type: 'event', event: { type: 'message', message, checkpoint: '1' } }
}
