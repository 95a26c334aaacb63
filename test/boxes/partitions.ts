// Partitions of up to a day between the real relay and real agents, on the test clock: each box has a network
// and a journal on disk, and the ledgers of all are compared.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { openJournal } from '../../src/boxes/journal.ts'
import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { systemRandom } from '../../src/system/random.ts'
import { VERSION } from '../../src/system/version.ts'
import { compareBoxes, type BoxFigures } from '../executable/box-ledgers.ts'
import type { StoredMessage, Told } from '../executable/ledgers.ts'
import { EVENTS, ENVIRONMENT } from '../executable/torture/load.ts'
import { launchBox } from '../support/box-rig.ts'
import { type BoxesRelay, enrol, startWithBoxes } from '../support/boxes-rig.ts'
import type { Received } from '../support/receiver.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

type Cut = { readonly box: string; readonly directions: readonly ('from_box' | 'to_box')[] }

const NAMES = ['box-1', 'box-2'] as const
const CUTS: readonly Cut['directions'][] = [['from_box', 'to_box'], ['from_box'], ['to_box']]
const CUT_MS_MIN = 200
const CUT_MS_MAX = 86_400_000
const WHOLE_MS_MAX = 20_000
const CALM_MS = 600_000
const STOP_MS = 5_000
const REFUSED_SHARE = 0.1
const URL = 'https://receiver.example/hook'

export type PartitionFigures = BoxFigures & {
  /** Length of all partitions together. */
  readonly cutMs: number
  readonly expired: number
  /** Failed: proven unsent only after they were announced as uncertain, so that they are not sent again. */
  readonly withdrawn: number
}

/** Partitions last 24 hours at most, or `cutMsMax`. */
export async function livePartitions(
  count: number,
  seed: number,
  cutMsMax = CUT_MS_MAX,
): Promise<PartitionFigures> {
  using folder = new ScratchFolder()
  const [clock, random] = [new TestClock(), new SeededRandom(seed)]
  const sink = new WebhookSink(clock)
  sink.answer = () => (random.chance() < REFUSED_SHARE ? 500 : 200)
  const head = folder.file('head')
  mkdirSync(head)
  const database = openDatabase(join(head, 'hookline.db'), { version: 'test' })
  const environment = { ...ENVIRONMENT, HOOKLINE_SIMULATED_LINES: '1' }
  const options = { clock, database, environment, folder: head, post: sink.post }
  const stage = await startWithBoxes({ ...options, drivers: 'own' })
  const boxes: Machine[] = []
  for (const name of NAMES) boxes.push(await startBox(stage, name, folder.file(name)))
  await clock.advance(10_000)
  const traffic = new Traffic(stage, random)
  await traffic.prepare()

  const cutMs = await cutAndMend({ stage, random, boxes, traffic, cutMsMax }, count)

  await clock.advance(CALM_MS)
  const told = await traffic.ended()
  const stopped = boxes.map((box) => box.stop())
  await clock.advance(STOP_MS)
  await Promise.all(stopped)
  await stage[Symbol.asyncDispose]()
  database.db.sqlite.close()
  const sent = { told, repeats: traffic.repeats, contradictions: traffic.contradictions }
  const places = { head, boxes: NAMES.map((name) => folder.file(name)) }
  const compared = compareBoxes(places, { ...sent, stepsBack: [] }, [sink.posts.map(receivedOf)])
  const { failedUnrefused = [], ...faults } = compared.faults
  // As the ledger has it.
  const isWithdrawn = (message: unknown) => (message as StoredMessage).errorCode === 'withdrawn'
  return {
    ...compared,
    faults: { ...faults, failedUnrefused: failedUnrefused.filter((one) => !isWithdrawn(one)) },
    cutMs,
    expired: traffic.expired,
    withdrawn: failedUnrefused.filter(isWithdrawn).length,
  }
}

type Machine = { readonly id: string; readonly stop: () => Promise<void> }

async function startBox(stage: BoxesRelay, name: string, folder: string): Promise<Machine> {
  const { network, clock } = stage
  mkdirSync(folder)
  const id = await enrol(stage, name)
  const tools = { clock, random: systemRandom }
  const journal = openJournal(join(folder, 'box.db'), { ...tools, machine: name })
  const oneLine = { lineCount: 1, delayMs: 30, ledgerPath: join(folder, 'simulated.db') }
  const box = launchBox({
    link: network.link(),
    clock,
    journal,
    boxId: id,
    drivers: [createSimulatedDriver({ relayClock: clock, random: systemRandom }, oneLine)],
    version: VERSION,
    folder: join(folder, 'box-files'),
  })
  return { id, stop: () => box.stop().then(() => journal.close()) }
}

