// Credentials of keys for compatible APIs, in every form and place in which a client may send them: good ones, wrong
// ones, and those that are refused because they are in a URL. None is in anything that the relay says or keeps.

import { expect, test } from 'bun:test'

import { COMPAT_APIS, routesOf } from '../../src/compat/apis.ts'
import type { CompatApi } from '../../src/compat/compat-api.ts'
import { HostingRig } from '../cli/hosting-rig.ts'
import { callAs, credentialsAs, FORMS, SENDS, sendPathsOf } from '../support/compat-credentials.ts'
import { eventually } from '../support/eventually.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'
import { bytesIn } from '../support/stored-bytes.ts'

const PERSON = '+12025550123'
const EVENTS = ['message.sent', 'message.delivered', 'message.failed']

type Answered = { readonly status: number; readonly text: string }

test('no secret of a compatible API is in a log, the audit, metrics, errors, events, files or the support file', async () => {
  using dir = temporaryDataDir()
  const posts: string[] = []
  using sink = listener(posts)
  const owner = await createKey(dir.path)
  await using relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' },
  })
  const api = new ApiClient(() => relay.url, owner)
  await api.ask('POST', '/api/v1/webhooks', { url: sink.url, events: EVENTS })
  const secrets: string[] = []
  const answers: Answered[] = []

  for (const compat of COMPAT_APIS) {
    const made = await api.ask<ApiKey>('POST', '/api/v1/keys', { for: compat.name })
    const calls = new Calls(relay.url, compat, made)
    answers.push(...(await calls.inEveryForm()), ...(await calls.inUrls()))
    // From now on, its list of webhooks shows it the password that it sent.
    if (compat.credentials.includes('query')) await calls.registerWebhook(sink.url)
    await api.ask('DELETE', `/api/v1/keys/${made.id}`)
    answers.push(...(await calls.inEveryForm()))
    secrets.push(...calls.secrets)
  }
  await eventually('events arrive', () => (posts.length >= COMPAT_APIS.length ? true : null))

  const places: Readonly<Record<string, string>> = {
    answers: JSON.stringify(answers),
    log: relay.log,
    audit: await textAt(api, '/api/v1/audit?limit=200'),
    metrics: await textAt(api, '/metrics'),
    events: await textAt(api, '/api/v1/events?after=oldest&limit=200'),
    posts: posts.join('\n'),
    keys: await textAt(api, '/api/v1/keys'),
    webhooks: await textAt(api, '/api/v1/webhooks'),
    'support file': await supportFile(relay.log),
    'data directory': bytesIn(dir.path),
  }
  const found = Object.entries(places).flatMap(([place, text]) =>
    spellingsOf(secrets).some((secret) => text.includes(secret)) ? [place] : [],
  )

  expect(found).toEqual([])
  expect(Object.entries(places).filter(([, text]) => text.length < 50)).toEqual([])
  expect(places['log']).toContain('authentication failed')
  expect(new Set(answers.map(({ status }) => status))).toEqual(
    new Set([200, 201, 202, 401, 404, 405, 400, 422]),
  )
})

class Calls {
  readonly secrets: string[]
  readonly #url: string
  readonly #api: CompatApi
  readonly #made: ApiKey

  constructor(url: string, api: CompatApi, made: ApiKey) {
    this.#url = url
    this.#api = api
    this.#made = made
    this.secrets = [made.secret]
  }

