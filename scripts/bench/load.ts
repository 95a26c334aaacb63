// A load of HTTP requests over plain sockets: each connection sends the next request when the answer
// to the last one is there. It costs far less than `fetch`, so that the server is what is measured.

export type Load = {
  readonly url: string
  readonly connections: number
  /** The bytes of the request with this number; made by `httpRequest`. */
  readonly request: (number: number) => string
  /** Ends after so many requests, or after so long, whichever is first. */
  readonly count?: number
  readonly durationMs?: number
}

export type LoadResult = {
  readonly requests: number
  readonly perSecond: number
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>
}

export async function load(options: Load): Promise<LoadResult> {
  const run = new LoadRun(options)
  return run.result()
}

export function httpRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}${length}\r\n${body}`
}

type Connection = { head: string; bytesLeft: number }

class LoadRun {
  readonly #options: Load
  readonly #statuses: Record<string, number> = {}
  readonly #count: number
  #sent = 0
  #answered = 0
  #isOver = false

  constructor(options: Load) {
    this.#options = options
    this.#count = options.count ?? Number.POSITIVE_INFINITY
  }

  async result(): Promise<LoadResult> {
    const { connections, durationMs } = this.#options
    const startedAt = performance.now()
    const timer = setTimeout(
      () => {
        this.#isOver = true
      },
      durationMs ?? 2 ** 31 - 1,
    )
    await Promise.all(Array.from({ length: connections }, () => this.#connect()))
    clearTimeout(timer)
    const seconds = (performance.now() - startedAt) / 1_000
    const perSecond = this.#answered / seconds
    return { requests: this.#answered, perSecond, statuses: this.#statuses }
  }

  async #connect(): Promise<void> {
    const { hostname, port } = new URL(this.#options.url)
    const ended = Promise.withResolvers<void>()
    await Bun.connect<Connection>({
      hostname,
      port: Number(port),
      data: { head: '', bytesLeft: 0 },
      socket: {
        open: (socket) => this.#sendNext(socket),
        data: (socket, chunk) => {
          if (this.#take(socket.data, chunk)) this.#sendNext(socket)
        },
        close: () => ended.resolve(),
        error: (_socket, error) => ended.reject(error),
      },
    })
    await ended.promise
  }

  #sendNext(socket: Bun.Socket<Connection>): void {
    if (this.#isOver || this.#sent >= this.#count) {
      socket.end()
      return
    }
    this.#sent += 1
    socket.write(this.#options.request(this.#sent))
  }

  /** Takes a part of an answer; true when the answer is whole. */
  #take(connection: Connection, chunk: Buffer): boolean {
    if (connection.bytesLeft > 0) {
      connection.bytesLeft -= chunk.length
    } else {
      const text = connection.head + chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      connection.head = end < 0 ? text : ''
      if (end < 0) return false
      const head = text.slice(0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      connection.bytesLeft = length - (text.length - end - 4)
      const status = head.slice(9, 12)
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    }
    if (connection.bytesLeft > 0) return false
    this.#answered += 1
    return true
  }
}
