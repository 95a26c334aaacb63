// Contacts, opt-outs and search.

import { Type, type TOptional, type TSchema, type TUnsafe } from 'typebox'

import {
  CONTACT_FIELDS,
  LIST_LENGTH_MAX,
  type ContactFields as Fields,
  type FieldRow,
} from '../domain/contact-fields.ts'
import { OPT_OUT_SOURCES } from '../domain/opt-out.ts'
import { Conversation, Message } from './messages.ts'
import {
  count,
  flag,
  enumOf,
  id,
  listOf,
  nullable,
  nullish,
  objectSchema,
  time,
  text,
  type Shape,
} from './schema.ts'

/** The schema of a field in an answer. */
function answered({ kind, isRequired, example }: FieldRow): TSchema {
  const text = Type.String(example === undefined ? {} : { example })
  if (kind === 'list') return Type.Array(text)
  return isRequired === true ? text : nullable(text)
}

/** The schema of a field in a request. */
function requested({ kind, isRequired, lengthMax: maxLength, example: text }: FieldRow): TSchema {
  const example = text === undefined ? {} : { example: text }
  if (isRequired === true) return Type.String({ minLength: 1, maxLength, ...example })
  if (kind !== 'list') return nullish(Type.String({ maxLength, ...example }))
  const pattern = String.raw`^[^,]*[^,\s][^,]*$`
  const item = { minLength: 1, maxLength, pattern, description: 'Without a comma.', ...example }
  return Type.Optional(Type.Array(Type.String(item), { maxItems: LIST_LENGTH_MAX }))
}

function eachField(schemaOf: (row: FieldRow) => TSchema): unknown {
  return Object.fromEntries(
    Object.entries(CONTACT_FIELDS).map(([name, row]) => [name, schemaOf(row)]),
  )
}

// The casts hold because every schema is made from the row of its field.
const ANSWERED = eachField(answered) as { [N in keyof Fields]: TUnsafe<Fields[N]> }
const REQUESTED = eachField(requested) as { [N in keyof Fields]: TOptional<TUnsafe<Fields[N]>> }

export const Contact = objectSchema('Contact', {
  handle: text('E.164 with `+`, or an email address.', '+12025550147'),
  ...ANSWERED,
  opted_out: Type.Optional(flag('True after an opt-out; else left out.')),
  created_at: time('When it was added.'),
  updated_at: time('When it last changed.'),
})
export type Contact = Shape<typeof Contact>

export const ContactList = listOf('ContactList', Contact)

export const ContactFields = objectSchema('ContactFields', REQUESTED)

export const DeletedContact = objectSchema('DeletedContact', {
  handle: Type.String({ example: '+12025550147' }),
  deleted: Type.Literal(true),
})
export type DeletedContact = Shape<typeof DeletedContact>

export const OptOut = objectSchema('OptOut', {
  handle: Type.String({ example: '+12025550147' }),
  phone_line_id: nullable(id('line', 'The only line that it is about; null for all lines.')),
  keyword: nullable(text('Word of the message, in capitals.', 'STOP')),
  message_id: nullable(id('msg', 'The message that consists of the keyword.')),
  source: enumOf('OptOutSource', OPT_OUT_SOURCES, '`keyword` is a message of the person.'),
  created_at: time('When it was recorded.'),
})
export type OptOut = Shape<typeof OptOut>

export const OptOutList = listOf('OptOutList', OptOut)

export const OptOutFields = objectSchema('OptOutFields', {
  phone_line_id: nullish(
    id('line', 'Only messages of this line; of all lines if it is null or left out.'),
  ),
})

export const DeletedOptOut = objectSchema('DeletedOptOut', DeletedContact.properties)
export type DeletedOptOut = Shape<typeof DeletedOptOut>

export const ImportReport = objectSchema('ImportReport', {
  imported: count('New contacts.'),
  updated: count('Contacts that were there, and changed.'),
  skipped: count('Contacts that were there as they are in the file.'),
  failed: count('Entries that could not be imported.'),
  errors: Type.Array(
    objectSchema('ImportError', {
      row: count('The row of the table, its row of names included, or the number of the vCard.'),
      why: Type.String({ example: 'has no phone number and no email address' }),
    }),
    { description: 'The first 1,000 of those that failed.' },
  ),
})
export type ImportReport = Shape<typeof ImportReport>

const Excerpt = objectSchema('Excerpt', {
  text: text('The part of the text around the first word that was found.'),
  ranges: Type.Array(
    objectSchema('ExcerptRange', { offset: Type.Integer(), length: Type.Integer() }),
    { description: 'The found words in it, in code points.' },
  ),
})

export const SearchResult = objectSchema('SearchResult', {
  people: Type.Array(Contact, { description: 'By name, tag or number; latest entry first.' }),
  conversations: Type.Array(Conversation, {
    description: 'By number or name of a group, and those of `people`; latest message first.',
  }),
  messages: Type.Array(
    objectSchema('FoundMessage', {
      message: Message,
      excerpt: Excerpt,
      conversation_id: id('conv', 'Its conversation.'),
      contact_name: Type.Optional(text("The person's name in the contacts.", 'Anna Miller')),
    }),
    { description: 'With every word of the query; newest first.' },
  ),
  is_complete: flag('False if time was up before the oldest message: a longer word finds more.'),
})
export type SearchResult = Shape<typeof SearchResult>
