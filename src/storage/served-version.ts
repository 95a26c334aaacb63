import { RELAY_ITSELF } from '../domain/audit.ts'
import { recordedIfRoom, type Audit } from './audit.ts'
import type { Db, Tx } from './database.ts'
import type { Writer } from './writer.ts'

type Tools = { readonly writer: Pick<Writer, 'write'>; readonly audit: Pick<Audit, 'record'> }

const SERVED_BY = 'served_by'

/**
 * Records an upgrade at the first start of another version, however that came here. A version that was
 * taken back before it served anybody leaves no trace.
 */
export function recordVersion({ writer, audit }: Tools, version: string): Promise<void> {
  return recordedIfRoom(writer.write((tx) => recordIfOther(tx, audit, version)))
}

function recordIfOther(tx: Tx, audit: Tools['audit'], version: string): void {
  const before = servedVersion(tx)
  if (before === version) return
  tx.sqlite
    .query('INSERT OR REPLACE INTO about (name, value) VALUES ($name, $version)')
    .run({ name: SERVED_BY, version })
  if (before === null) return
  audit.record(tx, RELAY_ITSELF, {
    action: 'relay.upgraded',
    about: { kind: 'relay', id: null },
    before: { version: before },
    after: { version },
  })
}

/** The version that served these data last; null for new ones. */
function servedVersion({ sqlite }: Db): string | null {
  const row = sqlite
    .query<{ value: string }, [{ readonly name: string }]>(
      'SELECT value FROM about WHERE name = $name',
    )
    .get({ name: SERVED_BY })
  return row?.value ?? null
}
