// History of an edited or unsent message: `message_summary_info`, a binary property list. `ec` has the texts
// of each part, from the first to the present one, each with its date; `otr` the parts that the message
// had, and `rp` those that were unsent (imessage-exporter's fixtures of real rows).

import { timestamp } from '../../../domain/ids.ts'
import type { Edit } from '../../../domain/message-extras.ts'
import {
  bytesOf,
  dictionaryOf,
  numberOf,
  readBinaryPropertyList,
  type PropertyDictionary,
  type PropertyValue,
} from '../../../system/binary-plist.ts'
import { fromAppleTime } from './apple-time.ts'
import { decodeAttributedBody, withoutMarks } from './attributed-body.ts'

/** Apple lets a message be edited five times. */
const EDITS_MAX = 50

/** Earlier texts, oldest first; of a message of several parts, those of the parts that were edited. */
export function editsOf(summary: Uint8Array): readonly Edit[] {
  const parts = dictionaryOf(readSummary(summary)?.['ec'])
  const edits = Object.values(parts ?? {}).flatMap((versions) =>
    listOf(versions).slice(0, -1).flatMap(editOf),
  )
  return edits.toSorted((a, b) => a.at - b.at).slice(0, EDITS_MAX)
}

/** True where every part that the message had was unsent. */
export function isWhollyRetracted(summary: Uint8Array): boolean {
  const list = readSummary(summary)
  const parts = Object.keys(dictionaryOf(list?.['otr']) ?? {})
  const retracted = new Set(listOf(list?.['rp']).map(String))
  return parts.length > 0 && parts.every((part) => retracted.has(part))
}

function editOf(version: PropertyValue): readonly Edit[] {
  const fields = dictionaryOf(version)
  const body = bytesOf(fields?.['t'])
  const at = fromAppleTime(numberOf(fields?.['d']))
  if (body === null || at === null) return []
  const decoded = decodeAttributedBody(body)
  return decoded.ok ? [{ text: withoutMarks(decoded.text), at: timestamp(at) }] : []
}

function listOf(value: PropertyValue | undefined): readonly PropertyValue[] {
  return Array.isArray(value) ? value : []
}

/** Null for a list that cannot be read: the message is then edited, and nobody knows from which text. */
function readSummary(summary: Uint8Array): PropertyDictionary | null {
  try {
    return dictionaryOf(readBinaryPropertyList(summary))
  } catch {
    return null
  }
}
