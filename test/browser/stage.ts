// Where a story plays: a relay of its own from the executable, with simulated lines, and the pages that
// are open on it.

import { join } from 'node:path'

import type { BrowserContext, BrowserContextOptions } from 'playwright-core'

import {
  ApiClient,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
  type RelayOptions,
} from '../support/relay-process.ts'
import { openBrowser } from './browser.ts'
import { signedIn } from './signed-in.ts'
import { Faults, WatchedPage } from './watched-page.ts'

/** The numbers of the first two simulated lines, and of a person who is none. */
export const FIRST_LINE = '+12025550101'
export const SECOND_LINE = '+12025550102'
export const PERSON = '+12025550147'
/** The person's number as the page shows it. */
export const SHOWN_PERSON = '+1 202 555 0147'

/** The width and height of a telephone, a tablet and a computer. */
export const PHONE = { width: 390, height: 844 }
export const TABLET = { width: 820, height: 1_180 }
export const COMPUTER = { width: 1280, height: 800 }
/** A browser that is touched. */
export const TOUCH = { hasTouch: true, isMobile: true }

/** Chromium itself notes each request that found nobody. */
export const OUTAGE = /ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK|ABORTED)|status of 503/

/** Long enough for a machine that has other things to do. */
const ACTION_TIMEOUT_MS = 30_000

export type StageOptions = {
  readonly lines?: number
  /** Whether a password is set; true by default. */
  readonly isClaimed?: boolean
  /** Puts something into the data directory before the relay starts on it. */
  readonly prepare?: (dataDir: string) => Promise<void>
}

/** What a page's browser is like; a phone or a computer, light or dark. */
export type Look = Pick<
  BrowserContextOptions,
  | 'viewport'
  | 'colorScheme'
  | 'bypassCSP'
  | 'locale'
  | 'timezoneId'
  | 'permissions'
  | 'hasTouch'
  | 'isMobile'
  | 'deviceScaleFactor'
>

type ContextLook = Look & Pick<BrowserContextOptions, 'storageState'>

const COOKIE = {
  domain: '127.0.0.1',
  path: '/',
  expires: -1,
  httpOnly: true,
  secure: false,
  sameSite: 'Strict',
} as const

export class Stage {
  readonly dataDir: string
  readonly #start: RelayOptions
  readonly #removeDataDir: () => void
  readonly #contexts: BrowserContext[] = []
  readonly #faults = new Faults()
  #relay: RelayProcess
  #api: Promise<ApiClient> | null = null

  private constructor(relay: RelayProcess, start: RelayOptions, removeDataDir: () => void) {
    this.dataDir = start.dataDir
    this.#relay = relay
    this.#start = start
    this.#removeDataDir = removeDataDir
  }

  static async open(options: StageOptions = {}): Promise<Stage> {
    const { lines = 2, isClaimed = true, prepare } = options
    const dir = temporaryDataDir()
    const start = {
      dataDir: dir.path,
      arguments: ['--simulated-lines', String(lines), '--simulated-delay-ms', '100'],
    }
    if (isClaimed) (await signedIn()).copyTo(dir.path)
    await prepare?.(dir.path)
    const relay = await RelayProcess.start(start)
    return new Stage(relay, start, () => dir[Symbol.dispose]())
  }

  get url(): string {
    return this.#relay.url
  }

  /** What its pages did so far that they may not. */
  get faults(): readonly string[] {
    return this.#faults.list
  }

  /** From now on its pages may do what is worded so. */
  excuse(words: RegExp): void {
    this.#faults.excuse(words)
  }

  /** A page in a browser of its own that nobody signed in to, and that shows nothing yet. */
  async strangersPage(look: ContextLook = {}): Promise<WatchedPage> {
    const browser = await openBrowser()
    const context = await browser.newContext({ baseURL: this.url, ...look })
    this.#contexts.push(context)
    context.setDefaultTimeout(ACTION_TIMEOUT_MS)
    return WatchedPage.open(context, this.#faults)
  }

  /** A page in a browser of its own that is signed in, and that shows nothing yet. */
  async page(look: Look = {}): Promise<WatchedPage> {
    const { sessions } = await signedIn()
    const { cookie, pageKey } = sessions[this.#contexts.length === 0 ? 0 : 1]
    const localStorage = [{ name: 'hookline-page-key', value: pageKey }]
    return this.strangersPage({
      ...look,
      storageState: {
        cookies: [{ ...cookie, ...COOKIE }],
        origins: [{ origin: this.url, localStorage }],
      },
    })
  }

  /** A client of the API with a key that is made over the control socket, as `hookline keys create` does. */
  api(): Promise<ApiClient> {
    this.#api ??= this.#createKey()
    return this.#api
  }

  async #createKey(): Promise<ApiClient> {
    const key = await this.asOwner<ApiKey>('POST', '/keys', { name: 'test' })
    return new ApiClient(() => this.url, key)
  }

  /** Asks over the control socket, as the command line does. The caller knows the answer's type. */
  async asOwner<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(`${this.url}/api/v1${path}`, {
      unix: join(this.dataDir, 'control.sock'),
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
    if (!answer.ok) throw new Error(`It was refused: ${await answer.text()}`)
    return (await answer.json()) as T // The caller's type.
  }

  async stopRelay(): Promise<void> {
    await this.#relay.end()
  }

  /** Starts it where it was before. */
  async startRelay(): Promise<void> {
    this.#relay = await RelayProcess.start({ ...this.#start, port: this.#relay.port })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    await this.#relay.end('SIGKILL')
    this.#removeDataDir()
  }
}
