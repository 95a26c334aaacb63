// Whom a chat is with. On a phone without contacts Messages shows the number or the address itself.

import { deviceHandle, type Handle } from '../../../../domain/handle.ts'
import { comparable } from './plain-text.ts'
import type { UiWords } from './ui-words.ts'

export type ChatTitle =
  | { readonly kind: 'direct'; readonly handle: Handle }
  | { readonly kind: 'group' }
  /** A contact, a business or a named group: nobody can say which number that is. */
  | { readonly kind: 'named' }

const PHONE = /^\+?[\d\s().\-\u2010-\u2015]{3,32}$/
const EMAIL = /^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/
const DIGITS_MIN = 3
/** A number without its country has so many digits, and the country at most three more. */
const NATIONAL_DIGITS_MIN = 7
const COUNTRY_DIGITS_MAX = 3

export function readChatTitle(text: string, words: UiWords): ChatTitle {
  const title = comparable(text)
  const handle = handleIn(title)
  if (handle !== null) return { kind: 'direct', handle }
  const people = title.split(/, | & /)
  const isGroup = people.length > 1 && people.some((person) => handleIn(person) !== null)
  return { kind: isGroup || words.people.test(title) ? 'group' : 'named' }
}

/** Whether a title is that of the chat with `handle`; a number may lack its country. */
export function isTitleOf(title: ChatTitle, handle: Handle): boolean {
  if (title.kind !== 'direct') return false
  if (title.handle === handle) return true
  if (title.handle.includes('@') || handle.includes('@')) return false
  const shown = digitsOf(title.handle)
  const wanted = digitsOf(handle)
  if (shown === wanted) return true
  const missing = wanted.length - shown.length
  const isNational = !title.handle.startsWith('+') && shown.length >= NATIONAL_DIGITS_MIN
  return isNational && missing > 0 && missing <= COUNTRY_DIGITS_MAX && wanted.endsWith(shown)
}

function handleIn(text: string): Handle | null {
  if (EMAIL.test(text)) return deviceHandle(text)
  const digits = digitsOf(text)
  if (!PHONE.test(text) || digits.length < DIGITS_MIN) return null
  return deviceHandle(text.startsWith('+') ? `+${digits}` : digits)
}

function digitsOf(text: string): string {
  return text.replaceAll(/\D/g, '')
}
