// WebDriverAgent's HTTP server (FBHTTPServer.m, 16.7.0): it reads a body by Content-Length only, so that a
// chunked one is empty, keeps connections open, and answers in the order in which requests came.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

import { AgentError, type WdaExchange } from '../../../src/lines/kinds/iphone/agent/wda-http.ts'
import { type Answer, Dropped, type WdaCommands } from './wda-commands.ts'

/** The head of a request as it came. */
export type SeenHead = { readonly line: string; readonly headers: Readonly<Record<string, string>> }

export class FakeWda {
  readonly heads: SeenHead[] = []
  readonly #commands: WdaCommands
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(commands: WdaCommands) {
    this.#commands = commands
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async start(commands: WdaCommands): Promise<FakeWda> {
    const fake = new FakeWda(commands)
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  /** As the mux gives it: a connection to the port of the phone, whatever its number. */
  readonly connect = (_port: number, _signal: AbortSignal): Promise<Socket> => {
    const address = this.#server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket))
      socket.once('error', reject)
    })
  }

  /** Takes a connection that came by the cable. */
  readonly serve = (socket: Socket): void => this.#accept(socket)

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) {
      await Promise.all([...this.#sockets].map((socket) => once(socket, 'close')))
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #accept(socket: Socket): void {
    let buffer = Buffer.alloc(0)
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      buffer = Buffer.concat([buffer, data])
      for (;;) {
        const end = buffer.indexOf('\r\n\r\n')
        if (end === -1) return
        const head = readHead(buffer.subarray(0, end).toString())
        const length = Number(head.headers['content-length'] ?? '0')
        if (buffer.length < end + 4 + length) return
        const body = buffer.subarray(end + 4, end + 4 + length).toString()
        buffer = buffer.subarray(end + 4 + length)
        this.heads.push(head)
        void this.#respond(socket, head.line, body)
      }
    })
  }

  async #respond(socket: Socket, line: string, body: string): Promise<void> {
    const [method = '', target = ''] = line.split(' ')
    try {
      const answer = await this.#commands.handle(method, target, body)
      socket.write(written(answer))
    } catch (error) {
      if (!(error instanceof Dropped)) throw error
      socket.destroy()
    }
  }
}

/** Of a process that may be killed: from then on it reaches no phone. */
export type Life = { isOver: boolean }

/** The same commands without a wire between: what a test of the screens needs of HTTP. */
export function directExchange(commands: WdaCommands, life: Life = { isOver: false }): WdaExchange {
  return async ({ method, path, body }, signal) => {
    if (life.isOver) throw new AgentError('down', 'The process was killed.')
    const aborted = Promise.withResolvers<never>()
    const abort = () => {
      commands.abandon()
      aborted.reject(new AgentError('aborted', 'Aborted.'))
    }
    if (signal.aborted) throw new AgentError('aborted', 'Aborted.')
    signal.addEventListener('abort', abort)
    try {
      const answer = commands.handle(method, path, body === null ? '' : JSON.stringify(body))
      answer.catch(() => {})
      return await Promise.race([answer, aborted.promise])
    } catch (error) {
      if (error instanceof Dropped) throw new AgentError('down', 'The connection broke.')
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

function readHead(text: string): SeenHead {
  const [line = '', ...lines] = text.split('\r\n')
  const headers = lines.map((header) => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()]
  })
  return { line, headers: Object.fromEntries(headers) as Record<string, string> } // Made of pairs.
}

function written({ status, body }: Answer): string {
  const head = `HTTP/1.1 ${status} ${status === 200 ? 'OK' : 'Status'}\r\n`
  const headers = `Server: WebDriverAgent/1.0\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return `${head}${headers}${body}`
}
