// Files that travel with messages: upload, download and links. What a stranger sent is only ever handed out
// to be saved: no browser shows it as a page of this relay.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { Attachment, AttachmentVariant, Link, LinkRequest } from '../api/attachments.ts'
import { Deleted } from '../api/schema.ts'
import type { Attachments, Content } from '../attachments/attachments.ts'
import { RelayError } from '../domain/errors.ts'
import { mayTake } from './body.ts'
import { CallerSlots } from './caller-slots.ts'
import { answerWithBytes } from './file-answer.ts'
import { fileBodyOf } from './file-body.ts'
import { BY_ID, documentationOf, operation } from './operation.ts'
import { readQuery } from './query.ts'
import { callerIdOf, callerOf, contextOf, originOf } from './request-context.ts'
import { errorResponse, respond } from './respond.ts'
import { idempotencyKeyOf } from './sending.ts'
import { isKnown } from './static-file.ts'
import { pathSchema } from './typebox.ts'

type Tools = { readonly attachments: Attachments }

/** A phone on the move may be silent for a while. */
const SILENCE_SECONDS = 60
/** A variant is made first, behind others. */
const VARIANT_SECONDS = 250
/** Uploads at the same time: a slow one keeps a file and a connection open. */
const UPLOADS = {
  ofAll: 64,
  ofOne: 16,
  retryAfterSeconds: 10,
  of: { limit: 'uploads', noun: 'uploads', doing: 'are running' },
}
const BYTES = { type: 'string' as const, format: 'binary' }

const UploadQuery = Type.Object({
  filename: Type.Optional(
    Type.String({ description: 'Of a form, its own where left out.', example: 'menu.pdf' }),
  ),
})

const UploadHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Retries with the same bytes get the same attachment.',
      example: 'berlin-menu-2026-11',
    }),
  ),
})

const UPLOAD = {
  ...documentationOf('Attachments', {
    id: 'uploadAttachment',
    summary: 'Upload a file',
    description:
      'The body is the file, under any `Content-Type`, or a form with the one field `file`. An ' +
      'upload that no message uses is deleted after 24 hours. A key has 16 uploads at a time, all keys 64.',
    scope: 'attachments:write',
    query: UploadQuery,
    headers: UploadHeaders,
    answers: { 201: Attachment },
    answerHeaders: { 'Idempotency-Replayed': '`true` where the key brought this file before.' },
    errors: [
      'idempotency_conflict',
      'payload_too_large',
      'unsupported_media_type',
      'rate_limit_exceeded',
      'storage_full',
    ],
  }),
  // The form is described above: as a second kind of body it makes clients that do not compile.
  requestBody: { required: true, content: { 'application/octet-stream': { schema: BYTES } } },
}

const GET = operation('Attachments', {
  id: 'getAttachment',
  summary: 'Read an attachment',
  description: 'What is known of the file, and whether its bytes are here.',
  scope: 'attachments:read',
  answers: { 200: Attachment },
  errors: ['attachment_not_found'],
})

const REMOVE = operation('Attachments', {
  id: 'deleteAttachment',
  summary: 'Delete a file',
  description: 'Its bytes are deleted; what is known of it stays with its messages.',
  scope: 'attachments:write',
  answers: { 200: Deleted },
  errors: ['attachment_not_found', 'attachment_not_ready', 'attachment_in_use'],
})

const ContentQuery = Type.Object({ variant: Type.Optional(AttachmentVariant) })

const DOWNLOAD = documentationOf('Attachments', {
  id: 'downloadAttachment',
  summary: 'Download a file',
  description:
    'The bytes, whole or one `Range` of them; also by `HEAD`. A `variant` is made at its first ' +
    'request; `compatible` of a type that everyone can open is the original.',
  scope: 'attachments:read',
  query: ContentQuery,
  answers: {},
  errors: [
    'attachment_not_found',
    'attachment_not_ready',
    'attachment_gone',
    'range_not_satisfiable',
    'variant_unavailable',
    'storage_full',
  ],
})

const FILE = { content: { 'application/octet-stream': { schema: BYTES } } }
const FILE_ANSWERS = {
  200: { description: 'The file.', ...FILE },
  206: { description: 'The range of it.', ...FILE },
  304: { description: 'The client has it, by `If-None-Match`.' },
}

const LINK = operation('Attachments', {
  id: 'createAttachmentLink',
  summary: 'Make a link to a file',
  description: 'For programs and people without a key. It cannot be taken back before it ends.',
  scope: 'attachments:read',
  answers: { 200: Link },
  errors: ['attachment_not_found', 'attachment_not_ready', 'attachment_gone'],
})

const LINK_SECONDS_DEFAULT = 3_600

