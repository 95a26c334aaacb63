import { sql } from 'drizzle-orm'
import { check, customType, integer } from 'drizzle-orm/sqlite-core'

import type { Timestamp } from '../domain/ids.ts'

/** A time in milliseconds since 1970. */
export const at = (name: string) => integer(name).$type<Timestamp>()

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'blob' })

export const flag = (name: string) => integer(name, { mode: 'boolean' })

// CHECKs find damage: where random bytes hit a row, SQLite returns it as if it were intact, and only its
// integrity check, which looks at every CHECK, finds them.

/** The column holds one of `words`, or NULL. SQLite builds a table for an IN at each write; for an OR it does not. */
export const checkWord = (column: string, words: readonly string[]) => {
  const isWord = words.map((word) => `\`${column}\` = '${word}'`).join(' OR ')
  return check(`${column}_is_known`, sql.raw(isWord))
}

export const checkJson = (column: string) =>
  check(`${column}_is_json`, sql.raw(`\`${column}\` IS NULL OR json_valid(\`${column}\`)`))

/** The column holds lower-case letters, dots and underscores only, or NULL: a name from a list that grows without a migration. */
export const checkName = (column: string) =>
  check(`${column}_is_a_name`, sql.raw(`\`${column}\` NOT GLOB '*[^a-z._]*'`))
