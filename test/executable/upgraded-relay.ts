// A relay on a port of its own, by whatever executable: started as a service starts it, or by hand, and
// asked without waiting for it to say that it listens.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { ControlClient } from '../../src/cli/control-client.ts'
import { SERVICE_ENVIRONMENT } from '../../src/hosting/service-host.ts'
import { systemRandom } from '../../src/system/random.ts'
import { eventually } from '../support/eventually.ts'
import { cleanEnvironment } from '../support/executable.ts'
import { ApiClient, type ApiKey } from '../support/relay-process.ts'

/** For a machine that does other things, too. */
const START_MS_MAX = 60_000

export type Started = {
  readonly executable: string
  readonly dataDir: string
  readonly port: number
  readonly lines: number
  readonly isService: boolean
}

export class UpgradedRelay implements AsyncDisposable {
  readonly url: string
  readonly control: ControlClient
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly #log: Promise<string>

  constructor({ executable, dataDir, port, lines, isService }: Started) {
    const options = ['--port', String(port), '--simulated-lines', String(lines)]
    this.url = `http://127.0.0.1:${port}`
    this.control = new ControlClient(join(dataDir, 'control.sock'))
    this.#child = Bun.spawn([executable, 'serve', '--data-dir', dataDir, ...options], {
      env: cleanEnvironment(isService ? SERVICE_ENVIRONMENT : {}),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.#log = new Response(this.#child.stderr).text()
  }

  get pid(): number {
    return this.#child.pid
  }

  /** The status of a path without a key; null while nobody listens. */
  async look(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string | null> {
    try {
      const response = await fetch(this.url + path, { headers })
      return `${response.status} ${await response.text()}`
    } catch {
      return null
    }
  }

  /** Waits until `path` answers with what begins with `start`. */
  until(path: string, start: string): Promise<true> {
    const isAnswered = async () => ((await this.look(path))?.startsWith(start) ? true : null)
    return eventually(`${path} answers ${start}`, isAnswered, START_MS_MAX)
  }

  client(key: ApiKey): ApiClient {
    return new ApiClient(() => this.url, key)
  }

  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number> {
    this.#child.kill(signal)
    return this.#child.exited
  }

  exited(): Promise<number> {
    return this.#child.exited
  }

  /** Everything it wrote on standard error, once it has ended. */
  log(): Promise<string> {
    return this.#log
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL')
  }
}

/** Below the ports that a system gives away by itself, so that nobody takes it before its relay does. */
const PORTS = { from: 12_000, count: 18_000 }

/** A port that nobody listens on now. */
export function freePort(): number {
  for (;;) {
    const port = PORTS.from + Math.floor(systemRandom.chance() * PORTS.count)
    try {
      void Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() }).stop(true)
      return port
    } catch {
      // Taken.
    }
  }
}

/** The texts that the simulated network carried, in this order. */
export function carriedTexts(dataDir: string): readonly unknown[] {
  using network = new Database(join(dataDir, 'simulated.db'), { readonly: true })
  return network.query('SELECT text FROM carried ORDER BY seq').values().flat()
}

/** The schema number of a database. */
export function schemaOf(dataDir: string): unknown {
  using database = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  return database.query('PRAGMA user_version').values()[0]?.[0]
}
