// One session on a box: its driver runs one line for the head. Events and outcomes go up to the head as numbered
// items. A message leaves only after its row is in the journal.

import type { MessageId } from '../domain/ids.ts'
import {
  type DriverLine,
  type LineDriver,
  type LineEvent,
  type LineListener,
  type LineSession,
  type SendOutcome,
  type Settlement,
} from '../lines/driver.ts'
import { NEVER, withTimeout } from '../system/clock.ts'
import { BoxSend, type ThisBox } from './box-send.ts'
import { readChunk } from './files.ts'
import { type JournalRow, mayHaveLeft } from './journal.ts'
import { SUBJECTS } from './link.ts'
import { packEvent } from './wire-events.ts'
import {
  type Answer,
  ask,
  askUntil,
  type Chunk,
  ENDING_MS,
  type Item,
  readBoxNote,
  type Request,
  SENTENCE_LENGTH_MAX,
  sessionOrder,
  UNUSED,
  WINDOW,
} from './wire.ts'

type Entry = {
  readonly seq: number
  readonly item: Item
  readonly files: ReadonlyMap<string, string>
  /** The item is sent to the head once this has resolved. */
  readonly written: Promise<void> | null
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

type Device = {
  readonly number: number
  readonly session: LineSession
  readonly controller: AbortController
}

const ITEM_MS = 5_000
/** Most events that may wait behind the window. */
const WAITING_MAX = 1_000
const SETTLE_AGAIN_MS = 1_000
const SETTLE_TRIES_MAX = 60
const NO_FILES: ReadonlyMap<string, string> = new Map()
const OVER = { isOver: true } as const
const TAKEN = { isTaken: true } as const

export class BoxLine implements LineListener {
  readonly session: string
  readonly kind: string
  readonly key: string
  /** Subject of the head that the session belongs to. */
  readonly #up: string
  readonly #box: ThisBox
  readonly #driver: LineDriver
  readonly #line: Request<'run'>['line']
  /** Aborts when the session is over: nothing is sent to the head any more. */
  readonly #over = new AbortController()
  readonly #running = new AbortController()
  readonly #waiting: Entry[] = []
  readonly #open = new Map<number, Entry>()
  readonly #sends = new Set<Promise<void>>()
  /** Every send up to this number was taken, and so were the sends in `#sendsAhead`. */
  #sendsGiven = 0
  readonly #sendsAhead = new Set<number>()
  readonly #numbers = new WeakMap<LineSession, number>()
  #numberCount = 0
  /** Messages that the journal has settled. */
  readonly #settled = new Set<MessageId>()
  #device: Device | null = null
  #seq = 0
  #isStopping = false
  #isRunOver = false
  /** Resolves when the driver has returned and no send is left. */
  readonly done: Promise<void>

  constructor(box: ThisBox, driver: LineDriver, { session, line }: Request<'run'>) {
    this.#box = box
    this.#driver = driver
    this.session = session
    this.kind = driver.kind
    this.key = line.key
    this.#up = SUBJECTS.up(String(sessionOrder(session)[0]), box.id)
    this.#line = line
    this.done = this.#run()
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  get isRunOver(): boolean {
    return this.#isRunOver
  }

  get hasSends(): boolean {
    return this.#sends.size > 0
  }

  get isOnline(): boolean {
    return this.#device !== null
  }

  /** Ends the session: no send passes its point of no return any more, and nothing more is sent to the head. */
  end(): void {
    this.#over.abort()
    this.#endRun()
    for (const { reject } of [...this.#open.values(), ...this.#waiting.splice(0)]) {
      reject(new Error('The session is over.'))
    }
  }

  /** Ends the driver's run. The head ends the session. */
  stop(): void {
    this.#isStopping = true
    this.#endRun()
  }

  /** Synchronous up to the queue: events keep the driver's order. */
  async onEvent(event: LineEvent): Promise<void> {
    if (this.#running.signal.aborted) throw new Error('This run of the line is over.')
    if (this.#waiting.length >= WAITING_MAX) {
      throw new Error(`More than ${WAITING_MAX} events were not waited for.`)
    }
    if (event.type === 'settled' && this.#settled.has(event.messageId)) return
    const { event: packed, files } = packEvent(event, (session) => this.#numberOf(session))
    if (event.type === 'online') this.#openDevice(event.session)
    if (event.type === 'offline') this.#endDevice()
    const written = event.type === 'settled' ? this.#keep(event.messageId, event.outcome) : null
    await this.#add({ type: 'event', event: packed }, files, written)
  }

  /** Takes a message; a repeat gets the same answer and changes nothing. */
  send(order: Request<'send'>): Answer<'send'> {
    if (this.isOver) return OVER
    if (!this.#isFirst(order.send)) return TAKEN
    const carried = this.#carry(order).finally(() => this.#sends.delete(carried))
    this.#sends.add(carried)
    return TAKEN
  }

  async knows({ deviceSession, handle }: Request<'knows'>): Promise<Answer<'knows'>> {
    const device = this.#device?.number === deviceSession ? this.#device : null
    return { isKnown: (await device?.session.knows(handle)) ?? null }
  }

  /** Reads a piece of a file of an event that the head hasn't answered yet. */
  async file({ seq, guid, offset }: Request<'received_file'>): Promise<Chunk> {
    const path = this.#open.get(seq)?.files.get(guid)
    return path === undefined ? { isMissing: true } : readChunk(path, offset)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#box
    let error: string | null = null
    try {
      const line = await this.#load()
      if (line !== null) await this.#driver.run(line, this, this.#running.signal)
    } catch (cause) {
      error = cause instanceof Error ? cause.message : String(cause)
      if (!this.#running.signal.aborted)
        log.warn('line failed', { session: this.session, error: cause })
    }
    this.#endRun()
    this.#isRunOver = true
    if (!this.#isStopping) {
      const ended = { type: 'ended', error: error?.slice(0, SENTENCE_LENGTH_MAX) ?? null } as const
      await this.#add(ended, NO_FILES).catch(() => {})
    }
    await withTimeout(clock, ENDING_MS, Promise.all(this.#sends), null)
  }

  /** Loads the line with its lists; null if the session ends before. */
  async #load(): Promise<DriverLine | null> {
    const unsettled = await this.#pages('unsettled', ({ unsettled = [] }) => unsettled)
    const open = await this.#pages('open', ({ open = [] }) => open)
    const awaited = await this.#pages('awaited', ({ awaited = [] }) => awaited)
    if (unsettled === null || open === null || awaited === null) return null
    return {
      ...this.#line,
      box: null,
      unsettled: unsettled.flatMap((entry) => this.#claim(entry)),
      open: open.map(({ guid, note }) => ({ guid, note: this.#ownNote(note)?.note ?? null })),
      awaited,
    }
  }

  async #pages<Entry>(
    list: Request<'page'>['list'],
    entriesOf: (page: Exclude<Answer<'page'>, typeof OVER>) => readonly Entry[],
  ): Promise<readonly Entry[] | null> {
    const all: Entry[] = []
    for (let from: number | null = 0; from !== null;) {
      const request: Request<'page'> = { session: this.session, list, from }
      const page: Answer<'page'> | null = await this.#ask('page', request)
      if (page === null || 'isOver' in page) return null
      all.push(...entriesOf(page))
      from = page.next
    }
    return all
  }

  /** Settles an unsettled message by the journal if it can; returns it for the driver if it may have left. */
  #claim({ message, note }: UnsettledEntry): DriverLine['unsettled'] {
    const { journal } = this.#box
    const granted = this.#ownNote(note)
    const record = journal.recordOf(message.id, granted)
    if (record === 'lost') {
      return [{ message: withoutPaths(message), note: granted?.note ?? null }]
    }
    const row = record === 'none' ? null : record
    const outcome = settlementOf(row)
    const isEnd = outcome !== null && outcome.outcome !== 'unknown'
    if (isEnd) {
      this.#settled.add(message.id)
      const event = { type: 'settled', messageId: message.id, outcome } as const
      this.#add({ type: 'event', event }, NO_FILES).catch(() => {})
    }
    // A message that may have been sent goes to the driver, to be recognized or to find out its outcome.
    const mayBeThere = row !== null && mayHaveLeft(row)
    return mayBeThere ? [{ message: withoutPaths(message), note: row.note }] : []
  }

  #ownNote(note: string | null) {
    const granted = readBoxNote(note)
    return granted?.box === this.#box.id ? granted : null
  }

  async #carry(order: Request<'send'>): Promise<void> {
    const { session } = this
    const run = { session, up: this.#up, line: this.#line.id, over: this.#over.signal }
    const send = new BoxSend(this.#box, run, order)
    const device = this.#device?.number === order.deviceSession ? this.#device : null
    const signal = device?.controller.signal ?? AbortSignal.abort()
    const outcome = await send.outcome(device?.session ?? null, signal)
    // Added in this turn, so that it reaches the head before what the driver publishes next.
    const added = this.#add({ type: 'outcome', send: order.send, outcome }, NO_FILES)
    const written = send.hasRow ? this.#settle(order.message.id, outcome) : null
    await Promise.allSettled([added, written])
  }

  /** Writes the outcome of a row, which is the only record of what became of the message. */
  async #settle(id: MessageId, outcome: SendOutcome): Promise<void> {
    const { journal, log, clock } = this.#box
    for (let tries = 1; tries <= SETTLE_TRIES_MAX; tries += 1) {
      try {
        await journal.settle(id, this.session, outcome)
        return
      } catch (error) {
        if (tries === 1) log.error('outcome cannot be written to the journal', { error })
      }
      await clock.sleep(SETTLE_AGAIN_MS, NEVER)
    }
  }

  /** Stores a certain outcome of an earlier row, because a message that is proven unsent may be sent again. */
  async #keep(id: MessageId, outcome: Settlement): Promise<void> {
    const { journal, log } = this.#box
    const isCertain = outcome.outcome === 'not_sent' ? outcome.proof : outcome.outcome !== 'unknown'
    if (isCertain !== true) return
    try {
      const row = journal.find(id)
      if (row !== null) await journal.settle(id, row.session, outcome)
    } catch (error) {
      log.error('outcome cannot be written to the journal', { message_id: id, error })
    }
  }

  #openDevice(session: LineSession): void {
    if (this.#device?.session === session) return
    this.#endDevice()
    const number = this.#numberOf(session)
    this.#device = { number, session, controller: new AbortController() }
  }

  #endDevice(): void {
    this.#device?.controller.abort()
    this.#device = null
  }

  #endRun(): void {
    this.#running.abort()
    this.#endDevice()
  }

  #numberOf(session: LineSession): number {
    const known = this.#numbers.get(session)
    if (known !== undefined) return known
    this.#numberCount += 1
    this.#numbers.set(session, this.#numberCount)
    return this.#numberCount
  }

  #isFirst(send: number): boolean {
    if (send <= this.#sendsGiven || this.#sendsAhead.has(send)) return false
    this.#sendsAhead.add(send)
    while (this.#sendsAhead.delete(this.#sendsGiven + 1)) this.#sendsGiven += 1
    return true
  }

  /** Resolves when the head has taken the item; rejects if the session ends before. */
  #add(
    item: Item,
    files: ReadonlyMap<string, string>,
    written: Promise<void> | null = null,
  ): Promise<void> {
    if (this.isOver) return Promise.reject(new Error('The session is over.'))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#seq += 1
    this.#waiting.push({ seq: this.#seq, item, files, written, resolve, reject })
    this.#fill()
    return promise
  }

  #fill(): void {
    while (this.#open.size < WINDOW) {
      const entry = this.#waiting.shift()
      if (entry === undefined) return
      this.#open.set(entry.seq, entry)
      this.#deliver(entry).catch((error: unknown) => {
        this.#box.log.error('item could not be sent', { session: this.session, error })
        this.end()
      })
    }
  }

  async #deliver({ seq, item, written, resolve }: Entry): Promise<void> {
    if (written !== null) await written
    const answer = await this.#ask('item', { session: this.session, seq, item })
    if (answer === null || 'isOver' in answer) {
      this.end()
      return
    }
    this.#open.delete(seq)
    resolve()
    this.#fill()
  }

  #ask<Name extends 'item' | 'page'>(
    name: Name,
    request: Request<Name>,
  ): Promise<Answer<Name> | null> {
    const { link, clock } = this.#box
    const address = { link, subject: this.#up, timeoutMs: ITEM_MS }
    return askUntil(clock, this.#over.signal, () => ask(address, name, request))
  }
}

type UnsettledEntry = NonNullable<Exclude<Answer<'page'>, typeof OVER>['unsettled']>[number]

/** The final outcome of a message by its row; a missing row proves that it was never sent. Null if the row has none. */
function settlementOf(row: JournalRow | null): Settlement | null {
  if (row === null) return UNUSED
  const { outcome } = row
  if (outcome === null || outcome.outcome === 'postponed') return null
  // The driver promised that the device has nothing of the message, and the journal recorded that.
  const isProven = outcome.outcome === 'not_sent' && outcome.blame === 'line'
  return isProven ? { ...outcome, proof: true } : outcome
}

/** Drops file paths: only files of a send are fetched; a driver finds the others by name and hash. */
function withoutPaths({ attachments, ...message }: UnsettledEntry['message']) {
  if (attachments === undefined) return message
  return { ...message, attachments: attachments.map((file) => ({ ...file, path: '' })) }
}
