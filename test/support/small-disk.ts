import { cpSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOM_BYTES = 1024 ** 3

/** Whether this test may mount a disk of its own: root on Linux may, mostly. */
export function canMountDisk(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const path = mkdtempSync(join(tmpdir(), 'hookline-disk-'))
  const isMounted = mount('tmpfs', path, 'size=64k')
  if (isMounted) unmount(path)
  rmSync(path, { recursive: true, force: true })
  return isMounted
}

/** A disk in memory that takes the place of a folder, with what lies in it, and whose size changes. */
export class SmallDisk implements Disposable {
  readonly #path: string

  constructor(path: string) {
    const copy = mkdtempSync(join(tmpdir(), 'hookline-disk-'))
    const isSocket = (file: string) => file.endsWith('.sock')
    cpSync(path, copy, { recursive: true, filter: (file) => !isSocket(file) })
    if (!mount('tmpfs', path, `mode=0700,size=${ROOM_BYTES}`)) throw new Error('mount failed')
    cpSync(copy, path, { recursive: true })
    rmSync(copy, { recursive: true })
    this.#path = path
  }

  /** Leaves this much room; 0 leaves none, to the last byte. */
  leave(bytes: number): void {
    for (;;) {
      const { blocks, bfree, bsize } = statfsSync(this.#path)
      // Refused where more was written meanwhile.
      if (this.#resize((blocks - bfree) * bsize + bytes)) return
    }
  }

  /** Makes room again. */
  clear(): void {
    if (!this.#resize(ROOM_BYTES)) throw new Error('remount failed')
  }

  #resize(bytes: number): boolean {
    return mount('tmpfs', this.#path, `remount,size=${bytes}`)
  }

  [Symbol.dispose](): void {
    unmount(this.#path)
  }
}

function mount(type: string, path: string, options: string): boolean {
  const command = ['mount', '-t', type, '-o', options, 'hookline-test', path]
  return Bun.spawnSync(command).exitCode === 0
}

/** Also while something still has it open. */
function unmount(path: string): void {
  Bun.spawnSync(['umount', '--lazy', path])
}
