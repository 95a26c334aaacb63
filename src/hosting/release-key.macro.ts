import { existsSync, readFileSync } from 'node:fs'

/** Reads `.release-key.pub` when the program is bundled; null if the checkout has none. */
export function readReleaseKey(): string | null {
  const file = `${import.meta.dir}/../../.release-key.pub`
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
