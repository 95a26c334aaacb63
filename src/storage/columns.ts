import { sql } from 'drizzle-orm'
import { check, customType, integer } from 'drizzle-orm/sqlite-core'

import type { Timestamp } from '../domain/ids.ts'

/** A time in milliseconds since 1970. */
export const at = (name: string) => integer(name).$type<Timestamp>()

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'blob' })

export const flag = (name: string) => integer(name, { mode: 'boolean' })

// CHECKs find damage: SQLite returns a row with random bytes as if it were intact, and only its integrity
// check, which evaluates every CHECK, finds it.

/** The column is one of `words`, or NULL. An OR, because SQLite builds a table for an IN at each write. */
export const checkWord = (column: string, words: readonly string[]) => {
  const isWord = words.map((word) => `\`${column}\` = '${word}'`).join(' OR ')
  return check(`${column}_is_known`, sql.raw(isWord))
}

export const checkJson = (column: string) =>
  check(`${column}_is_json`, sql.raw(`\`${column}\` IS NULL OR json_valid(\`${column}\`)`))

/** The column is a name from a list that grows without a migration (lower-case letters, dots, underscores), or NULL. */
export const checkName = (column: string) =>
  check(`${column}_is_a_name`, sql.raw(`\`${column}\` NOT GLOB '*[^a-z._]*'`))
