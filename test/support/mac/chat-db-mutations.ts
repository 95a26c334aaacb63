// What a chat.db may look like beside the seven that are known. A mutation changes the statements of a
// fixture, which are parted by blank lines.

import { OPTIONAL_COLUMNS } from '../../../src/lines/kinds/mac/chat-db-open.ts'
import type { FileOptions } from './chat-db-file.ts'
import { SCHEMAS, withColumns, type SchemaName } from './chat-db-schemas.ts'

/** A kind of chat.db. `lacks` names the optional columns that it is without, as `table.column`. */
export type Variant = {
  readonly name: string
  readonly schema: SchemaName
  readonly options: FileOptions
  readonly lacks: readonly string[]
}

export const OPTIONAL_NAMES = Object.entries(OPTIONAL_COLUMNS).flatMap(([table, columns]) =>
  columns.map((column) => `${table}.${column}`),
)

/** Without those columns (`table.column`), and without the indexes and triggers that name them. */
function withoutColumns(sql: string, names: readonly string[]): string {
  const gone = names.map((name) => name.slice(name.indexOf('.') + 1))
  const isKept = (statement: string) =>
    statement.startsWith('CREATE TABLE') || !gone.some((name) => wordOf(name).test(statement))
  const kept = sql.split('\n\n').filter(isKept).join('\n\n')
  return names.reduce((text, name) => {
    const [table = '', column = ''] = name.split('.')
    const drop = (columns: readonly string[], constraints: readonly string[]) => [
      ...columns.filter((definition) => definition.split(' ')[0] !== column),
      ...constraints,
    ]
    return withColumns(text, table, drop)
  }, kept)
}

/** Every column at another place. */
function withShuffledColumns(sql: string): string {
  const shuffle = (columns: readonly string[], constraints: readonly string[]) => {
    const odd = columns.filter((_, place) => place % 2 === 1)
    const even = columns.filter((_, place) => place % 2 === 0)
    return [...odd.toReversed(), ...even, ...constraints]
  }
  return TABLES.reduce((text, table) => withColumns(text, table, shuffle), sql)
}

/** As the next macOS may have it: a column that nobody knows before and behind those that are known. */
function withUnknownColumns(sql: string): string {
  const add = ([first = '', ...others]: readonly string[], constraints: readonly string[]) => [
    'foreseen_by TEXT',
    first,
    "foreseen_at INTEGER NOT NULL DEFAULT '7'",
    ...others,
    ...constraints,
  ]
  return TABLES.reduce((text, table) => withColumns(text, table, add), sql)
}

export const VARIANTS: readonly Variant[] = [
  ...SCHEMAS.map((schema) => ({ name: schema, schema, options: {}, lacks: lackedBy(schema) })),
  ...OPTIONAL_NAMES.map((name) => variant(`without ${name}`, [name])),
  variant('without any optional column', OPTIONAL_NAMES),
  variant('with shuffled columns', [], { mutate: withShuffledColumns }),
  variant('with unknown columns', [], { mutate: withUnknownColumns }),
  variant('with bodies of type TEXT', [], { areBodiesText: true }),
  variant('with dates in seconds', [], { areDatesSeconds: true }),
]

/** Each but those that lack a single column. */
export const MAIN_VARIANTS = VARIANTS.filter(({ name }) => !name.includes('.'))

const TABLES = ['message', 'handle', 'chat', 'chat_message_join', 'attachment']

function variant(name: string, lacks: readonly string[], options: FileOptions = {}): Variant {
  const drop = lacks.length === 0 ? {} : { mutate: (sql: string) => withoutColumns(sql, lacks) }
  const all = [...new Set([...lacks, ...lackedBy('macos26a')])]
  return { name, schema: 'macos26a', options: { ...drop, ...options }, lacks: all }
}

/** What came later than a version of macOS. */
function lackedBy(schema: SchemaName): readonly string[] {
  const since15 = [
    'message.is_pending_satellite_send',
    'message.schedule_type',
    'message.associated_message_emoji',
    'attachment.emoji_image_short_description',
  ]
  const since27 = ['message.filter_action', 'chat_message_join.filter_action']
  if (schema === 'macos12') return ['message.date_edited', ...since15, ...since27]
  if (schema === 'macos13' || schema === 'macos14') return [...since15, ...since27]
  return schema === 'macos27' ? [] : since27
}

function wordOf(name: string): RegExp {
  return new RegExp(`\\b${name}\\b`)
}
