import { basename } from 'node:path'

import { toAppleSeconds } from '../../../src/lines/kinds/mac/apple-time.ts'
import type { Clock } from '../../../src/system/clock.ts'
import { encodeAttributedBody } from './attributed-body-encoder.ts'
import { ChatDbFile, type ColumnValue, type MessageValues } from './chat-db-file.ts'
import { replaceChatDb } from './chat-db-replacement.ts'
import type { CarriedText, SendStep } from './messages-behaviours.ts'
import type { RowStep, RowValues, TraceValue } from './trace.ts'

export type PlayerTools = {
  readonly clock: Clock
  /** Called when the network takes a message. */
  readonly onCarry: (letter: CarriedText) => void
  /** Sends the Mac to sleep; without it a `sleep` only moves what follows. */
  readonly sleep?: ((ms: number) => void) | undefined
}

/** A trace that is being played. */
export type Play = { readonly ended: Promise<void>; readonly cancel: () => void }

type TimedRowStep = RowStep & { readonly t: number }
/** When the play began, and the guids of its rows by their names. */
type Stage = { readonly start: number; readonly guids: Map<string, string> }

const GROUP = 43

/** Writes traces into chat.db, each step at its time. */
export class TracePlayer {
  readonly #tools: PlayerTools
  readonly #cancels = new Set<() => void>()
  #file: ChatDbFile

  constructor(file: ChatDbFile, tools: PlayerTools) {
    this.#file = file
    this.#tools = tools
  }

  get file(): ChatDbFile {
    return this.#file
  }

  /** What is due at once is written before it returns. */
  play(steps: readonly SendStep[]): Play {
    const { clock } = this.#tools
    const stage: Stage = { start: clock.now(), guids: new Map() }
    const moments = [...this.#moments(steps)]
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancels: (() => void)[] = []
    const cancel = () => {
      for (const take of cancels) take()
      this.#cancels.delete(cancel)
      resolve()
    }
    this.#cancels.add(cancel)
    let left = moments.length
    const act = (group: readonly SendStep[]) => {
      this.#act(group, stage)
      left -= 1
      if (left === 0) cancel()
    }
    for (const [t, group] of moments) {
      if (t <= 0) act(group)
      else cancels.push(clock.after(t, () => act(group)))
    }
    if (moments.length === 0) cancel()
    return { ended: promise, cancel }
  }

  /** Messages closes its database and opens it again, as it does when it starts. */
  reopen(): void {
    const { path, schema } = this.#file
    this.#file.close()
    this.#file = ChatDbFile.create(path, schema)
  }

  /** Nothing is written after it. */
  close(): void {
    for (const cancel of this.#cancels) cancel()
    this.#file.close()
  }

  /** The steps by their times, which a Mac that cannot be sent to sleep puts off. */
  #moments(steps: readonly SendStep[]): ReadonlyMap<number, readonly SendStep[]> {
    const moments = new Map<number, SendStep[]>()
    let sleptMs = 0
    for (const step of [...steps].sort((a, b) => a.t - b.t)) {
      const t = step.t + sleptMs
      moments.set(t, [...(moments.get(t) ?? []), step])
      if (step.op === 'sleep' && this.#tools.sleep === undefined) sleptMs += step.ms
    }
    return moments
  }

  /** The rows of one moment are one commit; what else happens then comes after them. */
  #act(group: readonly SendStep[], stage: Stage): void {
    const rows = group.filter(isRowStep)
    if (rows.length > 0) {
      this.#file.db.transaction(() => {
        for (const step of rows) this.#write(step, stage)
      })()
    }
    for (const step of group) this.#happen(step)
  }

  #happen(step: SendStep): void {
    switch (step.op) {
      case 'insert':
      case 'update':
      case 'join':
      case 'delete':
        return
      case 'carry':
        return this.#tools.onCarry(step.letter)
      case 'checkpoint':
        return this.#file.checkpoint()
      case 'sleep':
        return this.#tools.sleep?.(step.ms)
      case 'replace':
        this.#file = replaceChatDb(this.#file, step)
    }
  }

  #write(step: TimedRowStep, stage: Stage): void {
    if (step.op === 'insert') {
      const at = stage.start + step.t
      const { rowId, guid } = this.#file.addMessage({ ...this.#columns(step.set, stage), at })
      stage.guids.set(step.row, guid)
      if (typeof step.set['file'] === 'string') attach(this.#file, rowId, step.set['file'])
      return
    }
    // A row that a replaced database has lost cannot change any more.
    const rowId = this.#rowIdOf(stage.guids.get(step.row) ?? '')
    if (rowId === null) return
    switch (step.op) {
      case 'update':
        return this.#file.set(rowId, this.#columns(step.set, stage))
      case 'join':
        return this.#file.joinChat(rowId, this.#chatOf(step.chat))
      case 'delete':
        return deleteMessage(this.#file, rowId)
    }
  }

  #columns(set: RowValues, stage: Stage): MessageValues {
    const service = typeof set['service'] === 'string' ? set['service'] : 'iMessage'
    const columns: Record<string, ColumnValue> = {}
    for (const [name, value] of Object.entries(set)) {
      const plain = this.#valueOf(value, stage)
      if (name === 'handle') columns['handle_id'] = this.#file.addHandle(String(plain), service)
      else if (name === 'text') columns['textColumn'] = plain
      else if (name === 'file') columns['attributedBody'] = bodyOfFile(String(plain))
      else if (name === 'body') columns[plain === null ? 'attributedBody' : 'text'] = plain
      else columns[name] = plain
    }
    return columns
  }

  #valueOf(value: TraceValue, { start, guids }: Stage): ColumnValue {
    if (typeof value !== 'object' || value === null) return value
    if ('guidOf' in value) return `${value.before}${guids.get(value.guidOf) ?? ''}`
    const ms = start + value.at
    return value.unit === 's' ? toAppleSeconds(ms) : this.#file.date(ms)
  }

  #rowIdOf(guid: string): number | null {
    const sql = 'SELECT ROWID AS id FROM message WHERE guid = $guid'
    return this.#file.db.query<{ id: number }, [{ guid: string }]>(sql).get({ guid })?.id ?? null
  }

  #chatOf(identifier: string): number {
    if (!identifier.startsWith('chat')) return this.#file.directChat(identifier)
    const sql = `SELECT ROWID AS id FROM chat WHERE chat_identifier = $identifier AND style = ${GROUP}`
    const found = this.#file.db.query<{ id: number }, [{ identifier: string }]>(sql)
    return found.get({ identifier })?.id ?? this.#file.addChat({ identifier, style: GROUP })
  }
}

function bodyOfFile(path: string): Uint8Array {
  return encodeAttributedBody('\uFFFC', { attachments: [transferGuid(path)] })
}

/** A file of ours as Messages has it: it points at the path that it was given. */
function attach(file: ChatDbFile, rowId: number, path: string): void {
  const names = { filename: path, transfer_name: basename(path) }
  file.addAttachment(rowId, { guid: transferGuid(path), ...names, is_outgoing: 1 })
}

function transferGuid(path: string): string {
  return `at_0_${Bun.hash(path).toString(16)}`
}

function deleteMessage({ db }: ChatDbFile, rowId: number): void {
  db.query('DELETE FROM chat_message_join WHERE message_id = $rowId').run({ rowId })
  db.query('DELETE FROM message WHERE ROWID = $rowId').run({ rowId })
}

function isRowStep(step: SendStep): step is TimedRowStep {
  return 'row' in step
}
