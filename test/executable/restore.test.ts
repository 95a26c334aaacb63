// A restore by the page of the built executable: it exchanges its own data and goes on in the same process.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import type { Json } from '../support/test-relay.ts'

type Answer = { readonly status: number; readonly body: Json }

/** A browser at the dashboard of a relay. */
class Owner {
  readonly #url: string
  #cookie = ''
  #pageKey = ''

  constructor(url: string) {
    this.#url = url
  }

  async claim(dataDir: string, password: string): Promise<void> {
    const { stdout } = await hookline(['setup-link', '--json', '--data-dir', dataDir])
    const token = String(JSON.parse(stdout).url).split('/#/setup/')[1]
    await this.ask('POST', 'setup', JSON.stringify({ token, password }))
  }

  signIn(password: string): Promise<Answer> {
    return this.ask('POST', 'session', JSON.stringify({ password }))
  }

  async ask(
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
  ): Promise<Answer> {
    const response = await this.fetch(method, `/dashboard/${path}`, body)
    const answer = (await response.json()) as Json
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie
    this.#pageKey = answer.page_key ?? this.#pageKey
    return { status: response.status, body: answer }
  }

  fetch(method: string, path: string, body?: string | Uint8Array<ArrayBuffer>): Promise<Response> {
    const headers = {
      cookie: this.#cookie,
      'x-hookline-page-key': this.#pageKey,
      'sec-fetch-site': 'same-origin',
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    }
    return fetch(this.#url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  }

  /** Uploads a backup and starts its restore. */
  async restore(archive: Uint8Array<ArrayBuffer>): Promise<void> {
    const { body } = await this.ask('POST', 'restore?filename=move.tar', archive)
    await this.ask('POST', 'restore/start', JSON.stringify({ id: body.id }))
  }
}

const SIMULATED = { HOOKLINE_SIMULATED_LINES: '1' }

let archive: Promise<Uint8Array<ArrayBuffer>> | null = null

/** A relay with one message, downloaded as a whole; made once. */
function theArchive(): Promise<Uint8Array<ArrayBuffer>> {
  archive ??= downloadAll()
  return archive
}

async function downloadAll(): Promise<Uint8Array<ArrayBuffer>> {
  using dir = temporaryDataDir()
  const dataDir = dir.path
  const key = await createKey(dataDir)
  await using relay = await RelayProcess.start({ dataDir, environment: SIMULATED })
  await new ApiClient(() => relay.url, key).ask('POST', '/api/v1/messages/send', {
    to: '+12025550100',
    text: 'from the old Mac',
  })
  const owner = new Owner(relay.url)
  await owner.claim(dataDir, 'password of the old Mac')
  const { body } = await owner.ask('POST', 'downloads', '{"backup":null}')
  const answer = await owner.fetch('GET', body.url)
  return new Uint8Array(await answer.arrayBuffer())
}

test('the page restores a download: same process, same port, the data and the password of the old relay', async () => {
  using data = temporaryDataDir()
  await using relay = await RelayProcess.start({ dataDir: data.path, environment: SIMULATED })
  const owner = new Owner(relay.url)
  await owner.claim(data.path, 'password of the new Mac')

  await owner.restore(await theArchive())
  const signedIn = await eventually('the relay is back', async () => {
    const answer = await owner.signIn('password of the old Mac').catch(() => null)
    return answer?.status === 200 ? answer : null
  })
  const messages = await owner.ask('GET', 'api/messages')

  expect(signedIn.body.state).toBe('signed_in')
  expect(messages.body.data[0].text).toBe('from the old Mac')
  expect(await relay.end()).toBe(0)
})

test('a backup on which no relay can start is taken back: the old data and sessions go on', async () => {
  using data = temporaryDataDir()
  await using relay = await RelayProcess.start({ dataDir: data.path, environment: SIMULATED })
  const owner = new Owner(relay.url)
  await owner.claim(data.path, 'password of this Mac')
  const hook = { url: 'https://shop.example/hook', events: ['message.received'] }
  await owner.ask('POST', 'api/webhooks', JSON.stringify(hook))
  const file = join(data.path, 'whole.db')
  await hookline(['backup', '--to', file, '--data-dir', data.path])
  using database = new Database(file)
  database.run("UPDATE backup_files SET content = x'00' WHERE name = 'secret.key'")

  await owner.restore(new Uint8Array(await Bun.file(file).arrayBuffer()))
  const problem = await eventually('the relay is back', async () => {
    const answer = await owner.ask('GET', 'restore').catch(() => null)
    return answer?.body.outcome?.problem ?? null
  })
  const webhooks = await owner.ask('GET', 'api/webhooks')

  expect(problem).toContain('secret.key is no key')
  expect(webhooks.body.data[0].url).toBe(hook.url)
})

test('the command line restores a download too', async () => {
  using data = temporaryDataDir()
  using download = temporaryDataDir()
  const file = join(download.path, 'everything.tar')
  writeFileSync(file, await theArchive())

  const restored = await hookline(['restore', file, '--json', '--data-dir', data.path])

  expect(JSON.parse(restored.stdout)).toMatchObject({
    file,
    files: ['secret.key'],
    missing_attachments: 0,
  })
  using database = new Database(join(data.path, 'hookline.db'), { readonly: true })
  expect(database.query('SELECT text FROM messages').all()).toEqual([{ text: 'from the old Mac' }])
})
