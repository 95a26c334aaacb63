// The real relay, and browsers that keep its cookie.

import type { PasswordHash } from '../../src/system/hash.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

export const PASSWORD = 'correct horse'

/** The real function at its lowest cost, for tests that log in a hundred times. */
const QUICK_HASH: PasswordHash = {
  make: (password) =>
    Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 }),
  fits: (password, hash) => Bun.password.verify(password, hash),
}

type Place = {
  readonly address?: string
  readonly host?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

export type Seen = { readonly status: number; readonly body: Json; readonly headers: Headers }

type SentHeaders = Readonly<Record<string, string | null>>

type Sent = {
  readonly body?: unknown
  /** The bytes of a file, in place of a body in JSON. */
  readonly bytes?: string | Uint8Array | undefined
  readonly headers?: SentHeaders
}

/** A relay that nobody has claimed. */
export async function startDashboard(options: Parameters<typeof startRelay>[0] = {}) {
  const relay = await startRelay({
    ...options,
    parts: { passwordHash: QUICK_HASH, ...options?.parts },
  })
  const browser = (place: Place = {}) => new Browser(relay.app.http, place)
  const token = async () => tokenOf((await relay.app.dashboard.createSetupLink()).url)
  return {
    ...relay,
    browser,
    /** The token of a new setup link. */
    token,
    /** Sets the password by a setup link, in a browser that is then signed in. */
    async claim(place: Place = {}, password = PASSWORD): Promise<Browser> {
      const claimed = browser(place)
      await claimed.post('/dashboard/setup', { token: await token(), password })
      return claimed
    },
    /** A member who chose a password by the link, in a browser that is then signed in. */
    async join(owner: Browser, name = 'Anna', place: Place = {}): Promise<Browser> {
      const { body } = await owner.post('/dashboard/api/members', { name })
      const joined = browser(place)
      await joined.post('/dashboard/setup', { token: tokenOf(body.link.url), password: PASSWORD })
      return joined
    },
    async logIn(place: Place = {}): Promise<Browser> {
      const other = browser(place)
      await other.post('/dashboard/session', { password: PASSWORD })
      return other
    },
  }
}

export function tokenOf(url: string): string {
  return url.split('/#/setup/')[1]?.split('?')[0] ?? ''
}

/** Keeps a cookie and a page key, and says of every change that it comes from the relay's own page. */
export class Browser {
  readonly #http: Awaited<ReturnType<typeof startRelay>>['app']['http']
  readonly #place: Place
  cookie: string | null = null
  pageKey: string | null = null

  constructor(http: Awaited<ReturnType<typeof startRelay>>['app']['http'], place: Place) {
    this.#http = http
    this.#place = place
  }

  /** A header that is null is not sent. */
  async ask(method: string, path: string, more: Sent = {}): Promise<Seen> {
    const response = await this.fetch(method, path, more)
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, body: text === '' ? null : JSON.parse(text) }
  }

  async fetch(
    method: string,
    path: string,
    { body, bytes, headers = {} }: Sent = {},
  ): Promise<Response> {
    const { address = '127.0.0.1', host = 'localhost' } = this.#place
    const all = {
      host,
      cookie: this.cookie,
      'x-hookline-page-key': this.pageKey,
      'sec-fetch-site': 'same-origin',
      'content-type': body === undefined ? null : 'application/json',
      ...this.#place.headers,
      ...headers,
    }
    const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null)
    const response = await this.#http.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: sent,
        body: bytes ?? (body === undefined ? null : JSON.stringify(body)),
      }),
      { address, isControl: false, liftTimeout() {} },
    )
    const line = response.headers.get('set-cookie')
    this.#keepCookie(line)
    // As only a sign-in gives it: no answer with a page key comes without a cookie.
    if (line !== null && method === 'POST') {
      const body: Json = await response.clone().json()
      this.pageKey = body.page_key ?? this.pageKey
    }
    return response
  }

  /** Posts the bytes of a file. */
  async upload(path: string, bytes: string | Uint8Array): Promise<Seen> {
    return this.ask('POST', path, { bytes })
  }

  get = (path: string) => this.ask('GET', path)
  post = (path: string, body: unknown) => this.ask('POST', path, { body })
  put = (path: string, body: unknown) => this.ask('PUT', path, { body })
  delete = (path: string) => this.ask('DELETE', path)

  /** Becomes the same browser as another one, of an earlier start for instance. */
  continueAs({ cookie, pageKey }: Pick<Browser, 'cookie' | 'pageKey'>): void {
    this.cookie = cookie
    this.pageKey = pageKey
  }

  async state(): Promise<Json> {
    return (await this.get('/dashboard/session')).body
  }

  #keepCookie(line: string | null): void {
    if (line === null) return
    this.cookie = line.includes('Max-Age=0;') ? null : (line.split(';')[0] ?? null)
  }
}

/** The code of an error, after its status. */
export function outcome({ status, body }: Seen): string {
  return body?.error === undefined ? String(status) : `${status} ${body.error.code}`
}
