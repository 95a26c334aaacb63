// What a test asks of Messages in a process of its own, over the Unix socket in its folder.

import type { Delays, CarriedText } from './messages-behaviours.ts'
import type { ScriptEnd } from './messages-model.ts'
import type { Behaviour } from './script-behaviours.ts'
import type { TraceStep } from './trace.ts'

/** Every order: what it takes, and what it answers. */
export type Orders = {
  receive: [{ readonly from: string; readonly text: string }, null]
  behave: [{ readonly handle: string; readonly behaviour: Behaviour }, null]
  /** Answered once its last step is written. */
  play: [readonly TraceStep[], null]
  setDelays: [Partial<Delays>, null]
  letters: [null, readonly CarriedText[]]
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
