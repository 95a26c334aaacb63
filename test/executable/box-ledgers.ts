// The ledgers of a head and its boxes: each box has a journal and a network of its own. They are read after the
// processes have ended.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { Received } from '../support/receiver.ts'
import { carriedIn, disagreements, readLedgers, unexplained, type Told } from './ledgers.ts'
import { fileCounts, fileFaults } from './torture/files.ts'

/** Data directories. */
export type Places = { readonly head: string; readonly boxes: readonly string[] }

/** What clients sent, and the answers they got. */
type Sent = {
  readonly told: readonly Told[]
  readonly repeats: number
  readonly contradictions: readonly string[]
  readonly stepsBack: readonly string[]
}

export type BoxFigures = {
  readonly told: number
  readonly repeats: number
  readonly carried: number
  /** Of them by boxes. */
  readonly remote: number
  readonly inbound: number
  readonly posts: number
  readonly files: number
  readonly parts: number
  /** Every list is empty when all is well. */
  readonly faults: Readonly<Record<string, readonly unknown[]>>
}

/** `posts` are what each receiver got. */
export function compareBoxes(
  places: Places,
  { told, repeats, contradictions, stepsBack }: Sent,
  posts: readonly (readonly Received[])[],
): BoxFigures {
  const { head, boxes } = places
  const all = [head, ...boxes]
  const ledgers = readLedgers(head, all)
  // Files that nothing needs are swept much later.
  const { orphans: _, ...files } = fileFaults(head, posts.flat(), all)
  return {
    told: told.length,
    repeats,
    carried: ledgers.carried.size,
    remote: new Set(boxes.flatMap(carriedIn)).size,
    inbound: all.flatMap(inboundOf).length,
    posts: posts.flat().length,
    ...fileCounts(head, all),
    faults: {
      contradictions,
      stepsBack,
      ...inboundFaults(places),
      withoutJournalRow: boxes.flatMap(withoutRow),
      damagedJournals: boxes.flatMap(journalDamage),
      ...disagreements(ledgers, told, posts),
      ...unexplained(ledgers),
      ...files,
    },
  }
}

/** Messages to lines that the head does not have, has twice, or has without a network. */
export function inboundFaults({ head, boxes }: Places) {
  using relay = new Database(join(head, 'hookline.db'), { readonly: true })
  const sql = "SELECT platform_guid AS guid FROM messages WHERE direction = 'inbound'"
  const rows = relay.query<{ guid: string }, []>(sql).all()
  const stored = Map.groupBy(rows, ({ guid }) => guid)
  const sent = new Set([head, ...boxes].flatMap(inboundOf))
  return {
    inboundMissing: [...sent].filter((guid) => !stored.has(guid)),
    inboundTwice: [...stored].filter(([, all]) => all.length > 1).map(([guid]) => guid),
    inboundUnknown: [...stored.keys()].filter((guid) => !sent.has(guid)),
  }
}

function inboundOf(place: string): readonly string[] {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  const sql = "SELECT guid FROM events WHERE kind = 'message'"
  const rows = network.query<{ guid: string }, []>(sql).all()
  return rows.map(({ guid }) => guid)
}

/** Events that are still to come. */
export function pendingEvents(place: string): number {
  using network = new Database(join(place, 'simulated.db'), { readonly: true })
  const sql = 'SELECT count(*) AS count FROM pending'
  return network.query<{ count: number }, []>(sql).get()?.count ?? 0
}

/** Messages that the network of a box carried, and its journal does not know. */
function withoutRow(box: string): readonly string[] {
  using journal = new Database(join(box, 'box.db'), { readonly: true })
  const rows = journal.query<{ id: string }, []>('SELECT message_id AS id FROM sends').all()
  const known = new Set(rows.map(({ id }) => id))
  return carriedIn(box).filter((id) => !known.has(id))
}

function journalDamage(box: string): readonly string[] {
  using journal = new Database(join(box, 'box.db'), { readonly: true })
  const rows = journal.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
}
