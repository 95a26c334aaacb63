import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { SchemaName } from './chat-db-schemas.ts'
import { askMessages, ORDER_PATH, type OrderName, type Orders } from './messages-control.ts'
import { OWN_NUMBER } from './trace-steps.ts'

/** One method for each order. */
export type MessagesControl = {
  readonly [Name in OrderName]: (asked: Orders[Name][0]) => Promise<Orders[Name][1]>
}

/** Messages in a process of its own, and what makes a relay take it for a Mac. */
export type MessagesRig = AsyncDisposable & {
  readonly chatDbPath: string
  /** Options of the relay. */
  readonly environment: Readonly<Record<string, string>>
  readonly control: MessagesControl
  /** Ends it, and Messages with it. */
  readonly close: () => Promise<void>
}

const PROCESS_PATH = fileURLToPath(import.meta.resolve('./messages-process.ts'))

const ORDER_NAMES: readonly OrderName[] = ['receive', 'behave', 'play', 'setDelays', 'letters']

/** Starts Messages on a new database in `folder`; it also ends when this process does. */
export async function startMessages(folder: string, schema: SchemaName): Promise<MessagesRig> {
  const child = Bun.spawn([process.execPath, PROCESS_PATH, folder, schema], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const first = await child.stdout.getReader().read()
  if (first.done) throw new Error(`Messages ended with ${await child.exited}.`)
  const socket = join(folder, 'messages.sock')
  const chatDbPath = join(folder, 'chat.db')
  const close = async () => {
    await child.stdin.end()
    await child.exited
  }
  return {
    chatDbPath,
    environment: {
      HOOKLINE_MAC: 'on',
      HOOKLINE_MAC_CHAT_DB: chatDbPath,
      HOOKLINE_MAC_OSASCRIPT: join(folder, 'bin', 'osascript'),
      HOOKLINE_MAC_OPEN: join(folder, 'bin', 'open'),
      HOOKLINE_MAC_PGREP: join(folder, 'bin', 'pgrep'),
      HOOKLINE_MAC_CAFFEINATE: join(folder, 'bin', 'caffeinate'),
      HOOKLINE_MAC_PHONE_NUMBER: OWN_NUMBER,
    },
    control: controlOf(socket),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function controlOf(socket: string): MessagesControl {
  const methods = ORDER_NAMES.map((name) => {
    const ask = (asked: unknown) => askMessages(socket, `${ORDER_PATH}${name}`, asked ?? null)
    return [name, ask] as const
  })
  return Object.fromEntries(methods) as MessagesControl // One for each name; `Orders` is both sides' word.
}
