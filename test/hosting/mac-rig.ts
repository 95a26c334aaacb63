// A Mac of stand-ins: its tools leave the files that the real ones would, and a test sees what they were
// called with.

import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

import { LaunchdHost } from '../../src/hosting/launchd.ts'
import type { Installed } from '../../src/hosting/service-host.ts'
import { SELF_SIGNED } from '../fixtures/self-signed.ts'
import { wordsOf } from '../support/command-line.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { NEVER, RecordingTools, type Called } from './recording-tools.ts'

/** Of the certificate that openssl is said to make. */
export const HASH = new X509Certificate(SELF_SIGNED.cert).fingerprint.replaceAll(':', '')
export const PASSWORD = '07'.repeat(24)
export const LOGIN_KEYCHAIN = '/Volumes/Home/Library/Keychains/login.keychain-db'
export const OTHER_KEYCHAIN = '/Volumes/Home/Library/Keychains/work 2.keychain-db'

export class Mac implements Disposable {
  readonly folder = new ScratchFolder()
  readonly home = this.folder.path
  readonly source = this.folder.file('hookline')
  readonly dataDir = this.folder.file('Library/Application Support/Hookline')
  readonly bundle = this.folder.file('Applications/Hookline.app')
  readonly inBundle = `${this.bundle}/Contents/MacOS/hookline`
  readonly agentPath = this.folder.file('Library/LaunchAgents/net.hookline.relay.plist')
  readonly signing = `${this.dataDir}/signing`
  readonly tools = new RecordingTools((called) => this.#answer(called))
  readonly host: LaunchdHost
  /** The user's keychains, as `security` reports and sets them. */
  keychains: readonly string[] = [LOGIN_KEYCHAIN, OTHER_KEYCHAIN]
  /** The call whose name is this fails. */
  failing = ''
  /** What codesign found when it signed. */
  signed: { text: string; info: string; entitlements: string; keychains: readonly string[] }[] = []

  constructor() {
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(this.source, 'version one')
    const random = { bytes: (length: number) => new Uint8Array(length).fill(7), chance: () => 0 }
    this.host = new LaunchdHost(this.tools.machine({ random, home: this.home, uid: 501 }))
  }

  install(
    more: { readonly codesignIdentity?: string; readonly executable?: string } = {},
  ): Promise<Installed> {
    const { source: executable, dataDir } = this
    const order = { executable, dataDir, version: '1.2.3', codesignIdentity: null, ...more }
    return this.host.install(order, NEVER)
  }

  /** What was called, with the folders of this test written shortly. */
  taken(): readonly string[] {
    return this.tools
      .taken()
      .map((called) =>
        called.join(' ').replaceAll(this.signing, 'SIGNING').replaceAll(this.home, '~'),
      )
  }

  #answer(called: Called) {
    const [path = ''] = called
    const words = commandOf(called)
    const [verb = ''] = words
    const name = `${path.split('/').at(-1)} ${verb}`
    if (name === 'launchctl print') return { exitCode: 113 }
    if (name === this.failing) return { exitCode: 1, stderr: 'it does not work\n' }
    if (path === '/usr/bin/openssl') this.#openssl(called)
    if (name === 'security create-keychain') writeFileSync(words.at(-1) ?? '', 'a keychain')
    if (name === 'security list-keychains') return this.#listKeychains(called)
    if (name === 'codesign --force') this.#sign(called)
    return {}
  }

  #openssl(called: Called): void {
    const after = (name: string) => called[called.indexOf(name) + 1] ?? ''
    writeFileSync(after('-out'), called[1] === 'req' ? SELF_SIGNED.cert : 'a package')
    if (called[1] === 'req') writeFileSync(after('-keyout'), SELF_SIGNED.key)
  }

  #listKeychains(called: Called) {
    const at = called.indexOf('-s')
    if (at !== -1) this.keychains = called.slice(at + 1)
    return { stdout: this.keychains.map((path) => `    "${path}"\n`).join('') }
  }

  #sign(called: Called): void {
    const bundle = called.at(-1) ?? ''
    const text = (path: string) => readFileSync(path, 'utf8')
    this.signed.push({
      text: text(`${bundle}/Contents/MacOS/hookline`),
      info: text(`${bundle}/Contents/Info.plist`),
      entitlements: text(called[called.indexOf('--entitlements') + 1] ?? ''),
      keychains: this.keychains,
    })
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

/** What a tool has to do: by its arguments, or security by its standard input. */
function commandOf([, ...args]: Called): readonly string[] {
  return args[0] === '-i' ? wordsOf(args[1]?.slice(2) ?? '') : args
}
