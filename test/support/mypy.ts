// The type checker of Python: on the PATH, or in a folder of its own that scripts/test fills.

import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const VERSION = '2.4.1'
const FOLDER = join(tmpdir(), `hookline-mypy-${VERSION}`)
const INSTALL_TIMEOUT_MS = 120_000

/** The path of mypy; null if it is missing. */
export function mypyOf(): string | null {
  const own = `${FOLDER}/bin/mypy`
  return existsSync(own) ? own : Bun.which('mypy')
}

/** Installs it if that is possible. */
export function bringMypy(): void {
  if (mypyOf() !== null || Bun.which('python3') === null) return
  process.stdout.write('\n== mypy, for the tests of the client in Python\n')
  const steps = [
    ['python3', '-m', 'venv', FOLDER],
    [`${FOLDER}/bin/pip`, 'install', '--quiet', '--retries=0', `mypy==${VERSION}`],
  ]
  for (const step of steps) Bun.spawnSync(step, { timeout: INSTALL_TIMEOUT_MS })
}
