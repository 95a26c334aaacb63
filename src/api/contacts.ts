// The owner's address book, people who want no more messages, and search.

import { Type } from 'typebox'

import { OPT_OUT_SOURCES, type OptOut as StoredOptOut } from '../domain/opt-out.ts'
import { NAME_LENGTH_MAX, NOTE_LENGTH_MAX, TAGS_MAX, TAG_LENGTH_MAX } from '../domain/person.ts'
import { Conversation, Message } from './messages.ts'
import { enumOf, id, listOf, nullable, objectSchema, time, type Shape } from './schema.ts'

const TAG = Type.String({
  minLength: 1,
  maxLength: TAG_LENGTH_MAX,
  pattern: String.raw`^[^,]*[^,\s][^,]*$`,
  description: 'Without a comma.',
  example: 'supplier',
})

export const Contact = objectSchema('Contact', {
  handle: Type.String({
    description: 'E.164 with `+`, or an email address.',
    example: '+12025550147',
  }),
  name: Type.String({ example: 'Anna Miller' }),
  note: nullable(Type.String()),
  tags: Type.Array(Type.String({ example: 'supplier' })),
  opted_out: Type.Optional(Type.Boolean({ description: 'True after an opt-out; else left out.' })),
  created_at: time('When it was added.'),
  updated_at: time('When it last changed.'),
})
export type Contact = Shape<typeof Contact>

export const ContactList = listOf('ContactList', Contact)

export const ContactFields = objectSchema('ContactFields', {
  name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, example: 'Anna Miller' }),
  note: Type.Optional(nullable(Type.String({ maxLength: NOTE_LENGTH_MAX }))),
  tags: Type.Optional(Type.Array(TAG, { maxItems: TAGS_MAX })),
})

export const DeletedContact = objectSchema('DeletedContact', {
  handle: Type.String({ example: '+12025550147' }),
  deleted: Type.Literal(true),
})
export type DeletedContact = Shape<typeof DeletedContact>

export const OptOut = objectSchema('OptOut', {
  handle: Type.String({ example: '+12025550147' }),
  phone_line_id: nullable(id('line', 'The only line that it is about; null for all lines.')),
  keyword: nullable(
    Type.String({ description: 'Word of the message, in capitals.', example: 'STOP' }),
  ),
  message_id: nullable(id('msg', 'The message that consists of the keyword.')),
  source: enumOf('OptOutSource', OPT_OUT_SOURCES, '`keyword` is a message of the person.'),
  created_at: time('When it was recorded.'),
})
export type OptOut = Shape<typeof OptOut>

/** The fields of an `OptOut`. */
export function optOutFields(optOut: StoredOptOut, created_at: string): OptOut {
  const { handle, lineId, keyword, messageId, source } = optOut
  return { handle, phone_line_id: lineId, keyword, message_id: messageId, source, created_at }
}

export const OptOutList = listOf('OptOutList', OptOut)

export const OptOutFields = objectSchema('OptOutFields', {
  phone_line_id: Type.Optional(
    nullable(id('line', 'Only messages of this line; of all lines where it is null or left out.')),
  ),
})

export const DeletedOptOut = objectSchema('DeletedOptOut', DeletedContact.properties)
export type DeletedOptOut = Shape<typeof DeletedOptOut>

export const ImportReport = objectSchema('ImportReport', {
  imported: Type.Integer({ description: 'New contacts.' }),
  updated: Type.Integer({ description: 'Contacts that were there, and changed.' }),
  skipped: Type.Integer({ description: 'Contacts that were there as they are in the file.' }),
  failed: Type.Integer({ description: 'Entries that could not be imported.' }),
  errors: Type.Array(
    objectSchema('ImportError', {
      row: Type.Integer({
        description: 'The row of the table, its row of names included, or the number of the vCard.',
      }),
      why: Type.String({ example: 'has no phone number and no email address' }),
    }),
    { description: 'The first 1,000 of those that failed.' },
  ),
})
export type ImportReport = Shape<typeof ImportReport>

const Excerpt = objectSchema('Excerpt', {
  text: Type.String({ description: 'The part of the text around the first word that was found.' }),
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
      contact_name: Type.Optional(
        Type.String({ description: "The person's name in the contacts.", example: 'Anna Miller' }),
      ),
    }),
    { description: 'With every word of the query; newest first.' },
  ),
  is_complete: Type.Boolean({
    description: 'False where time was up before the oldest message: a longer word finds more.',
  }),
})
export type SearchResult = Shape<typeof SearchResult>
