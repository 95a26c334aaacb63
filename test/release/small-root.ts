// A root of a machine that has a shell, the C library and no more: what is put into it runs there by chroot,
// as a user of it.

import { chmodSync, chownSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { findLibrary } from '../../scripts/release/image.ts'
import type { Packaged } from '../../scripts/release/targets.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

export const ARCHITECTURE: Packaged = process.arch === 'arm64' ? 'arm64' : 'amd64'

const PATH = '/usr/bin:/bin:/usr/sbin:/sbin'
const MOUNT = Bun.which('mount', { PATH })
const CHROOT = Bun.which('chroot', { PATH })
const ENTER = `root=$1 user=$2; shift 2
${MOUNT} -t proc proc "$root/proc" && exec ${CHROOT} --userspec="$user" "$root" "$@"`

/** True if this machine lets us change the root. */
export const canChangeRoot =
  Bun.which('dpkg') !== null &&
  findLibrary(ARCHITECTURE) !== null &&
  Bun.spawnSync(['unshare', '--mount', `${MOUNT}`, '-t', 'proc', 'proc', '/proc']).exitCode === 0

export type Order = {
  /** Number of the user. */
  readonly user: number
  readonly environment: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

export class SmallRoot implements Disposable {
  readonly #folder = new ScratchFolder()
  readonly path = this.#folder.path

  constructor() {
    for (const name of ['dev', 'proc', 'tmp']) mkdirSync(this.file(name))
    Bun.spawnSync(['mknod', '--mode=666', this.file('dev/null'), 'c', '1', '3'])
    chmodSync(this.path, 0o755)
    chmodSync(this.file('tmp'), 0o1777)
  }

  file(path: string): string {
    return join(this.path, path)
  }

  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    mkdirSync(dirname(this.file(path)), { recursive: true })
    writeFileSync(this.file(path), content)
    chmodSync(this.file(path), mode)
  }

  /** A home of the user 1000, a shell, and a dpkg that has installed nothing but the C library. */
  makeDebian(): void {
    for (const { path, content = '' } of findLibrary(ARCHITECTURE)?.files ?? []) {
      this.write(path, Buffer.from(content), 0o755)
    }
    for (const name of ['sh', 'env']) {
      mkdirSync(this.file('usr/bin'), { recursive: true })
      copyFileSync(Bun.which(name) ?? name, this.file(`usr/bin/${name}`))
    }
    this.write('bin/sh', '')
    copyFileSync(this.file('usr/bin/sh'), this.file('bin/sh'))
    mkdirSync(this.file('home/ann'), { recursive: true })
    chownSync(this.file('home/ann'), 1000, 1000)
    for (const name of ['info', 'updates', 'triggers']) {
      mkdirSync(this.file(`var/lib/dpkg/${name}`), { recursive: true })
    }
    const about = `Version: 2.36\nArchitecture: ${ARCHITECTURE}\nMaintainer: Debian\nDescription: C\n`
    this.write('var/lib/dpkg/status', `Package: libc6\nStatus: install ok installed\n${about}\n`)
  }

  /** Runs dpkg of this machine on the root; throws if it fails. */
  dpkg(...args: readonly string[]): string {
    const command = ['dpkg', `--root=${this.path}`, '--force-unsafe-io', ...args]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { PATH } })
    if (exitCode === 0) return stdout.toString()
    throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr.toString()}`)
  }

  start({ user, environment, command }: Order) {
    const enter = ['unshare', '--mount', 'sh', '-c', ENTER, 'sh', this.path, `${user}:${user}`]
    return Bun.spawn([...enter, ...command], {
      env: { PATH, ...environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  /** Output of a command that ends; throws if it fails. */
  async run(order: Order): Promise<string> {
    const child = this.start(order)
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()]
    const [stdout = '', stderr = ''] = await Promise.all(outputs)
    if ((await child.exited) === 0) return stdout
    throw new Error(`${order.command.join(' ')} ended with ${child.exitCode}: ${stderr}`)
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
