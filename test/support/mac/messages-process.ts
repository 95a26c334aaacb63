// Messages in a process of its own, beside the relay's: `bun messages-process.ts <folder> <schema>`. It
// makes chat.db and the stand-ins in the folder, says `ready`, and ends with its standard input.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { systemClock } from '../../../src/system/clock.ts'
import { ChatDbFile } from './chat-db-file.ts'
import { SCHEMAS } from './chat-db-schemas.ts'
import {
  ORDER_PATH,
  TOOL_PATH,
  type OrderName,
  type Orders,
  type ToolCall,
  type ToolEnd,
} from './messages-control.ts'
import { MessagesModel } from './messages-model.ts'

class MessagesProcess {
  readonly #model: MessagesModel
  /** The pid that `pgrep -x Messages` finds, of a process that does nothing, and ends with us. */
  #pid: number | null = null

  constructor(model: MessagesModel) {
    this.#model = model
    this.#launch()
  }

  readonly tools: Readonly<Record<string, (call: ToolCall) => Promise<ToolEnd>>> = {
    osascript: async ({ args, stdin }) => {
      const end = await this.#model.handleScript(args, stdin)
      // One that hangs is not answered until it is ended.
      return end === 'hang' ? new Promise<never>(() => {}) : end
    },
    open: async () => {
      this.#launch()
      return { exitCode: 0, stdout: '', stderr: '' }
    },
    pgrep: async () => {
      if (this.#pid === null) return { exitCode: 1, stdout: '', stderr: '' }
      return { exitCode: 0, stdout: `${this.#pid}\n`, stderr: '' }
    },
  }

  readonly orders: {
    readonly [Name in OrderName]: (
      asked: Orders[Name][0],
    ) => Orders[Name][1] | Promise<Orders[Name][1]>
  } = {
    receive: ({ from, text }) => done(this.#model.receive(from, text)),
    behave: ({ handle, behaviour }) => done(this.#model.behave(handle, behaviour)),
    play: async (steps) => done(await this.#model.play(steps)),
    setDelays: (delays) => {
      this.#model.delays = { ...this.#model.delays, ...delays }
      return null
    },
    letters: () => this.#model.letters,
  }

  #launch(): void {
    if (this.#pid !== null) return
    const child = Bun.spawn(['/bin/cat'], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' })
    const gone = () => {
      this.#pid = null
      this.#model.quit()
    }
    this.#pid = child.pid
    void child.exited.then(gone)
    this.#model.launch()
  }
}

function done(_nothing: unknown): null {
  return null
}

function serve(socket: string, messages: MessagesProcess): void {
  Bun.serve({
    unix: socket,
    fetch: async (request, server) => {
      // A script that hangs stays unanswered for as long as its process lives.
      server.timeout(request, 0)
      const { pathname } = new URL(request.url)
      const body: unknown = await request.json()
      if (pathname === TOOL_PATH) {
        const call = body as ToolCall // What messages-tool.ts sends.
        const tool = messages.tools[call.tool]
        return tool === undefined
          ? new Response('no such tool', { status: 404 })
          : Response.json(await tool(call))
      }
      const name = pathname.slice(ORDER_PATH.length)
      const orders: Readonly<Record<string, ((asked: never) => unknown) | undefined>> =
        messages.orders
      const order = orders[name]
      if (order === undefined) return new Response('no such order', { status: 404 })
      const asked = body as never // The control of mac-rig.ts sends what the order of this name takes.
      return Response.json(await order(asked))
    },
    error: (error) => new Response(error.message, { status: 500 }),
  })
}

/** Executables that carry the socket's path in them: children of the relay get no environment of ours. */
function writeStandIns(folder: string, socket: string): void {
  mkdirSync(folder, { recursive: true })
  const tool = fileURLToPath(import.meta.resolve('./stand-ins/messages-tool.ts'))
  for (const name of ['osascript', 'open', 'pgrep']) {
    const words = [process.execPath, tool, socket, name].map(quoted).join(' ')
    writeExecutable(join(folder, name), `exec ${words} "$@"\n`)
  }
  // `-w <pid>` comes last, as the relay calls it.
  const wait = 'for last in "$@"; do :; done\nwhile kill -0 "$last"; do sleep 0.2; done\n'
  writeExecutable(join(folder, 'caffeinate'), wait)
}

function writeExecutable(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}`)
  chmodSync(path, 0o755)
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}

async function run([folder = '', name = '']: readonly string[]): Promise<void> {
  const schema = SCHEMAS.find((known) => known === name)
  if (schema === undefined) throw new Error(`No such schema: ${name}`)
  const file = ChatDbFile.create(join(folder, 'chat.db'), schema)
  const socket = join(folder, 'messages.sock')
  writeStandIns(join(folder, 'bin'), socket)
  serve(socket, new MessagesProcess(new MessagesModel(file, systemClock)))
  await Bun.write(Bun.stdout, 'ready\n')
  // The end of standard input is the end of the test that started this.
  for await (const _ of Bun.stdin.stream()) continue
  process.exit(0)
}

await run(process.argv.slice(2))