export function attachmentRoutes({ attachments }: Tools) {
  const slots = new CallerSlots(UPLOADS)
  return new Elysia({ prefix: '/api/v1/attachments' })
    .post('', ({ request }) => upload(request, attachments, slots), {
      parse: 'none',
      beforeHandle: ({ request }) => void callerOf(request),
      detail: UPLOAD,
    })
    .get('/:id', ({ params }) => attachments.get(params.id), { ...BY_ID, ...GET })
    .delete(
      '/:id',
      async ({ request, params }) => {
        await attachments.remove(params.id, originOf(request))
        return { id: params.id, deleted: true as const }
      },
      { ...BY_ID, ...REMOVE },
    )
    .get('/:id/content', ({ request, params }) => download(request, attachments, params.id), {
      ...BY_ID,
      beforeHandle: ({ request }) => void callerOf(request),
      detail: { ...DOWNLOAD, responses: { ...FILE_ANSWERS, ...DOWNLOAD.responses } },
    })
    .post(
      '/:id/link',
      ({ request, params, body }) =>
        attachments.link(params.id, body.expires_in ?? LINK_SECONDS_DEFAULT, originOf(request)),
      { ...BY_ID, ...mayTake(LinkRequest), ...LINK },
    )
}

const TokenPath = Type.Object({ token: Type.String() })

/** The bytes for the holder of a link. */
export function linkRoutes({ attachments }: Tools) {
  return new Elysia().get(
    '/a/:token',
    ({ request, params }) => download(request, attachments, attachments.idOfLink(params.token)),
    { params: pathSchema(TokenPath), detail: { hide: true } },
  )
}

async function upload(
  request: Request,
  attachments: Attachments,
  slots: CallerSlots,
): Promise<Response> {
  const { peer, requestId } = contextOf(request)
  const caller = callerIdOf(request)
  const query = readQuery(request, UploadQuery)
  const key = idempotencyKeyOf(request.headers)
  const release = slots.take(caller, request.signal, callerOf(request).kind === 'cli')
  try {
    peer.liftTimeout(SILENCE_SECONDS)
    const body = await fileBodyOf(request)
    const filename = query.filename ?? body.filename
    const upload = { ...body, filename, caller, idempotencyKey: key }
    const { resource, isReplay } = await attachments.upload(upload)
    const headers = isReplay ? { 'idempotency-replayed': 'true' } : {}
    return respond(JSON.stringify(resource), { status: 201, requestId, headers })
  } finally {
    release()
  }
}

async function download(request: Request, attachments: Attachments, id: string): Promise<Response> {
  const { peer } = contextOf(request)
  const { variant = 'original' } = readQuery(request, ContentQuery)
  peer.liftTimeout(variant === 'original' ? SILENCE_SECONDS : VARIANT_SECONDS)
  return sendContent(request, await attachments.content(id, variant))
}

/** The file, a range of it, or nothing where the client has it. */
function sendContent(request: Request, content: Content): Response {
  const { requestId } = contextOf(request)
  const { path, size, etag } = content
  const headers = headersOf(content)
  if (isKnown(etag, request.headers.get('if-none-match'))) {
    return respond(null, { status: 304, requestId, headers })
  }
  const range = rangeIn(request.headers, content)
  if (range === null)
    return answerWithBytes(request, { path, first: 0, last: size - 1 }, { headers })
  if (range === 'outside') {
    const error = new RelayError('range_not_satisfiable', `The file has ${size} bytes.`)
    return errorResponse(error, requestId, { 'content-range': `bytes */${size}` })
  }
  const { first, last } = range
  const partial = { ...headers, 'content-range': `bytes ${first}-${last}/${size}` }
  return answerWithBytes(request, { path, first, last }, { status: 206, headers: partial })
}

/** Types that are harmless where a browser ignores all that forbids it to show them. */
const HARMLESS = /^(?:image\/(?!svg)|audio\/|video\/|application\/pdf$|text\/plain$)/

function headersOf({ filename, mimeType, etag }: Content): Readonly<Record<string, string>> {
  const ascii = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename).replaceAll(/['()*!]/g, percentEncoded)
  return {
    'content-type': HARMLESS.test(mimeType) ? mimeType : 'application/octet-stream',
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    'content-security-policy': 'sandbox',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    etag,
  }
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

type Range = { readonly first: number; readonly last: number }

/** The one range that is asked for; several at once are answered with the whole, as RFC 9110 allows. */
function rangeIn(headers: Headers, { size, etag }: Content): Range | 'outside' | null {
  const condition = headers.get('if-range')
  const isMeant = condition === null || condition === etag
  const match = isMeant ? /^bytes=(\d*)-(\d*)$/.exec(headers.get('range') ?? '') : null
  const [, from = '', to = ''] = match ?? []
  if (from === '') return to === '' ? null : lastBytes(Number(to), size)
  const first = Number(from)
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to)
  if (last < first) return null
  return first >= size ? 'outside' : { first, last: Math.min(last, size - 1) }
}

function lastBytes(length: number, size: number): Range | 'outside' {
  return length === 0 ? 'outside' : { first: Math.max(0, size - length), last: size - 1 }
}
