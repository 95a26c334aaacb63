// A nats-server that its owner runs for several programs: with accounts, and users of other programs.

import { readFileSync, writeFileSync } from 'node:fs'

import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node'

import { eventually } from './eventually.ts'
import { NATS_SERVER } from './nats-server.ts'
import { freePort } from './nats.ts'
import { ScratchFolder } from './scratch-folder.ts'

/** A program of the owner, in the account that all users without one have. */
const APP = { user: 'app', pass: 'app' }
/** A user who was put into the relay's own account, and has all rights there. */
export const INTRUDER = { user: 'intruder', pass: 'intruder' }

export class NatsCluster implements AsyncDisposable {
  readonly port: number
  /** Its certificate, which signs itself (PEM). */
  readonly ca: string
  readonly caFile: string
  readonly #folder = new ScratchFolder()
  readonly #log: { text: string } = { text: '' }
  #process: Bun.Subprocess | null = null

  private constructor(port: number) {
    this.port = port
    this.caFile = this.#folder.file('server.crt')
    const request = 'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
    const facts = [
      '-days',
      '9',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
    ]
    const files = ['-keyout', this.#folder.file('server.key'), '-out', this.caFile]
    const made = Bun.spawnSync([...request.split(' '), ...facts, ...files])
    if (made.exitCode !== 0) throw new Error(made.stderr.toString())
    this.ca = readFileSync(this.caFile, 'utf8')
  }

  /** Starts with a configuration; `users` are more users of the account that is shared. */
  static async start(block = '', users = ''): Promise<NatsCluster> {
    const cluster = new NatsCluster(await freePort())
    cluster.#write(block, users)
    const config = cluster.#folder.file('nats.conf')
    const child = Bun.spawn([NATS_SERVER ?? '', '-c', config], { stderr: 'pipe', stdout: 'ignore' })
    process.once('exit', () => child.kill('SIGKILL'))
    cluster.#process = child
    void cluster.#read(child.stderr)
    await cluster.#logged('Server is ready')
    return cluster
  }

  /** Has another configuration from now on. */
  async reload(block: string, users = ''): Promise<void> {
    this.#write(block, users)
    this.#log.text = ''
    this.#process?.kill('SIGHUP')
    await this.#logged('Reloaded server configuration')
  }

  get servers(): readonly string[] {
    return [`localhost:${this.port}`]
  }

  /** A connection of a user by password, or with a seed. */
  dial(user: string | typeof INTRUDER = APP, inboxPrefix = '_INBOX'): Promise<NatsConnection> {
    const tls = { handshakeFirst: true, ca: this.ca }
    const key = (seed: string) => nkeyAuthenticator(new TextEncoder().encode(seed))
    const own = typeof user === 'string' ? { authenticator: key(user) } : user
    return connect({ servers: [...this.servers], tls, ...own, inboxPrefix, reconnect: false })
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) this.#log.text += decoder.decode(chunk)
  }

  #logged(words: string): Promise<true> {
    return eventually(words, () => (this.#log.text.includes(words) ? true : null))
  }

  #write(block: string, users: string): void {
    const [certificate, key] = [this.caFile, this.#folder.file('server.key')].map((path) =>
      JSON.stringify(path),
    )
    writeFileSync(
      this.#folder.file('nats.conf'),
      `listen: "127.0.0.1:${this.port}"
tls { cert_file: ${certificate}, key_file: ${key}, handshake_first: true }
authorization { users: [ { user: app, password: app } ${users} ] }
${block}
`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#process?.exited
    this.#folder[Symbol.dispose]()
  }
}
