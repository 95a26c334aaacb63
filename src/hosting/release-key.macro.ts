import { existsSync, readFileSync } from 'node:fs'

/** The text of `.release-key.pub`, read when the program is bundled; null where the checkout has none. */
export function readReleaseKey(): string | null {
  const file = `${import.meta.dir}/../../.release-key.pub`
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
