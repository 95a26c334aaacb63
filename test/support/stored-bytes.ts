import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The bytes of every file below a folder, one for each character. */
export function bytesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const paths = files.map((file) => join(folder, file)).filter((path) => statSync(path).isFile())
  return paths.map((path) => readFileSync(path, 'latin1')).join('\n')
}
