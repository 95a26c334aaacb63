// The simulated network: carries messages between simulated lines and people, and keeps everything that was sent and
// is to come in its ledger.

import { guidFromBytes, timestamp, uuidV7 } from '../../../domain/ids.ts'
import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import { Signal } from '../../../system/signal.ts'
import type { DeviceGroup } from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { BY_DIGITS, type NetworkScript } from './behaviour.ts'
import { SimulatedFiles } from './files.ts'
import { Ledger, type Carried, type NetworkEvent, type Part, type PendingEvent } from './ledger.ts'

export type SimulatedOptions = {
  readonly lineCount: number
  /** Time that a simulated person takes for each step: to get a message, and to read it. */
  readonly delayMs: number
  readonly ledgerPath: string
  /** The first content of a ledger that is only in memory. */
  readonly ledgerImage?: Uint8Array | null | undefined
  readonly script?: NetworkScript | undefined
}

export type NetworkHost = Pick<KindHost, 'relayClock' | 'random'>

/** A message, the session of its line that sent it, and the events that follow from it. */
type CarriedMessage = {
  readonly carried: Carried
  readonly session: string
  /** The files that were sent, in order. */
  readonly parts: readonly Part[]
  /** True if the network refused the rest, so that the message itself is not carried. */
  readonly isCut: boolean
  readonly events: readonly PendingEvent[]
}

