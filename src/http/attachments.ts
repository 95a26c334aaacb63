// Attachments: upload, download and links. Downloads are always for saving: a browser must never show a
// stranger's file as a page of this relay.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import type { Variant } from '../api/attachments.ts'
import { ATTACHMENTS, ContentQuery } from '../api/operations/attachments.ts'
import type { Attachments, Content } from '../attachments/attachments.ts'
import { RelayError } from '../domain/errors.ts'
import { bind, bindRemoval, pathSchema } from './bind.ts'
import { CallerSlots } from './caller-slots.ts'
import { answerWithBytes } from './file-answer.ts'
import { fileBodyOf } from './file-body.ts'
import { readQuery } from './input.ts'
import { callerIdOf, callerOf, contextOf } from './request-context.ts'
import { errorResponse, respondTo } from './respond.ts'
import { idempotencyKeyOf } from './sending.ts'
import { isKnown } from './static-file.ts'

/** The idle time-out. A phone on the move may be silent for a while. */
const SILENCE_SECONDS = 60
/** The idle time-out while a variant is made, which may have to wait for others. */
const VARIANT_SECONDS = 250
/** The most uploads at the same time. A slow one keeps a file and a connection open. */
const UPLOADS = {
  ofAll: 64,
  ofOne: 16,
  retryAfterSeconds: 10,
  of: { limit: 'uploads', noun: 'uploads', doing: 'are running' },
}

export function attachmentBindings(attachments: Attachments) {
  const slots = new CallerSlots(UPLOADS)
  return [
    bind(ATTACHMENTS.uploadAttachment, ({ request, query }) =>
      upload(request, attachments, slots, query.filename),
    ),
    bind(ATTACHMENTS.getAttachment, ({ params }) => attachments.get(params.id)),
    bindRemoval(ATTACHMENTS.deleteAttachment, attachments),
    bind(ATTACHMENTS.downloadAttachment, ({ request, params, query }) =>
      download(request, attachments, params.id, query.variant),
    ),
    bind(ATTACHMENTS.createAttachmentLink, ({ params, body, origin }) =>
      attachments.link(params.id, body.expires_in ?? 3_600, origin),
    ),
  ]
}

/** Downloads by a link, without a key. */
export function linkRoutes(attachments: Attachments) {
  return new Elysia().get(
    '/a/:token',
    ({ request, params }) => {
      const attachmentId = attachments.idOfLink(params.token)
      const { variant } = readQuery(request, ContentQuery)
      return download(request, attachments, attachmentId, variant)
    },
    { params: pathSchema(Type.Object({ token: Type.String() })), detail: { hide: true } },
  )
}

async function upload(
  request: Request,
  attachments: Attachments,
  slots: CallerSlots,
  name: string | undefined,
): Promise<Response> {
  const { peer } = contextOf(request)
  const caller = callerIdOf(request)
  const key = idempotencyKeyOf(request.headers)
  const release = slots.take(caller, request.signal, callerOf(request).kind === 'cli')
  try {
    peer.liftTimeout(SILENCE_SECONDS)
    const body = await fileBodyOf(request)
    const filename = name ?? body.filename
    const upload = { ...body, filename, caller, idempotencyKey: key }
    const { resource, isReplay } = await attachments.upload(upload)
    const headers = isReplay ? { 'idempotency-replayed': 'true' } : {}
    return respondTo(request, JSON.stringify(resource), { status: 201, headers })
  } finally {
    release()
  }
}

async function download(
  request: Request,
  attachments: Attachments,
  id: string,
  variant: Variant = 'original',
): Promise<Response> {
  const { peer } = contextOf(request)
  peer.liftTimeout(variant === 'original' ? SILENCE_SECONDS : VARIANT_SECONDS)
  return sendContent(request, await attachments.content(id, variant))
}

/** Answers with the file, with a range of it, or with 304 if the client has it. */
function sendContent(request: Request, content: Content): Response {
  const { path, size, etag } = content
  const headers = headersOf(content)
  if (isKnown(etag, request.headers.get('if-none-match'))) {
    return respondTo(request, null, { status: 304, headers })
  }
  const range = rangeIn(request.headers, content)
  if (range === null)
    return answerWithBytes(request, { path, first: 0, last: size - 1 }, { headers })
  if (range === 'outside') {
    const error = new RelayError('range_not_satisfiable', `The file has ${size} bytes.`)
    return errorResponse(error, contextOf(request).requestId, {
      'content-range': `bytes */${size}`,
    })
  }
  const { first, last } = range
  const partial = { ...headers, 'content-range': `bytes ${first}-${last}/${size}` }
  return answerWithBytes(request, { path, first, last }, { status: 206, headers: partial })
}

/** Types that are harmless even if a browser ignores the headers and shows them. */
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

/** The requested range; null for the whole file, also if several ranges are requested (RFC 9110 allows that). */
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
