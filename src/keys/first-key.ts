import type { CreatedKey } from '../api/keys.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import { hasKeys } from '../storage/keys.ts'
import { writeNewKey, type KeyTools } from './keys.ts'

/** A key for a relay that has none yet, or null where one was ever made. */
export async function createFirstKey(tools: KeyTools): Promise<CreatedKey | null> {
  if (hasKeys(tools.db)) return null
  return tools.writer.write((tx) =>
    hasKeys(tx) ? null : writeNewKey(tx, tools, { name: 'First key', origin: COMMAND_LINE }),
  )
}
