// The usbmuxd of this computer's distribution, without a phone, for tests that want it as a judge.

import { existsSync, mkdirSync } from 'node:fs'

import { eventually } from '../eventually.ts'
import { ScratchFolder } from '../scratch-folder.ts'

const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`

/** Its socket has one place only, so it runs in a file system view of its own. */
export function hasUsbmuxd(): boolean {
  if (process.platform !== 'linux' || Bun.which('usbmuxd', { PATH }) === null) return false
  return Bun.spawnSync(['unshare', '--mount', 'true']).exitCode === 0
}

/** The real usbmuxd, whose /run and /var/lib are folders of ours and who sees no USB bus. */
export class RealUsbmuxd implements AsyncDisposable {
  readonly #folder = new ScratchFolder()
  #child: Bun.Subprocess | null = null

  get path(): string {
    return this.#folder.file('run/usbmuxd')
  }

  async start(): Promise<void> {
    for (const name of ['run', 'lib', 'bus'])
      mkdirSync(this.#folder.file(name), { recursive: true })
    const mounts = ['run /run', 'lib /var/lib'].map((pair) => `mount --bind "$0"/${pair}`)
    const bus = '{ [ ! -d /dev/bus ] || mount --bind "$0"/bus /dev/bus; }'
    const script = [...mounts, bus, 'exec usbmuxd --foreground --no-preflight'].join(' && ')
    const command = ['unshare', '--mount', 'sh', '-c', script, this.#folder.path]
    const quiet = { stdout: 'ignore', stderr: 'ignore', env: { PATH } } as const
    this.#child = Bun.spawn(command, quiet)
    await eventually('an answer of usbmuxd', () => this.#isAnswering())
  }

  async stop(): Promise<void> {
    this.#child?.kill()
    await this.#child?.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.#folder[Symbol.dispose]()
  }

  /** Its socket lies there for a moment before anybody listens at it. */
  async #isAnswering(): Promise<true | null> {
    if (!existsSync(this.path)) return null
    const connecting = Bun.connect({ unix: this.path, socket: { data: () => {} } })
    return connecting.then(
      (socket) => {
        socket.end()
        return true
      },
      () => null,
    )
  }
}
