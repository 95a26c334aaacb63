import { readdirSync, readFileSync } from 'node:fs'

/** Reads `migrations/` at build time. */
export function readMigrations(): { name: string; sql: string }[] {
  const folder = `${import.meta.dir}/../../migrations`
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file, sql: readFileSync(`${folder}/${file}`, 'utf8') }))
}
