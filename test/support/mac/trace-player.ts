import { basename } from 'node:path'

import type { Clock } from '../../../src/system/clock.ts'
import { encodeAttributedBody } from './attributed-body-encoder.ts'
import type { ChatDbFile, ColumnValue, MessageValues } from './chat-db-file.ts'
import type { CarriedText, SendStep } from './messages-behaviours.ts'
import type { RowValues, TraceStep, TraceValue } from './trace.ts'

type PlayerTools = {
  readonly clock: Clock
  /** The database as it is now, which another one may replace. */
  readonly file: () => ChatDbFile
  /** Called when the network takes a message. */
  readonly onCarry: (letter: CarriedText) => void
}

/** When the play began, and the guids of its rows by their names. */
type Stage = { readonly start: number; readonly guids: Map<string, string> }

const GROUP = 43

/** Writes traces into chat.db, each step at its time. */
export class TracePlayer {
  readonly #tools: PlayerTools
  #isClosed = false

  constructor(tools: PlayerTools) {
    this.#tools = tools
  }

  /** What is due at once is written before it returns; it resolves with the last step. */
  play(steps: readonly SendStep[]): Promise<void> {
    const { clock } = this.#tools
    const stage: Stage = { start: clock.now(), guids: new Map() }
    const { promise, resolve } = Promise.withResolvers<void>()
    const inOrder = [...steps].sort((a, b) => a.t - b.t)
    for (const [t, group] of Map.groupBy(inOrder, (step) => step.t)) {
      const act = () => {
        if (this.#isClosed) return
        this.#act(group, stage)
        if (t === inOrder.at(-1)?.t) resolve()
      }
      if (t <= 0) act()
      else clock.after(t, act)
    }
    return promise
  }

  /** Nothing is written after it. */
  close(): void {
    this.#isClosed = true
  }

  get #file(): ChatDbFile {
    return this.#tools.file()
  }

  /** The rows of one moment are one commit; what the network takes then comes after them. */
  #act(group: readonly SendStep[], stage: Stage): void {
    this.#file.db.transaction(() => {
      for (const step of group) if (step.op !== 'carry') this.#write(step, stage)
    })()
    for (const step of group) if (step.op === 'carry') this.#tools.onCarry(step.letter)
  }

  #write(step: TraceStep, stage: Stage): void {
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
    if (step.op === 'update') this.#file.set(rowId, this.#columns(step.set, stage))
    else this.#file.joinChat(rowId, this.#chatOf(step.chat))
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

  #valueOf(value: TraceValue, { start }: Stage): ColumnValue {
    const isPlain = typeof value !== 'object' || value === null
    return isPlain ? value : this.#file.date(start + value.at)
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
