import { readdirSync, readFileSync } from 'node:fs'

/** The files of `migrations/`, read when the program is bundled. */
export function readMigrations(): { name: string; sql: string }[] {
  const folder = `${import.meta.dir}/../../migrations`
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file, sql: readFileSync(`${folder}/${file}`, 'utf8') }))
}
