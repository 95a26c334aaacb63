// The relay as its users have it: the built executable, in a process of its own, reached over HTTP.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { builtExecutable, cleanEnvironment } from './executable.ts'

export type ApiKey = { readonly id: string; readonly key: string; readonly secret: string }

export type RelayOptions = {
  readonly dataDir: string
  /** 0 takes a free one. */
  readonly port?: number
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The folder that it is started in. */
  readonly folder?: string
  /** A command that runs it, such as `taskset`. */
  readonly under?: readonly string[]
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown }

const LISTENING = /hookline listening on (http:\/\/\S+)/
const LOG_LENGTH_MAX = 1_000_000

export class RelayProcess {
  readonly url: string
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly #log: () => string

  private constructor(
    url: string,
    child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>,
    log: () => string,
  ) {
    this.url = url
    this.#child = child
    this.#log = log
  }

  /** Starts it, and resolves as soon as it prints its address. */
  static async start(options: RelayOptions): Promise<RelayProcess> {
    const serve = ['serve', '--data-dir', options.dataDir, '--port', String(options.port ?? 0)]
    const child = Bun.spawn(
      [...(options.under ?? []), builtExecutable(), ...serve, ...(options.arguments ?? [])],
      {
        cwd: options.folder ?? options.dataDir,
        env: cleanEnvironment(options.environment ?? {}),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const log = collect(child.stderr)
    for await (const line of linesOf(child.stdout)) {
      const url = LISTENING.exec(line)?.[1]
      if (url !== undefined) return new RelayProcess(url, child, log)
    }
    throw new Error(`The relay ended with ${await child.exited}:\n${log()}`)
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  get pid(): number {
    return this.#child.pid
  }

  /** What it wrote on standard error so far. */
  get log(): string {
    return this.#log()
  }

  /** Sends `signal` and gives the exit code; 137 for one that was killed. */
  async end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal)
    return this.exited()
  }

  async exited(): Promise<number> {
    return this.#child.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL')
  }
}

/** A client of the API that knows its key. */
export class ApiClient {
  readonly #url: () => string
  readonly #key: ApiKey

  constructor(url: () => string, key: ApiKey) {
    this.#url = url
    this.#key = key
  }

  async request(
    method: string,
    path: string,
    more: { readonly body?: unknown; readonly headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url()}${path}`, {
      method,
      headers: {
        'X-API-Key': this.#key.key,
        'X-API-Secret': this.#key.secret,
        ...(more.body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...more.headers,
      },
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
    }
  }

  /** Uploads a file under an `Idempotency-Key`. */
  async upload(
    bytes: Uint8Array<ArrayBuffer>,
    key: string,
  ): Promise<Pick<Answer, 'status' | 'body'>> {
    const response = await fetch(`${this.#url()}/api/v1/attachments?filename=menu.bin`, {
      method: 'POST',
      headers: {
        'X-API-Key': this.#key.key,
        'X-API-Secret': this.#key.secret,
        'Idempotency-Key': key,
      },
      body: bytes,
    })
    return { status: response.status, body: await response.json() }
  }

  /** The answer's body, which the caller knows the shape of; throws unless it is a success. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.request(method, path, body === undefined ? {} : { body })
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    return answer.body as T // The shape is the caller's expectation, which its test then checks.
  }
}

/** A data directory that goes when the test ends. */
export function temporaryDataDir(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'hookline-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Makes a key in a data directory, as an owner does on the command line. */
export async function createKey(dataDir: string): Promise<ApiKey> {
  // Only here: the command line brings all of the relay's modules.
  const { hookline } = await import('./command-line.ts')
  const create = ['keys', 'create', '--name', 'test', '--json', '--data-dir', dataDir]
  const { exitCode, stdout, stderr } = await hookline(create)
  if (exitCode !== 0) throw new Error(`keys create ended with ${exitCode}: ${stderr}`)
  return JSON.parse(stdout) as ApiKey // What `POST /keys` answers.
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Reads a stream to its end, so that its writer never waits; gives what came so far. */
function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = ''
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const chunk of stream) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-LOG_LENGTH_MAX)
    }
  }
  void read()
  return () => text
}
