import { commonHome, homeOfNumber, personOf, type Handle } from '../domain/handle.ts'
import { readPeopleProgress, savePeopleProgress, type PeopleProgress } from '../storage/about.ts'
import type { Core } from '../storage/core.ts'
import { listLines } from '../storage/lines.ts'
import { findTalk, optOutsAlone, talksBehind, type Talk } from '../storage/merges.ts'
import { insertOptOut } from '../storage/opt-outs.ts'
import { SLICE_MS } from '../system/clock.ts'
import type { Service } from '../system/service.ts'
import { VERSION } from '../system/version.ts'
import { mergeTalk } from './merges.ts'
import { createPersonOn, type PersonOn } from './spellings.ts'

const ROWS_MAX = 500
const MERGES_MAX = 20
const PAUSE_MS = 100
const LOOK_MS = 20_000

/**
 * Finds the conversations whose handle is another spelling of a person's, and merges them: all of them after an
 * upgrade, or when a line has another number, and else the new ones. It works in slices beside the relay.
 */
export class PersonFollower implements Service {
  readonly name = 'people'
  readonly #core: Core
  readonly #disk: { readonly isLow: boolean }
  readonly #personOn: PersonOn

  constructor(core: Core, { disk }: { readonly disk: { readonly isLow: boolean } }) {
    this.#core = core
    this.#disk = disk
    this.#personOn = createPersonOn(core.db)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isBehind = !this.#disk.isLow && (await this.#goOn())
      await this.#core.clock.sleep(isBehind ? PAUSE_MS : LOOK_MS, signal)
    }
  }

  /** False if there is nothing more to do for now. */
  async #goOn(): Promise<boolean> {
    const { db, writer } = this.#core
    const numbers = Object.fromEntries(listLines(db).map(({ id, number }) => [id, number]))
    const known = readPeopleProgress(db)
    const isCurrent =
      known?.version === VERSION &&
      Object.entries(numbers).every(([id, number]) => (known.numbers[id] ?? number) === number)
    const after = isCurrent ? known.seq : 0
    if (!isCurrent) await writer.write((tx) => this.#readOptOuts(tx, numbers))
    const { others, last } = this.#slice(after, numbers)
    for (const { talk, person } of others) {
      const isDone = await writer.write((tx) => {
        const isThere = findTalk(tx, talk.lineId, talk.handle)?.seq === talk.seq
        return !isThere || mergeTalk(this.#core, tx, talk, person)
      })
      // Its message settles first.
      if (!isDone) return false
    }
    if (isCurrent && last === after) return false
    await writer.write((tx) => savePeopleProgress(tx, { version: VERSION, seq: last, numbers }))
    return last > after
  }

  /** The next conversations, as many as fit into a slice, and those of them that are another spelling's. */
  #slice(after: number, numbers: PeopleProgress['numbers']) {
    const { db, clock } = this.#core
    const end = clock.monotonic() + SLICE_MS
    const others: { readonly talk: Talk; readonly person: Handle }[] = []
    let [last, rows] = [after, 0]
    for (const talk of talksBehind(db, after)) {
      const line = { id: talk.lineId, number: numbers[talk.lineId] ?? talk.phoneNumber }
      const person = this.#personOn(line, talk.handle)
      if (person !== talk.handle) others.push({ talk, person })
      last = talk.seq
      rows += 1
      const isFull = rows === ROWS_MAX || others.length === MERGES_MAX
      if (isFull || clock.monotonic() > end) break
    }
    return { others, last }
  }

  /** Opt-outs outlive their conversations. */
  #readOptOuts(tx: Parameters<typeof insertOptOut>[0], numbers: PeopleProgress['numbers']): void {
    const common = commonHome(Object.values(numbers))
    for (const { seq: _seq, ...optOut } of optOutsAlone(tx)) {
      const number = optOut.lineId === null ? undefined : numbers[optOut.lineId]
      const home = number === undefined ? common : homeOfNumber(number)
      insertOptOut(tx, { ...optOut, handle: personOf(optOut.handle, home) })
    }
  }
}
