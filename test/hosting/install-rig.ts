// A machine on which the installer runs: a home, a folder of signed releases, and stand-ins for its tools.

import { generateKeyPairSync } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

import { signRelease } from '../../scripts/sign-release.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

export type System = {
  readonly uname: readonly [system: string, processor: string]
  readonly libc?: string
}

export class Setup implements Disposable {
  readonly folder = new ScratchFolder()
  readonly home = this.folder.file('home')
  readonly program = `${this.home}/.local/bin/hookline`
  readonly #releases = this.folder.file('releases')
  readonly #tools = this.folder.file('tools')
  readonly #key = generateKeyPairSync('ed25519').privateKey

  constructor({ uname: [system, processor], libc = 'ldd (GNU libc) 2.36' }: System) {
    for (const path of [this.home, this.#releases, this.#tools]) mkdirSync(path)
    this.#tool('uname', `case $1 in -s) echo ${system} ;; *) echo ${processor} ;; esac`)
    this.#tool('ldd', `echo '${libc}' >&2; exit 1`)
    this.#tool('sysctl', 'exit 1')
    for (const name of ['codesign', 'xattr']) this.#tool(name, `echo "${name} $*" >>"$HOME/tools"`)
  }

  /** The installer as it lies beside the release. */
  get #installer(): string {
    return `${this.#releases}/install`
  }

  /** The folder of the stand-ins alone. */
  get toolsOnly(): string {
    return this.#tools
  }

  /** Publishes an executable that notes what it is called with and ends with `exitCode`. */
  publish(name: string, { version = 'one', exitCode = 0, sum = '' } = {}): void {
    const text = `#!/bin/sh\n# ${version}\necho "$*" >>"$HOME/called"\nexit ${exitCode}\n`
    writeFileSync(`${this.#releases}/${name}`, text)
    const hash = sum === '' ? new Bun.CryptoHasher('sha256').update(text).digest('hex') : sum
    writeFileSync(
      `${this.#releases}/SHA256SUMS`,
      `${'0'.repeat(64)}  hookline-other\n${hash}  ${name}\n`,
    )
    signRelease(this.#releases, this.#key, 'https://releases.example/ann/hookline')
  }

  /** Changes the sums after they were signed, so that they fit a file of another person's making. */
  replace(name: string): void {
    writeFileSync(`${this.#releases}/${name}`, 'evil')
    const hash = new Bun.CryptoHasher('sha256').update('evil').digest('hex')
    writeFileSync(`${this.#releases}/SHA256SUMS`, `${hash}  ${name}\n`)
  }

  /** Leaves the machine without ssh-keygen, and with minisign or not. */
  withoutSsh({ hasMinisign }: { readonly hasMinisign: boolean }): void {
    const names = [
      'curl',
      'mktemp',
      'rm',
      'mkdir',
      'cp',
      'chmod',
      'mv',
      'sed',
      'grep',
      'cut',
      'sha256sum',
    ]
    if (hasMinisign) names.push('minisign')
    for (const name of names) symlinkSync(Bun.which(name) ?? name, `${this.#tools}/${name}`)
  }

  /**
   * A clone with the installer and stand-ins for what sets it up and for Bun, which builds an executable that
   * notes what it is called with. The path of the installer.
   */
  makeClone({ canBuild = true } = {}): string {
    const root = this.folder.file('a clone')
    const bun = canBuild
      ? 'echo "$PWD $*" >>"$HOME/tools"; mkdir -p "$3"; cp built "$3/hookline"'
      : 'echo no room; exit 1'
    for (const path of ['scripts', '.tools/bin']) mkdirSync(`${root}/${path}`, { recursive: true })
    this.#script(`${root}/scripts/setup`, 'echo setup >>"$HOME/tools"')
    this.#script(`${root}/.tools/bin/bun`, bun)
    this.#script(`${root}/built`, 'echo "$*" >>"$HOME/called"')
    writeFileSync(`${root}/scripts/build.ts`, '')
    copyFileSync(`${ROOT}/scripts/install`, `${root}/scripts/install`)
    return `${root}/scripts/install`
  }

  translated(): void {
    this.#tool('sysctl', 'echo 1')
  }

  /** Runs a script as `curl ... | sh` does, or as the file of a clone. */
  async run(
    environment: Readonly<Record<string, string>> = {},
    script = this.#installer,
    as: 'pipe' | 'file' = 'pipe',
  ) {
    const child = Bun.spawn(as === 'pipe' ? ['/bin/sh'] : [script], {
      stdin: as === 'pipe' ? Bun.file(script) : 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      env: {
        HOME: this.home,
        PATH: `${this.#tools}:/usr/bin:/bin`,
        TMPDIR: this.folder.path,
        HOOKLINE_RELEASES: `file://${this.#releases}`,
        ...environment,
      },
    })
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { exitCode, stdout, stderr }
  }

  /** What a stand-in or the installed executable noted; null for nothing. */
  noted(name: 'called' | 'tools'): string | null {
    const path = `${this.home}/${name}`
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  /** What there is that was not there before. */
  left(): readonly string[] {
    const own = readdirSync(this.folder.path).filter((name) => name.startsWith('tmp'))
    const bin = `${this.home}/.local/bin`
    return [...own, ...(existsSync(bin) ? readdirSync(bin) : [])]
  }

  #tool(name: string, script: string): void {
    this.#script(`${this.#tools}/${name}`, script)
  }

  #script(path: string, script: string): void {
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}