  /** Each route with good and wrong credentials, and with a body that repeats them. */
  async inEveryForm(): Promise<readonly Answered[]> {
    const answers: Answered[] = []
    for (const form of new Set([...FORMS, ...this.#api.credentials])) {
      for (const { method, path } of routesOf(this.#api)) {
        const body = method === 'POST' ? this.#body() : null
        const wrong = { ...this.#made, secret: this.#wrongSecret() }
        for (const made of [this.#made, wrong]) {
          const { path: asked, headers } = callAs(form, made, path)
          answers.push(await this.#ask(method, asked, { headers, body }))
        }
      }
    }
    return answers
  }

  /** A webhook of a client that knows who posts by its own password in the URL. */
  async registerWebhook(url: string): Promise<void> {
    const { key, secret } = this.#made
    const body = JSON.stringify({ url: `${url}?password=${key}:${secret}`, events: ['*'] })
    const { path, headers } = callAs(
      'query',
      this.#made,
      `/compat/${this.#api.name}/api/v1/webhook`,
    )
    expect(await this.#ask('POST', path, { headers, body })).toMatchObject({ status: 200 })
  }

  /** In queries, paths, and before the host, with and without good credentials beside them. */
  async inUrls(): Promise<readonly Answered[]> {
    const { key, secret } = this.#made
    const answers: Answered[] = []
    const paths = [...sendPathsOf(this.#api), `/compat/${this.#api.name}/nothing`]
    const places = [`?password=${secret}`, `?key=${key}&secret=${secret}`, `/${secret}`]
    for (const path of paths.flatMap((path) => places.map((place) => path + place))) {
      for (const headers of [{}, credentialsAs('basic', this.#made)]) {
        answers.push(
          await this.#ask('POST', path, { headers, body: '{"to":' }),
          await this.#ask('GET', path, { headers, body: null }),
          await this.#ask('DELETE', path, { headers, body: null }),
        )
      }
    }
    for (const path of paths) answers.push(await this.#withUserInfo(path))
    return answers
  }

  #body(): string {
    const { key, secret } = this.#made
    const fields = SENDS[this.#api.name]?.(PERSON, 'hi')
    return JSON.stringify({ ...fields, api_key: `${key}:${secret}`, password: secret })
  }

  #wrongSecret(): string {
    const secret = `hl_secret_${crypto.randomUUID().replaceAll('-', '')}`
    this.secrets.push(secret)
    return secret
  }

  async #ask(
    method: string,
    path: string,
    { headers, body }: { readonly headers: Record<string, string>; readonly body: string | null },
  ): Promise<Answered> {
    const url = this.#url + path.replace(':account', this.#made.key)
    const response = await fetch(url, { method, headers, body })
    const answered = JSON.stringify([...response.headers]) + (await response.text())
    return { status: response.status, text: answered }
  }

  /** The request line of a proxy's client, with user and password before the host. */
  async #withUserInfo(path: string): Promise<Answered> {
    const { key, secret } = this.#made
    const { host, hostname, port } = new URL(this.#url)
    const body = this.#body()
    const head = [
      `POST http://${key}:${secret}@${host}${path} HTTP/1.1`,
      `Host: ${host}`,
      `Content-Length: ${body.length}`,
      'Connection: close',
    ]
    const { promise, resolve } = Promise.withResolvers<string>()
    let text = ''
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
        data: (_, chunk) => void (text += chunk.toString()),
        close: () => resolve(text),
      },
    })
    const answer = await promise
    return { status: Number(/^HTTP\/1.1 ([0-9]+)/.exec(answer)?.[1]), text: answer }
  }
}

/** The secrets as they are, and as a client sends them in `Authorization: Basic`. */
function spellingsOf(secrets: readonly string[]): readonly string[] {
  // Any text in base64 has one of three spellings, by its place.
  const encoded = secrets.flatMap((secret) => [0, 1, 2].map((place) => inBase64(secret, place)))
  return [...secrets, ...encoded]
}

function inBase64(secret: string, place: number): string {
  return btoa(' '.repeat(place) + secret).slice(4, -4)
}

function listener(posts: string[]) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      posts.push(JSON.stringify([...request.headers]) + (await request.text()))
      return new Response('ok')
    },
  })
  const url = `http://127.0.0.1:${server.port}/hook`
  return { url, [Symbol.dispose]: () => void server.stop(true) }
}

async function textAt(api: ApiClient, path: string): Promise<string> {
  const { status, body } = await api.request('GET', path)
  expect([path, status]).toEqual([path, 200])
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** What `hookline support` makes of this log. */
async function supportFile(log: string): Promise<string> {
  using rig = new HostingRig()
  rig.answer = (called) => {
    const isLog = called.some((word) => word.includes('journalctl'))
    return { stdout: isLog ? log : rig.shown }
  }
  await rig.run('service install')
  const file = rig.folder.file('bundle.json')
  const made = await rig.run(`support --to ${file}`)
  expect(made).toMatchObject({ exitCode: 0 })
  return await Bun.file(file).text()
}
