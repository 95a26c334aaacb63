import type { Handle } from './handle.ts'
import type { Timestamp } from './ids.ts'

/** An entry of the owner's address book. */
export type Person = {
  readonly handle: Handle
  readonly name: string
  readonly note: string | null
  readonly tags: readonly string[]
  /** True where messages of one line or of all are not wanted. */
  readonly isOptedOut: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

export const NAME_LENGTH_MAX = 200
export const NOTE_LENGTH_MAX = 2_000
export const TAG_LENGTH_MAX = 40
export const TAGS_MAX = 20

/** Tags as they are kept: trimmed, each once. A comma separates tags in a file, so none has one. */
export function cleanTags(tags: readonly string[]): readonly string[] {
  const clean = tags.map((tag) => tag.replaceAll(',', ' ').trim().slice(0, TAG_LENGTH_MAX))
  return [...new Set(clean.filter((tag) => tag !== '').map((tag) => tag.toWellFormed()))].slice(
    0,
    TAGS_MAX,
  )
}
