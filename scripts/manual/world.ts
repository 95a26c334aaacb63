// A live relay with practice lines as the manual supposes it: a key, a line "Front desk", a group, a message that is
// scheduled, two that wait for an approval, a webhook, and a folder in which its commands run.

import { mkdirSync, symlinkSync } from 'node:fs'

import { eventually } from '../../test/support/eventually.ts'
import { builtExecutable } from '../../test/support/executable.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  type ApiKey,
} from '../../test/support/relay-process.ts'
import { ScratchFolder } from '../../test/support/scratch-folder.ts'

const PASSWORD = 'correct horse battery'
const GOES_ON_MS = 3_000
const COMMAND_MS_MAX = 60_000
const HTTP_REFUSED = 400

type Named = { readonly id: string }
export type Ran = {
  readonly exitCode: number
  readonly output: string
  readonly problem: string | null
}
export type Delivered = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export class World implements AsyncDisposable {
  readonly folder: ScratchFolder
  readonly key: ApiKey
  readonly api: ApiClient
  /** What the webhook's receiver got. */
  readonly delivered: Delivered[] = []
  secret = ''
  #relay: RelayProcess
  readonly #receiver: Bun.Server<undefined>
  /** The newest id of each kind, such as `att`. */
  readonly #ids = new Map<string, string>()
  readonly #waiting: string[] = []
  #scheduled = ''
  #line = ''
  #group = ''
  /** Key and secret that were printed last. */
  #credentials = ''
  /** A key to revoke. */
  #spare = ''

  private constructor(relay: RelayProcess, key: ApiKey, folder: ScratchFolder) {
    this.#relay = relay
    this.key = key
    this.folder = folder
    this.api = new ApiClient(() => this.#relay.url, key)
    const { delivered } = this
    this.#receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        delivered.push({ headers: Object.fromEntries(request.headers), body: await request.text() })
        return new Response(null, { status: 204 })
      },
    })
  }

  static async start(markdown: string): Promise<World> {
    const folder = new ScratchFolder()
    for (const name of ['data', 'bin', 'empty']) mkdirSync(folder.file(name), { mode: 0o700 })
    const key = await createKey(folder.file('data'))
    const world = new World(await serve(folder.file('data')), key, folder)
    await world.#prepare(markdown)
    return world
  }

  /** The address of the webhook's receiver. */
  get receiver(): string {
    return this.#receiver.url.href
  }

  /** A delivery of the webhook, once there is one. */
  delivery(): Promise<Delivered> {
    return eventually('a delivery', () => this.delivered[0] ?? null)
  }

  get url(): string {
    return this.#relay.url
  }

  /** The environment of what runs. */
  get environment(): Record<string, string> {
    const { key, secret } = this.key
    return {
      PATH: `${this.folder.file('bin')}:${process.env['PATH'] ?? ''}`,
      HOME: this.folder.path,
      HOOKLINE_DATA_DIR: this.folder.file('data'),
      HOOKLINE_URL: this.url,
      HOOKLINE_KEY: `${key}:${secret}`,
      KEY: key,
      SECRET: secret,
      H: `X-API-Key: ${key}`,
      S: `X-API-Secret: ${secret}`,
      LINE: this.#line,
      WEBHOOK_SECRET: this.secret,
    }
  }

  async #prepare(markdown: string): Promise<void> {
    symlinkSync(builtExecutable(), this.folder.file('bin/hookline'))
    await Bun.write(this.folder.file('menu.pdf'), '%PDF-1.4\n')
    const { data } = await this.api.ask<{ data: readonly Named[] }>('GET', '/api/v1/phone-lines')
    this.#line = data[0]?.id ?? ''
    for (const { id } of data) {
      const label = id === this.#line ? { label: 'Front desk' } : {}
      await this.api.ask('PATCH', `/api/v1/phone-lines/${id}`, { ...label, relay_groups: true })
    }
    for (const site of ['Berlin', 'Hamburg']) {
      if (!markdown.includes(`sites add ${site}`)) await this.run(`hookline sites add ${site}`)
    }
    await this.run('hookline members add Bo')
    await this.#write()
    const webhook = await this.api.ask<Named & { secret: string }>('POST', '/api/v1/webhooks', {
      url: this.receiver,
      events: ['message.received'],
    })
    this.secret = webhook.secret
    this.remember(JSON.stringify(webhook))
    const keys = ['Spare', 'Shop'].map((name) =>
      this.api.ask<Named>('POST', '/api/v1/keys', { name }),
    )
    this.#spare = (await Promise.all(keys))[0]?.id ?? ''
    await this.api.ask('POST', `/api/v1/webhooks/${webhook.id}/test`)
  }

  /** Messages in the states that the manual's commands are about. */
  async #write(): Promise<void> {
    const send = (body: object) => this.api.ask<Named>('POST', '/api/v1/messages/send', body)
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    this.#scheduled = (await send({ to: '+12025550123', text: 'Later.', send_at: inAnHour })).id
    const assistant = await this.api.ask<ApiKey>('POST', '/api/v1/keys', {
      name: 'Waiting',
      scopes: ['read', 'send'],
      rules: { approval: 'always' },
    })
    const asAssistant = new ApiClient(() => this.url, assistant)
    for (const text of ['Hello.', 'Hi.']) {
      const waiting = await asAssistant.ask<Named>('POST', '/api/v1/messages/send', {
        to: '+12025550147',
        text,
      })
      this.#waiting.push(waiting.id)
    }
    this.remember(JSON.stringify(await send({ to: '+12025550180', text: 'Dinner?' })))
    const group = await eventually('a group writes', async () => {
      const path = '/api/v1/conversations?type=group'
      const { data } = await this.api.ask<{ data: readonly Named[] }>('GET', path)
      return data[0] ?? null
    })
    this.#group = group.id
  }

  /** Keeps the newest id of each kind in an answer or a print, for commands that show an id of their own. */
  remember(output: string): void {
    this.#credentials = /hl_live_\S+:hl_secret_\S+/.exec(output)?.[0] ?? this.#credentials
    for (const [id, prefix = ''] of output.matchAll(/\b([a-z]+)_[0-9a-z]{26}\b/g))
      this.#ids.set(prefix, id)
  }

  /** The command with this relay's address and ids. */
  localized(command: string): string {
    const id = (prefix: string) => this.#ids.get(prefix) ?? `${prefix}_none`
    const message = () => {
      if (/approvals (approve|deny)|\/(approve|deny)/.test(command))
        return this.#waiting.shift() ?? 'msg_none'
      return command.includes('DELETE') ? this.#scheduled : id('msg')
    }
    const kind = /^hookline (\w+)/.exec(command)?.[1] ?? ''
    return command
      .replaceAll('http://127.0.0.1:4665', this.url)
      .replaceAll(/\bmsg_[0-9a-z]{20,}|\bmsg_…/g, message)
      .replaceAll(/\bconv_([0-9a-z]{20,}|…)/g, this.#group)
      .replaceAll(/\bkey_…/g, () => (command.includes('revoke') ? this.#spare : id('key')))
      .replaceAll(/\b(att|wh)_([0-9a-z]{20,}|…)/g, (_, prefix: string) => id(prefix))
      .replaceAll(/\bline_([0-9a-z]{20,}|…)/g, this.#line)
      .replaceAll('LINE,LINE', this.#line)
      .replaceAll('KEY:SECRET', this.#credentials)
      .replaceAll(/ ID( |$)/g, ` ${kind === 'members' ? 'Bo' : id(KINDS[kind] ?? 'msg')}$1`)
      .replaceAll(/\bFILE\b/g, this.folder.file('copy.backup'))
  }

  /** Runs a command as a reader does. What goes on is ended after a while, and has succeeded. */
  async run(command: string): Promise<Ran> {
    if (command.startsWith('hookline serve')) return this.#runServe(command)
    if (command.startsWith('hookline restore')) await this.#relay.end()
    const isCurl = command.startsWith('curl ')
    const goesOn = /\/stream|hookline tail/.test(command)
    const status = String.raw` -sS -w '\n%{http_code}'`
    const text = isCurl ? command.replace(/^curl/, `curl${status}`) : command
    const child = Bun.spawn(['sh', '-c', goesOn ? `exec ${text}` : text], {
      cwd: this.folder.path,
      env: this.environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: goesOn ? GOES_ON_MS : COMMAND_MS_MAX,
    })
    const [output, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (command.startsWith('hookline restore')) this.#relay = await serve(this.folder.file('data'))
    if (!command.includes('revoke')) this.remember(output)
    if (goesOn) return { exitCode: 0, output, problem: null }
    return isCurl ? ofCurl(output, errors) : ofCommand(command, { output, errors, exitCode })
  }

  /** Starts a second relay in an empty folder, with the options shown. */
  async #runServe(command: string): Promise<Ran> {
    const given = command.split(' ').slice('hookline serve'.split(' ').length)
    const dataDir = this.folder.file('empty')
    await using relay = await RelayProcess.start({ dataDir, arguments: given })
    return { exitCode: 0, output: relay.url, problem: null }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay.end('SIGKILL')
    await this.#receiver.stop(true)
    this.folder[Symbol.dispose]()
  }
}

/** What `ID` means after a command. */
const KINDS: Readonly<Record<string, string>> = {
  webhooks: 'wh',
  conversations: 'conv',
  keys: 'key',
  lines: 'line',
  attachments: 'att',
}

function serve(dataDir: string): Promise<RelayProcess> {
  const arguments_ = ['--simulated-lines', '2', '--simulated-delay-ms', '0']
  return RelayProcess.start({
    dataDir,
    arguments: arguments_,
    environment: { HOOKLINE_ADMIN_PASSWORD: PASSWORD },
  })
}

function ofCurl(output: string, errors: string): Ran {
  const status = Number(/\d+$/.exec(output)?.[0] ?? 0)
  const body = output.replace(/\n\d+$/, '')
  const problem =
    status > 0 && status < HTTP_REFUSED ? null : `${status} ${body.slice(0, 300)} ${errors}`
  return { exitCode: 0, output: body, problem }
}

/** `doctor` says by its exit code that there is something to do. */
function ofCommand(
  command: string,
  {
    output,
    errors,
    exitCode,
  }: { readonly output: string; readonly errors: string; readonly exitCode: number },
): Ran {
  const isFine = exitCode === 0 || (exitCode === 5 && command.startsWith('hookline doctor'))
  return {
    exitCode,
    output,
    problem: isFine ? null : `exit ${exitCode}: ${errors.trim().slice(0, 300)}`,
  }
}
