import { decodeAttributedBody } from '../../../src/lines/kinds/mac/attributed-body.ts'
import { MessagesScript } from '../../../src/lines/kinds/mac/script-runner.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { TestClock } from '../test-clock.ts'
import { ChatDbFile } from './chat-db-file.ts'
import { type SchemaName } from './chat-db-schemas.ts'
import { fakeMac, type FakeMacOptions } from './fake-mac.ts'
import { DELAYS } from './messages-behaviours.ts'
import { MessagesModel, type ModelOptions } from './messages-model.ts'
import { FRIEND } from './trace-steps.ts'

export type ModelRigOptions = ModelOptions & FakeMacOptions & { readonly schema?: SchemaName }

/** Messages on a clock of its own, and the script as the relay runs it. */
export function makeModelRig(options: ModelRigOptions = {}) {
  const folder = new ScratchFolder()
  const clock = new TestClock()
  const model = new MessagesModel(
    ChatDbFile.create(folder.file('chat.db'), options.schema ?? 'macos26a'),
    clock,
    { sleep: (ms) => clock.step(ms), ...options },
  )
  const mac = fakeMac(model, options)
  return {
    ...mac,
    clock,
    model,
    script: new MessagesScript({ run: mac.run, clock, osascriptPath: '/usr/bin/osascript' }),
    /** What the script answers in its usual time. */
    ask: async <T>(answer: Promise<T>): Promise<T> => {
      await clock.advance(DELAYS.scriptMs)
      return answer
    },
    [Symbol.dispose]: () => {
      model.close()
      folder[Symbol.dispose]()
    },
  }
}

/** The direct chat with FRIEND, made where there is none. */
export function chatWithFriend({ file }: MessagesModel): { readonly guid: string } {
  const rowId = file.directChat(FRIEND)
  const sql = 'SELECT guid FROM chat WHERE ROWID = $rowId'
  const found = file.db.query<{ guid: string }, [{ rowId: number }]>(sql).get({ rowId })
  return found ?? { guid: '' }
}

type Row = {
  readonly body: Uint8Array | null
  readonly handle: string
  readonly chat: string | null
  readonly service: string
  readonly error: number
  readonly unfinished: number
  readonly sent: number
  readonly delivered: number
  readonly read: number
  /** Its flags and its dates say different things. */
  readonly undated: number
}

/** Each row as one sentence: the text, to whom, in which chat, by which service, how far it came. */
export function rowsOf({ file }: MessagesModel): readonly string[] {
  const sql = `SELECT m.attributedBody AS body, h.id AS handle, m.service, m.error,
      (SELECT c.chat_identifier FROM chat_message_join j JOIN chat c ON c.ROWID = j.chat_id
        WHERE j.message_id = m.ROWID) AS chat,
      is_finished = 0 AS unfinished, is_sent AS sent, is_delivered AS delivered, is_read AS read,
      is_delivered <> coalesce(date_delivered > 0, 0) OR is_read <> coalesce(date_read > 0, 0)
        AS undated
    FROM message m JOIN handle h ON h.ROWID = m.handle_id ORDER BY m.ROWID`
  return file.db.query<Row, []>(sql).all().map(sentence)
}

function sentence({ body, handle, chat, service, error, ...flags }: Row): string {
  const decoded = body === null ? null : decodeAttributedBody(body)
  const text = decoded?.ok === true ? decoded.text : null
  const steps = Object.entries(flags).flatMap(([name, value]) => (value === 1 ? [name] : []))
  const words = error === 0 ? steps : [...steps, `error ${error}`]
  return `${text} -> ${handle} in ${chat}, ${service}, ${words.join(' ')}`
}
