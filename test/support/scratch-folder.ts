import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of mode 0700 that is gone at the end of the test: `using folder = new ScratchFolder()`. */
export class ScratchFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'hookline-test-'))

  file(name: string): string {
    return join(this.path, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
