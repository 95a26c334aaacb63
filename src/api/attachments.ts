import { Type } from 'typebox'

import { ATTACHMENT_STATES, FILENAME_BYTES_MAX } from '../domain/attachment.ts'
import { DIRECTIONS } from '../domain/message.ts'
import {
  count,
  flag,
  IN_DOCUMENT,
  enumOf,
  id,
  nullable,
  nullish,
  objectSchema,
  time,
  url,
  type Shape,
  text,
} from './schema.ts'

export const VARIANTS = ['original', 'compatible', 'thumbnail'] as const
export type Variant = (typeof VARIANTS)[number]

export const AttachmentVariant = enumOf(
  'AttachmentVariant',
  VARIANTS,
  '`compatible` is JPEG for HEIC, M4A for CAF and MP4 for MOV; `thumbnail` is a JPEG of 512 pixels.',
)

const AttachmentState = enumOf(
  'AttachmentState',
  ATTACHMENT_STATES,
  '`pending` until the device has the file; `available`; `failed` or `missing` if the device ' +
    'cannot get it; `not_kept` if the quota was full; `deleted`.',
)

const FILE = {
  id: id('att', 'Identifies the attachment.'),
  filename: Type.String({ example: 'menu.pdf' }),
  mime_type: text('By its first bytes.', 'application/pdf'),
  size: nullable(count('In bytes; null until known.', 245_760)),
  state: AttachmentState,
  url: Type.String({
    description: 'Path of the bytes, for the same key.',
    example: '/api/v1/attachments/att_01k5c3qv7yfxn8t2w9r4d6m0ab/content',
    [IN_DOCUMENT]: { format: 'uri-reference' },
  }),
}

export const Attachment = objectSchema('Attachment', {
  ...FILE,
  declared_type: nullable(text('As the uploader or the device said.')),
  sha256: nullable(text('Lower-case hex; null until the bytes are here.')),
  width: nullable(count('In pixels.')),
  height: nullable(count('In pixels.')),
  duration_ms: nullable(Type.Integer()),
  direction: enumOf('AttachmentDirection', DIRECTIONS),
  message_id: nullable(id('msg', 'The first message that it belongs to.')),
  variants: Type.Array(AttachmentVariant, { description: 'What this machine can hand out.' }),
  created_at: time('When the relay recorded it.'),
  expires_at: nullable(time('When an upload that no message uses is deleted; null once used.')),
})
export type Attachment = Shape<typeof Attachment>

export const MessageAttachment = objectSchema('MessageAttachment', {
  ...FILE,
  sent: nullish(flag('Outbound only: whether this part was sent; null while nobody can say.')),
  download_url: Type.Optional(
    url({ description: 'Needs no key, for 7 days; for webhooks with `attachment_links`.' }),
  ),
})
export type MessageAttachment = Shape<typeof MessageAttachment>

/** A file to send: an attachment by its id, or a URL that is fetched before the message is accepted. */
export const SendAttachment = Type.Union(
  [
    objectSchema('AttachmentById', { id: id('att', 'An upload, or any attachment that is here.') }),
    objectSchema('AttachmentByUrl', {
      url: url({ minLength: 1, maxLength: 2_048, description: 'Fetched at once: 20 s, 25 MB.' }),
      filename: Type.Optional(
        Type.String({ minLength: 1, maxLength: FILENAME_BYTES_MAX, example: 'menu.pdf' }),
      ),
    }),
  ],
  { title: 'SendAttachment' },
)
export type SendAttachment = Shape<typeof SendAttachment>

export const LinkRequest = objectSchema('AttachmentLinkRequest', {
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 7 * 86_400,
      default: 3_600,
      description: 'In seconds.',
    }),
  ),
})

export const Link = objectSchema('AttachmentLink', {
  url: url({ description: 'The file for its holder, without a key.' }),
  expires_at: time('When it ends.'),
})
export type Link = Shape<typeof Link>
