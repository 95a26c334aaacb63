// One send on a box. Nothing is sent before its row is in the journal, and nothing with a row is sent again.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { LineId } from '../domain/ids.ts'
import type { OutgoingAttachment, OutgoingMessage } from '../domain/message.ts'
import { type LineSession, type SendOutcome, WITHDRAWN } from '../lines/driver.ts'
import { type Clock, deadline } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { fetchFile } from './files.ts'
import { type Journal, mayHaveLeft } from './journal.ts'
import type { Link } from './link.ts'
import { ask, askUntil, GRANT_MS, type Request, sessionOrder, UNUSED } from './wire.ts'

/** The box in this process. */
export type ThisBox = {
  readonly id: string
  readonly link: Link
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
  /** Folder for files that are to be sent; it is emptied at the start. */
  readonly folder: string
}

type Run = {
  readonly session: string
  readonly line: LineId
  /** Subject of the head that the session belongs to. */
  readonly up: string
  readonly over: AbortSignal
}

/** State of the grant: `unused` if no answer came in time, or the journal couldn't be written. */
type Grant = 'unasked' | 'unused' | 'refused' | 'used'

const PASS_MS = 2_000
const FILE_MS = 5_000
const MISSING = { outcome: 'not_sent', reason: 'attachment_missing', blame: 'message' } as const

export class BoxSend {
  readonly #box: ThisBox
  readonly #run: Run
  readonly #order: Request<'send'>
  #grant: Grant = 'unasked'
  #isAnswered = false

  constructor(box: ThisBox, run: Run, order: Request<'send'>) {
    this.#box = box
    this.#run = run
    this.#order = order
  }

  /** True if the journal has a row for this send: the message may leave. */
  get hasRow(): boolean {
    return this.#grant === 'used'
  }

  /** Resolves in the same turn of the event loop as the driver's answer; never rejects. */
  async outcome(device: LineSession | null, signal: AbortSignal): Promise<SendOutcome> {
    const { log } = this.#box
    const fields = { message_id: this.#order.message.id }
    let reported: SendOutcome | null = null
    try {
      reported = await this.#outcome(device, signal)
    } catch (error) {
      log.error('driver failed in a send', { ...fields, error })
    }
    this.#isAnswered = true
    try {
      return this.#truthful(reported)
    } catch (error) {
      log.error('journal could not be read', { ...fields, error })
      return { outcome: 'unknown', reason: 'driver_error' }
    }
  }

  /**
   * The outcome of an earlier send of the message; null if no row says that it may have left. Unknown if the row is
   * for another text.
   */
  #earlier(): SendOutcome | null {
    const { journal } = this.#box
    const { message } = this.#order
    const row = journal.find(message.id)
    if (row === null || !mayHaveLeft(row)) return null
    const outcome = journal.isOf(message) ? row.outcome : null
    return outcome ?? { outcome: 'unknown', reason: 'outcome_unknown' }
  }

  async #outcome(device: LineSession | null, signal: AbortSignal): Promise<SendOutcome> {
    const { message, send } = this.#order
    const earlier = this.#earlier()
    if (earlier !== null) return earlier
    if (device === null || signal.aborted) return WITHDRAWN
    const { attachments, ...rest } = message
    if (attachments === undefined)
      return device.send(rest, (note) => this.#pass(rest, note, signal), signal)
    const place = join(this.#box.folder, `${this.#run.session}-${send}`)
    try {
      const files = await this.#fetch(attachments, place)
      if (files === null) return this.#run.over.aborted ? WITHDRAWN : MISSING
      const whole = { ...rest, attachments: files }
      return await device.send(whole, (note) => this.#pass(whole, note, signal), signal)
    } finally {
      await rm(place, { recursive: true, force: true })
    }
  }

  /** The outcome that is certain, whatever the driver says; `reported` is null if the driver threw. */
  #truthful(reported: SendOutcome | null): SendOutcome {
    if (this.#grant === 'unused') return this.#earlier() ?? UNUSED
    if (this.#grant !== 'used') {
      return reported ?? { outcome: 'not_sent', reason: 'driver_error', blame: 'line' }
    }
    const isWithdrawn =
      reported?.outcome === 'not_sent' && reported.reason === 'withdrawn' && reported.proof !== true
    if (reported === null || isWithdrawn || reported.outcome === 'postponed') {
      return { outcome: 'unknown', reason: 'driver_error' }
    }
    return reported
  }

  async #pass(
    message: OutgoingMessage,
    note: string | null,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#grant !== 'unasked' || this.#isAnswered) return false
    this.#grant = 'unused'
    const { clock, journal, log } = this.#box
    const { session, line, over } = this.#run
    const mark = await this.#raiseMark()
    if (mark === null) return false
    const askedAt = clock.monotonic()
    const isGranted = await this.#ask(note, mark)
    if (isGranted === false) this.#grant = 'refused'
    if (isGranted !== true) return false
    const isCurrent = () => {
      const isInTime = clock.monotonic() - askedAt < GRANT_MS
      const isNewest =
        !over.aborted && !signal.aborted && journal.fence === sessionOrder(session)[0]
      return isInTime && isNewest && !this.#isAnswered
    }
    try {
      const hasRow = await journal.insert({ session, line, message, note }, isCurrent)
      if (hasRow) this.#grant = 'used'
      return hasRow
    } catch (error) {
      log.error('journal could not be written', { message_id: message.id, error })
      return false
    }
  }

  /** Null if the journal can't be written: then no grant is requested. */
  async #raiseMark(): Promise<number | null> {
    try {
      return await this.#box.journal.raiseMark()
    } catch (error) {
      const { message } = this.#order
      this.#box.log.error('journal could not be written', { message_id: message.id, error })
      return null
    }
  }

  /** The head's answer; null if it doesn't come in time. */
  async #ask(note: string | null, mark: number): Promise<boolean | null> {
    const { link, clock } = this.#box
    const { session, up, over } = this.#run
    const limit = deadline(clock, GRANT_MS, over)
    const address = { link, subject: up, timeoutMs: PASS_MS }
    const { send } = this.#order
    try {
      const answer = await askUntil(clock, limit.signal, () =>
        ask(address, 'pass', { session, send, note, mark }),
      )
      return answer?.isGranted ?? null
    } finally {
      limit.clear()
    }
  }

  /** Fetches the files into `place`; null if a file has changed or is missing, or the session is over. */
  async #fetch(
    attachments: NonNullable<Request<'send'>['message']['attachments']>,
    place: string,
  ): Promise<readonly OutgoingAttachment[] | null> {
    const { link, clock } = this.#box
    const { session, up, over } = this.#run
    const address = { link, subject: up, timeoutMs: FILE_MS }
    const { send } = this.#order
    await mkdir(place, { recursive: true })
    const files: OutgoingAttachment[] = []
    for (const file of attachments) {
      const { sha256 } = file
      const path = join(place, String(files.length))
      const isWhole = await fetchFile({ path, size: file.size, sha256 }, (offset) =>
        askUntil(clock, over, () =>
          ask(address, 'outgoing_file', { session, send, sha256, offset }),
        ),
      )
      if (!isWhole) return null
      files.push({ ...file, path })
    }
    return files
  }
}
