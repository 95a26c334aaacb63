// The words of WebDriverAgent's protocol: what its answers mean, and how its requests are spelt.

import { AgentError, type AgentErrorCode, type ChatLink } from './agent.ts'
import { isRecord } from './ui-tree.ts'
import type { WdaAnswer, WdaRequest } from './wda-exchange.ts'

/** The errors of FBCommandStatus.m; any other is `other`. */
const CODES: Readonly<Record<string, AgentErrorCode>> = {
  'no such element': 'no_such_element',
  // Asked for the alert in front, and there is none.
  'no such alert': 'no_such_element',
  'stale element reference': 'stale',
  'invalid session id': 'invalid_session',
  timeout: 'timeout',
  'element not visible': 'not_visible',
  'unexpected alert open': 'alert',
}

/** The key of an element in an answer, by the W3C, and the older one. */
const ELEMENT_KEYS = ['element-6066-11e4-a52e-4f735466cecf', 'ELEMENT']

/** What costs time to find out and is of no use here. */
const LEFT_OUT = [
  'frame',
  'nativeFrame',
  'visible',
  'accessible',
  'nativeAccessibilityElement',
  'focused',
  'traits',
  'minValue',
  'maxValue',
]
export const TREE_PATH = `/source?format=json&excluded_attributes=${LEFT_OUT.join(',')}`

/** WebDriverAgent types 60 characters a second: a piece takes some 17 s. */
const PIECE_LENGTH = 1_000

/**
 * The value of an answer; rejects with what it says was wrong. The text of an error is left out: it
 * describes elements, and those quote messages.
 */
export function valueOf(request: WdaRequest, { status, body }: WdaAnswer): unknown {
  const answer = jsonOf(body)
  if (!isRecord(answer) || !('value' in answer)) {
    throw new AgentError('other', `${routeOf(request)} has no JSON answer (HTTP ${status}).`)
  }
  const { value } = answer
  const error = isRecord(value) && typeof value['error'] === 'string' ? value['error'] : null
  if (status === 200 && error === null) return value
  const code = CODES[error ?? ''] ?? 'other'
  throw new AgentError(code, `${routeOf(request)} failed: ${code} (HTTP ${status}).`)
}

export function elementOf(value: unknown): string {
  for (const key of ELEMENT_KEYS) {
    const id = isRecord(value) ? value[key] : null
    if (typeof id === 'string' && /^[\w.-]+$/.test(id)) return id
  }
  throw new AgentError('no_such_element', 'The answer names no element.')
}

/** The address that opens a chat; iOS takes a text for its composer as `&body=`. */
export function chatUrl({ handle, body }: ChatLink): string {
  const to = encodeURIComponent(handle).replaceAll('%2B', '+').replaceAll('%40', '@')
  return body === null ? `sms:${to}` : `sms:${to}&body=${encodeURIComponent(body)}`
}

/** A text in pieces that can be typed within the time of one command, no character torn apart. */
export function piecesOf(text: string): readonly string[] {
  const characters = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)]
  const pieces: string[] = []
  let piece = ''
  for (const { segment } of characters) {
    if (piece.length + segment.length > PIECE_LENGTH && piece !== '') {
      pieces.push(piece)
      piece = ''
    }
    piece += segment
  }
  return piece === '' ? pieces : [...pieces, piece]
}

/** The route without its ids and its query. */
function routeOf({ method, path }: WdaRequest): string {
  const route = path
    .replace(/\?.*$/, '')
    .replace(/\/session\/[^/]+/, '')
    .replace(/\/element\/[^/]+/, '/element')
  return `${method} ${route}`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