type Scene = {
  readonly stage: BoxesRelay
  readonly random: SeededRandom
  readonly boxes: readonly Machine[]
  readonly traffic: Traffic
  readonly cutMsMax: number
}

/** Time of all partitions together. */
async function cutAndMend(
  { stage, random, boxes, traffic, cutMsMax }: Scene,
  count: number,
): Promise<number> {
  const { network, clock } = stage
  const cuts: Cut[] = []
  network.loses = ({ direction, subject }) =>
    cuts.some(({ box, directions }) => {
      if (!subject.includes(box)) return false
      const isToBox = subject.startsWith('hl.1.to.') === (direction === 'request')
      return directions.includes(isToBox ? 'to_box' : 'from_box')
    })
  let cutMs = 0
  for (let done = 0; done < count; done += 1) {
    const lengthMs = CUT_MS_MIN * (cutMsMax / CUT_MS_MIN) ** random.chance()
    const firstMs = Math.min(lengthMs * random.chance(), WHOLE_MS_MAX)
    traffic.send()
    await settle(random.below(20))
    cuts.push({ box: random.of(boxes).id, directions: random.of(CUTS) })
    traffic.send()
    await clock.advance(firstMs)
    traffic.send()
    await clock.advance(lengthMs - firstMs)
    // Some end while the next one has begun.
    if (cuts.length > 1 || random.chance() < 0.7) cuts.shift()
    cutMs += lengthMs
    await clock.advance(random.chance() * WHOLE_MS_MAX)
  }
  cuts.length = 0
  return cutMs
}

type Body = { readonly to: string; readonly text: string; readonly phone_line_id?: string }

/** Clients, of which some ask twice. */
class Traffic {
  readonly contradictions: string[] = []
  repeats = 0
  expired = 0
  readonly #stage: BoxesRelay
  readonly #random: SeededRandom
  readonly #answers: Promise<Told>[] = []
  #lines: readonly Json[] = []
  #count = 0

  constructor(stage: BoxesRelay, random: SeededRandom) {
    this.#stage = stage
    this.#random = random
  }

  async prepare(): Promise<void> {
    const { relay } = this.#stage
    await relay.limit(100_000)
    await relay.post('/api/v1/webhooks', { url: URL, events: EVENTS })
    this.#lines = await relay.lines()
    const online = this.#lines.filter(({ status }) => status === 'online')
    if (online.length !== NAMES.length + 1) throw new Error('Not all lines are online.')
  }

  /** Some messages, each answered at its own time. */
  send(): void {
    for (let left = 2 + this.#random.below(8); left > 0; left -= 1) {
      this.#count += 1
      const text = `message ${this.#count}`
      const line = this.#random.of(this.#lines)
      const to = `+1202556${1_000 + this.#random.below(40)}`
      const isPinned = this.#random.chance() < 0.6
      const body = { to, text, ...(isPinned ? { phone_line_id: line.id } : {}) }
      this.#answers.push(this.#ask(body))
      if (this.#random.chance() < 0.2) void this.#askAgain(body)
    }
  }

  /** All answers; no message is under way. */
  async ended(): Promise<readonly Told[]> {
    const told = await Promise.all(this.#answers)
    for (const { messageId } of told) {
      const { status } = await this.#stage.relay.message(messageId)
      if (status === 'expired') this.expired += 1
    }
    return told
  }

  async #ask(body: Body): Promise<Told> {
    const prefer: Record<string, string> =
      this.#random.chance() < 0.5 ? { Prefer: 'respond-async' } : {}
    const headers = { 'Idempotency-Key': body.text, ...prefer }
    const { status, body: answer } = await this.#stage.relay.send(body, headers)
    if (status >= 300) throw new Error(`${body.text}: ${status} ${JSON.stringify(answer)}`)
    return { messageId: answer.id, text: body.text, status: answer.status }
  }

  async #askAgain(body: Body): Promise<void> {
    this.repeats += 1
    const [first, second] = await Promise.all([this.#answers.at(-1), this.#ask(body)])
    if (first?.messageId !== second.messageId) this.contradictions.push(body.text)
  }
}

function receivedOf({ id, body }: { readonly id: string; readonly body: string }): Received {
  const { event, phone_line_id: lineId, message } = JSON.parse(body)
  return { id, event, lineId, message, isSigned: true }
}