type Posted = CarriedMessage & {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const DUE_MAX = 256
const PRUNE_MAX = 500
const KEPT_MS = 30 * 86_400_000
const OUTAGE_MS = 5_000

const COLUMNS = 'line, kind, guid, handle, text, details, at'
const DUE = `SELECT seq FROM pending WHERE line = $line AND at <= $now ORDER BY at, seq LIMIT +$limit`

export class SimulatedNetwork {
  /** Id of the ledger: a new file has another id. */
  readonly identity: string
  readonly files: SimulatedFiles
  readonly clock: Clock
  readonly lineCount: number
  readonly delayMs: number
  readonly script: NetworkScript
  readonly #random: Random
  readonly #ledger: Ledger
  readonly #signals = new Map<string, Signal>()
  /** The time of each line's next pending event, as far as it is known; Infinity if there is none. */
  readonly #nextDueAt = new Map<string, number>()
  /** Ends of the outages of lines that a message dropped. */
  readonly #droppedUntil = new Map<string, number>()
  /** Messages posted in this turn of the event loop. */
  #posted: Posted[] = []
  #time = 0
  #monotonic: number

  constructor(
    { relayClock, random }: NetworkHost,
    { lineCount, delayMs, ledgerPath, ledgerImage, script = BY_DIGITS }: SimulatedOptions,
  ) {
    this.clock = relayClock
    this.lineCount = lineCount
    this.delayMs = delayMs
    this.script = script
    this.#random = random
    this.#monotonic = relayClock.monotonic()
    this.files = new SimulatedFiles(ledgerPath.replace(/(\.db)?$/, '-files'))
    this.#ledger = new Ledger(ledgerImage === undefined ? ledgerPath : (ledgerImage ?? ':memory:'))
    const last = 'SELECT carried_at AS at FROM carried ORDER BY seq DESC LIMIT 1'
    this.#time = this.#ledger.query<{ at: number }>(last).get()?.at ?? 0
    const id = this.newGuid()
    this.#ledger.run("INSERT INTO about VALUES ('identity', $id) ON CONFLICT DO NOTHING", { id })
    const identity = "SELECT value FROM about WHERE name = 'identity'"
    this.identity = this.#ledger.query<{ value: string }>(identity).get()?.value ?? id
  }

  /** A copy of the ledger, without the files. */
  image(): Uint8Array {
    return this.#ledger.image()
  }

  /** Returns the id of a new session; the line's earlier sessions carry nothing from now on. */
  beginSession(line: string): string {
    const id = this.newGuid()
    this.#ledger.run('INSERT INTO sessions (line, id) VALUES ($line, $id)', { line, id })
    return id
  }

  /** Forgets every session of a line except the newest, once everything that they left open is durably settled. */
  settleSessions(line: string): void {
    const newest = 'SELECT max(seq) FROM sessions WHERE line = $line'
    this.#ledger.run(`DELETE FROM sessions WHERE line = $line AND seq < (${newest})`, { line })
  }

  /** The note for a point of no return: `identity:session:seq of the newest message`. */
  noteOf(session: string): string {
    const sql = 'SELECT max(seq) AS newest FROM carried'
    const { newest } = this.#ledger.query<{ newest: number | null }>(sql).get() ?? {}
    return `${this.identity}:${session}:${newest ?? 0}`
  }

  /**
   * True if the ledger would have the message of a note, had the message been carried: its session is over, so none
   * of its sends can write any more; it is not settled, so the relay's own file is not an older copy; and the
   * messages after the note were neither lost nor pruned.
   */
  isCompleteSince(line: string, note: string | null): boolean {
    const [identity, id = '', seq] = note?.split(':') ?? []
    const { oldest, newest } = this.#carriedSeqs()
    const session = 'SELECT seq FROM sessions WHERE line = $line AND id = $id'
    const isSameLedger =
      identity === this.identity && this.#ledger.query(session).get({ line, id }) !== null
    return isSameLedger && Number(seq) <= newest && Number(seq) >= oldest - 1
  }

  /** A signal that is notified if the line may read something earlier than expected. */
  signalOf(line: string): Signal {
    const signal = this.#signals.get(line) ?? new Signal()
    this.#signals.set(line, signal)
    return signal
  }

  /** Takes a line off for five seconds. */
  drop(line: string): void {
    this.#droppedUntil.set(line, this.now() + OUTAGE_MS)
    this.signalOf(line).notify()
  }

  /** Time until the line is on again, in milliseconds; 0 if it is on. */
  msOff(line: string): number {
    const scripted = this.script.offUntil(line)
    return Math.max(0, scripted - this.now(), (this.#droppedUntil.get(line) ?? 0) - this.now())
  }

  /**
   * Carries a message with its events, or rejects and has carried nothing. Messages of one turn of the
   * event loop share a transaction: they pass their points of no return together.
   */
  carry(message: CarriedMessage): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#posted.push({ ...message, resolve, reject })
    if (this.#posted.length === 1) queueMicrotask(() => this.#carryPosted())
    return promise
  }

  /** Adds events that don't follow from a message. */
  post(events: readonly PendingEvent[]): void {
    const now = this.now()
    this.#ledger.transaction(() => this.#insertEvents(events, now))
    this.#expect(events, now)
  }

  /** Events of a line after `position`, in order. Pending events that are due are moved in first. */
  read(line: string, position: number, limit: number): readonly NetworkEvent[] {
    const now = this.now()
    if (this.#dueAt(line) <= now) {
      const due = { line, now, limit: DUE_MAX }
      this.#ledger.transaction(() => {
        const arrived = `SELECT ${COLUMNS} FROM pending WHERE seq IN (${DUE}) ORDER BY at, seq`
        this.#ledger.run(`INSERT INTO events (${COLUMNS}) ${arrived}`, due)
        this.#ledger.run(`DELETE FROM pending WHERE seq IN (${DUE})`, due)
      })
      this.#nextDueAt.delete(line)
    }
    const sql =
      'SELECT * FROM events WHERE line = +$line AND seq > +$position ORDER BY seq LIMIT +$limit'
    return this.#ledger.query<NetworkEvent>(sql).all({ line, position, limit })
  }

  /** Time until the line's next pending event, in milliseconds; Infinity for none. */
  msUntilNext(line: string): number {
    return Math.max(0, this.#dueAt(line) - this.now())
  }

  lastPosition(): number {
    const sql = "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
    return this.#ledger.query<{ seq: number }>(sql).get()?.seq ?? 0
  }

  findCarried(messageId: string): Pick<Carried, 'guid' | 'service'> | null {
    const sql =
      'SELECT guid, service FROM carried WHERE message_id = $messageId ORDER BY seq LIMIT 1'
    return this.#ledger.query<Pick<Carried, 'guid' | 'service'>>(sql).get({ messageId })
  }

  partsOf(messageId: string): readonly Pick<Part, 'guid' | 'attachmentId'>[] {
    const sql = `SELECT guid, attachment_id AS attachmentId FROM parts
       WHERE message_id = $messageId ORDER BY seq`
    return this.#ledger.query<Pick<Part, 'guid' | 'attachmentId'>>(sql).all({ messageId })
  }

  saveGroup(line: string, group: DeviceGroup, isLeft = false): void {
    this.#ledger.run('INSERT OR REPLACE INTO chats VALUES ($line, $chatGuid, $group, $isLeft)', {
      line,
      chatGuid: group.chatGuid,
      group: JSON.stringify(group),
      isLeft: isLeft ? 1 : 0,
    })
  }

  findGroup(line: string, chatGuid: string): DeviceGroup | null {
    const sql = `SELECT device_group AS value FROM chats
       WHERE line = $line AND chat_guid = $chatGuid AND NOT is_left`
    const found = this.#ledger.query<{ value: string }>(sql).get({ line, chatGuid })
    return found === null ? null : (JSON.parse(found.value) as DeviceGroup) // `saveGroup` wrote it.
  }

  /** A message of a line, received or sent, with its original text. */
  findMessage(line: string, guid: string): Pick<NetworkEvent, 'text' | 'details' | 'at'> | null {
    const received = `WHERE line = $line AND kind = 'message' AND guid = $guid`
    const sql = `SELECT text, details, at FROM events ${received}
       UNION ALL SELECT text, details, at FROM pending ${received}
       UNION ALL SELECT text, (SELECT json_object('group', json(device_group)) FROM chats
           WHERE chats.line = $line AND device_group ->> 'identifier' = recipient), carried_at
         FROM carried WHERE line = $line AND guid = $guid LIMIT 1`
    return this.#ledger.query<NetworkEvent>(sql).get({ line, guid })
  }

  /** Changes of a message, past and to come, oldest first. */
  changesOf(line: string, targetGuid: string): readonly Pick<NetworkEvent, 'details' | 'at'>[] {
    const change = `WHERE line = $line AND kind = 'change' AND details ->> 'targetGuid' = $targetGuid`
    const sql = `SELECT details, at FROM events ${change}
       UNION ALL SELECT details, at FROM pending ${change} ORDER BY at`
    return this.#ledger.query<NetworkEvent>(sql).all({ line, targetGuid })
  }

  /** True if the end of the pending file came after `position`, or will come. */
  expectsFile(line: string, guid: string, position: number): boolean {
    const end = `WHERE line = $line AND kind = 'attachment' AND guid = $guid`
    const sql = `SELECT 1 FROM pending ${end}
      UNION ALL SELECT 1 FROM events ${end} AND seq > $position LIMIT 1`
    return this.#ledger.query(sql).get({ line, guid, position }) !== null
  }

  hasHistory(line: string, handle: string): boolean {
    const sql = `SELECT 1 FROM recipients WHERE line = $line AND handle = $handle
      UNION ALL SELECT 1 FROM events
        WHERE line = +$line AND handle = +$handle AND kind = 'message' LIMIT 1`
    return this.#ledger.query(sql).get({ line, handle }) !== null
  }

  /**
   * Deletes a few entries older than 30 days, and of `line` only those up to `position`. The newest
   * message stays, so that no seq is reused.
   */
  prune(line: string, position: number): void {
    const before = this.now() - KEPT_MS
    const old = (rows: string, at: string) =>
      `SELECT seq FROM (SELECT seq, ${at} FROM ${rows} ORDER BY seq LIMIT ${PRUNE_MAX})
       WHERE ${at} < $before`
    const events = old('events WHERE line = $line AND seq <= $position', 'at')
    this.#ledger.run(`DELETE FROM events WHERE seq IN (${events})`, { line, position, before })
    const carried = `${old('carried', 'carried_at')} AND seq < (SELECT max(seq) FROM carried)`
    this.#ledger.run(`DELETE FROM carried WHERE seq IN (${carried})`, { before })
    this.#ledger.run(`DELETE FROM cut WHERE seq IN (${old('cut', 'carried_at')})`, { before })
    this.#ledger.run(`DELETE FROM parts WHERE seq IN (${old('parts', 'carried_at')})`, { before })
    this.files.prune(before)
  }

  /** The caller names the tables and columns of `ledger.ts` in its query, and so the type of its rows. */
  query<Row>(sql: string) {
    return this.#ledger.query<Row>(sql)
  }

  /** Time by the wall clock that never steps back. */
  now(): number {
    const wall = this.clock.now()
    const monotonic = this.clock.monotonic()
    this.#time = wall >= this.#time ? wall : this.#time + (monotonic - this.#monotonic)
    this.#monotonic = monotonic
    return Math.floor(this.#time)
  }

  /** Guids are in order of time: their index grows at its end, which keeps commits small. */
  newGuid(): string {
    return guidFromBytes(uuidV7(timestamp(this.now()), this.#random.bytes(10)))
  }

  /** Seqs of the oldest and the newest message; 0 if none was carried. */
  #carriedSeqs(): { readonly oldest: number; readonly newest: number } {
    const sql =
      'SELECT (SELECT min(seq) FROM carried) AS oldest, (SELECT max(seq) FROM carried) AS newest'
    const seqs = this.#ledger.query<{ oldest: number | null; newest: number | null }>(sql).get()
    return { oldest: seqs?.oldest ?? 0, newest: seqs?.newest ?? 0 }
  }

  #carryPosted(): void {
    const posted = this.#posted
    this.#posted = []
    try {
      this.#ledger.transaction(() => this.#insert(posted))
    } catch (error) {
      for (const { reject } of posted) reject(error)
      return
    }
    for (const { carried, events, resolve } of posted) {
      this.#expect(events, carried.at)
      resolve()
    }
  }

  #insert(posted: readonly CarriedMessage[]): void {
    for (const [session, line] of new Map(posted.map((one) => [one.session, one.carried.line]))) {
      const newest = 'SELECT id FROM sessions WHERE line = $line ORDER BY seq DESC LIMIT 1'
      const { id } = this.#ledger.query<{ id: string }>(newest).get({ line }) ?? {}
      if (id !== session) throw new Error('The session is over.')
    }
    for (const { carried, parts, isCut, events } of posted) {
      const { messageId, line, to: handle, at } = carried
      const values = '$messageId, $line, $to, $text, $guid, $at, $service'
      this.#ledger.run(
        `INSERT INTO ${isCut ? 'cut' : 'carried'}
           (message_id, line, recipient, text, guid, carried_at, service) VALUES (${values})`,
        carried,
      )
      for (const part of parts) {
        this.#ledger.run(
          `INSERT INTO parts VALUES (NULL, $messageId, $attachmentId, $guid, $filename,
             $declaredType, $size, $sha256, $at)`,
          { ...part, messageId, at },
        )
      }
      this.#ledger.run('INSERT OR IGNORE INTO recipients VALUES ($line, $handle)', { line, handle })
      this.#insertEvents(events, at)
    }
  }

  #insertEvents(events: readonly PendingEvent[], now: number): void {
    for (const event of events) {
      const values = `(${COLUMNS}) VALUES ($line, $kind, $guid, $handle, $text, $details, $at)`
      this.#ledger.run(`INSERT INTO ${event.at <= now ? 'events' : 'pending'} ${values}`, event)
    }
  }

  /** Wakes each line that waits for something later than these events, or for nothing. */
  #expect(events: readonly PendingEvent[], now: number): void {
    for (const { line, at } of events) {
      if (at > now && (this.#nextDueAt.get(line) ?? Infinity) <= at) continue
      if (at > now) this.#nextDueAt.delete(line)
      this.signalOf(line).notify()
    }
  }

  #dueAt(line: string): number {
    const known = this.#nextDueAt.get(line)
    if (known !== undefined) return known
    const sql = 'SELECT min(at) AS at FROM pending WHERE line = $line'
    const found = this.#ledger.query<{ at: number | null }>(sql).get({ line })?.at ?? Infinity
    this.#nextDueAt.set(line, found)
    return found
  }
}
