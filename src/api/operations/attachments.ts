import { Type } from 'typebox'

import { Attachment, AttachmentVariant, Link, LinkRequest } from '../attachments.ts'
import { CHANGE, READ, rows } from '../operation.ts'
import { idempotencyHeader, textParameter } from '../query.ts'
import { Deleted } from '../schema.ts'

const SHARED = { callers: 'keys', tag: 'Attachments', limits: ['lines'] } as const
const READS = { ...SHARED, ...READ, scope: 'attachments:read' } as const
const CHANGES = { ...SHARED, ...CHANGE, scope: 'attachments:write' } as const

const UploadQuery = Type.Object({
  filename: textParameter('Name of the file; of a form, its own if left out.', 'menu.pdf'),
})

export const ContentQuery = Type.Object({ variant: Type.Optional(AttachmentVariant) })

const BYTES = {
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
}

export const ATTACHMENTS = rows({
  uploadAttachment: {
    ...CHANGES,
    route: 'POST /attachments',
    summary: 'Upload a file',
    // The form is only mentioned: as a second content type, it makes generators write code that doesn't compile.
    description:
      'The body is the file, under any `Content-Type`, or a form with the one field `file`. An ' +
      'upload that no message uses is deleted after 24 hours. A key has 16 uploads at a time, all keys 64.',
    query: UploadQuery,
    headers: Type.Object(
      idempotencyHeader(
        'Retries with the same bytes get the same attachment.',
        'berlin-menu-2026-11',
      ),
    ),
    takesFile: true,
    answers: { 201: Attachment },
    answerHeaders: { 'Idempotency-Replayed': '`true` if the key brought this file before.' },
    errors: [
      'idempotency_conflict',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limit_exceeded',
      'storage_full',
    ],
    limits: ['conversations'],
    member: 'yes',
    password: 'no',
    audit: null,
  },
  getAttachment: {
    ...READS,
    limits: ['lines', 'conversations'],
    route: 'GET /attachments/:id',
    summary: 'Read an attachment',
    description: 'What is known of the file, and whether its bytes are here.',
    answers: { 200: Attachment },
    errors: ['attachment_not_found'],
    member: 'yes',
  },
  deleteAttachment: {
    ...CHANGES,
    route: 'DELETE /attachments/:id',
    summary: 'Delete a file',
    description: 'Its bytes are deleted; what is known of it stays with its messages.',
    answers: { 200: Deleted },
    errors: ['attachment_not_found', 'attachment_not_ready', 'attachment_in_use'],
    audit: 'attachment.deleted',
  },
  downloadAttachment: {
    ...READS,
    limits: ['lines', 'conversations'],
    route: 'GET /attachments/:id/content',
    summary: 'Download a file',
    description:
      'The bytes, whole or one `Range` of them; also by `HEAD`. A `variant` is made at its first ' +
      'request; `compatible` of a type that everyone can open is the original.',
    query: ContentQuery,
    answers: {},
    fileAnswers: {
      200: { description: 'The file.', ...BYTES },
      206: { description: 'The range of it.', ...BYTES },
      304: { description: 'The client has it, by `If-None-Match`.' },
    },
    errors: [
      'attachment_not_found',
      'attachment_not_ready',
      'attachment_gone',
      'range_not_satisfiable',
      'variant_unavailable',
      'storage_full',
    ],
    member: 'yes',
  },
  createAttachmentLink: {
    ...SHARED,
    ...CHANGE,
    scope: 'attachments:read',
    route: 'POST /attachments/:id/link',
    summary: 'Make a link to a file',
    description: 'For programs and people without a key. It cannot be taken back before it ends.',
    body: LinkRequest,
    isBodyOptional: true,
    answers: { 200: Link },
    errors: ['attachment_not_found', 'attachment_not_ready', 'attachment_gone'],
    audit: 'attachment.linked',
  },
})
