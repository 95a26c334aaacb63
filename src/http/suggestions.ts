// The likely meaning of a name, a value or a path that the API doesn't have.

import { nearest } from '../domain/nearest.ts'

/** Names that other APIs use for our fields. */
const NAMES_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  to: ['phone', 'phone_number', 'number', 'recipient', 'handle', 'address'],
  handle: ['phone', 'phone_number', 'number', 'recipient', 'contact', 'to', 'from'],
  text: ['message', 'body', 'content', 'msg'],
  phone_line_id: ['line', 'line_id', 'from', 'sender'],
  phone_line_ids: ['lines', 'line_ids', 'phone_lines'],
  attachments: ['media', 'media_url', 'files', 'attachment'],
  send_at: ['scheduled_at', 'schedule_at', 'scheduled_for', 'schedule'],
  service: ['channel', 'protocol'],
  url: ['endpoint', 'target', 'callback_url', 'webhook_url'],
  events: ['event', 'enabled_events', 'types', 'topics'],
  types: ['events', 'event', 'type'],
  is_active: ['active', 'enabled', 'status'],
  name: ['label', 'title'],
  label: ['name', 'title'],
  scopes: ['permissions', 'scope'],
  expires_at: ['expires', 'expiry', 'expiration'],
  type: ['kind'],
  limit: ['per_page', 'page_size', 'count', 'size', 'max'],
  cursor: ['page', 'offset', 'next_cursor', 'starting_after', 'page_token'],
  created_after: ['since', 'from', 'start', 'after'],
  created_before: ['until', 'end', 'before'],
  q: ['query', 'search', 'term'],
}

/** Words that other APIs use for our values. */
const WORDS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  queued: ['pending', 'accepted', 'scheduled', 'waiting'],
  sending: ['processing'],
  failed: ['error', 'undelivered'],
  read: ['seen', 'opened'],
  received: ['inbound'],
  inbound: ['in', 'incoming', 'received'],
  outbound: ['out', 'outgoing', 'sent'],
  succeeded: ['success', 'delivered', 'ok'],
  iMessage: ['blue', 'apple'],
  SMS: ['text', 'green'],
  'message.received': ['message.inbound', 'message.created', 'message'],
  'messages:send': ['messages:write'],
}

/** Most typing mistakes in a path: a third of its letters, as in names, would match anything. */
const PATH_MISTAKES_MAX = 2

/** The field that is meant by `written`; `known` are the names that the request doesn't use yet. */
export function fieldMeant(written: string, known: readonly string[]): string | undefined {
  const plain = written
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, '_$&')
    .replaceAll('-', '_')
    .toLowerCase()
  return meant(plain, known, NAMES_ELSEWHERE)
}

export function wordMeant(written: string, known: readonly string[]): string | undefined {
  const same = known.find((word) => word.toLowerCase() === written.toLowerCase())
  return same ?? meant(written.toLowerCase(), known, WORDS_ELSEWHERE)
}

function meant(
  written: string,
  known: readonly string[],
  elsewhere: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const other = known.find((name) => elsewhere[name]?.includes(written) === true)
  return other ?? nearest(written, known) ?? undefined
}

/**
 * The path of the API that is meant by one that no route has, with a typing mistake or another beginning.
 * `routes` are the API's paths, such as `/api/v1/messages/:id`.
 */
export function pathMeant(written: string, routes: readonly string[]): string | undefined {
  const plain = written.replaceAll(/\/+/g, '/').replace(BEGINNING, '')
  const path = `${API}${plain}`
  const parts = path.split('/')
  const filled = routes.flatMap((route) => {
    const words = route.split('/')
    if (words.length !== parts.length) return []
    return words.map((word, index) => (word.startsWith(':') ? parts[index] : word)).join('/')
  })
  const lower = path.toLowerCase()
  const exact = filled.find((each) => each === path || each === lower)
  return exact ?? nearest(path, filled, PATH_MISTAKES_MAX) ?? undefined
}

const API = '/api/v1'
/** The beginning that a caller may write in place of ours. */
const BEGINNING = /^(?:\/api)?(?:\/v\d+)?(?=\/)/
