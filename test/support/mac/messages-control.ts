// What a test asks of Messages in a process of its own, over the Unix socket in its folder.

import type { Delays, CarriedText } from './messages-behaviours.ts'
import type { MessagesModel, ScriptCall, ScriptEnd } from './messages-model.ts'
import type { Behaviour } from './script-behaviours.ts'
import type { Replacement, TraceStep } from './trace.ts'

/** Values of columns that go through JSON. */
export type PlainValues = Readonly<Record<string, string | number | null>>

type ModelState = {
  readonly account: MessagesModel['account']
  readonly automation: MessagesModel['automation']
  readonly isAnswering: boolean
  readonly isRunning: boolean
}

/** Every order: what it takes, and what it answers. */
export type Orders = {
  receive: [{ readonly from: string; readonly text: string; readonly values?: PlainValues }, string]
  nextSend: [readonly Behaviour[], null]
  behave: [{ readonly handle: string; readonly behaviour: Behaviour }, null]
  /** Answered once its last step is written. */
  play: [readonly TraceStep[], null]
  setDelays: [Partial<Delays>, null]
  /** Changes what it names; `isRunning` is the process that pgrep finds. */
  setState: [Partial<ModelState>, null]
  carried: [{ readonly text: string }, number]
  letters: [null, readonly CarriedText[]]
  calls: [null, readonly ScriptCall[]]
  checkpoint: [null, null]
  reopen: [null, null]
  replace: [Omit<Replacement, 'op'>, null]
}
export type OrderName = keyof Orders

/** What a stand-in expects: how it was called. */
export type ToolCall = {
  readonly tool: string
  readonly args: readonly string[]
  readonly stdin: string
}
export type ToolEnd = Exclude<ScriptEnd, 'hang'>

export const ORDER_PATH = '/order/'
export const TOOL_PATH = '/tool'

/** Asks the process behind `socket`; no name is looked up, and the wait has no end of its own. */
export async function askMessages(socket: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`http://messages${path}`, {
    unix: socket,
    method: 'POST',
    body: JSON.stringify(body),
    keepalive: false,
    timeout: false,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
