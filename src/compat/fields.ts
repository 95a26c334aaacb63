// Reads the fields of requests by other products' programs, which use several names for one field, and send lists as
// arrays or as text with commas. Unknown fields are ignored.

import { invalidRequest } from '../domain/errors.ts'
import type { Fields } from './compat-api.ts'

const RECIPIENTS_MAX = 50

/** The first of these fields that has a text, or undefined. */
export function textIn(fields: Fields, names: readonly string[]): string | undefined {
  return names.map((name) => fields[name]).find((value) => typeof value === 'string')
}

/** The recipients in these fields: a text, a number, a list of them, or a text with commas or semicolons. */
export function recipientsIn(fields: Fields, names: readonly string[]): readonly string[] {
  const found = names.flatMap((name) => fields[name] ?? []).flatMap(spelled)
  const recipients = [...new Set(found)]
  if (recipients.length === 0) {
    throw invalidRequest({ path: names[0] ?? '', message: 'must have a phone number' })
  }
  if (recipients.length <= RECIPIENTS_MAX) return recipients
  const message = `must have at most ${RECIPIENTS_MAX} recipients`
  throw invalidRequest({ path: names[0] ?? '', message })
}

function spelled(value: unknown): readonly string[] {
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'string') return []
  const parts = value.split(/[,;\n]/).map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

type Limits = { readonly least: number; readonly most: number; readonly usual: number }

/** The number in a field, clamped to the limits; `usual` if it is missing. */
export function countIn(fields: Fields, name: string, { least, most, usual }: Limits): number {
  const count = Number(fields[name] ?? usual)
  return Number.isFinite(count) ? Math.min(Math.max(Math.trunc(count), least), most) : usual
}
