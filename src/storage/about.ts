// Facts about the database itself, in rows of `about`.

import { eq, sql } from 'drizzle-orm'

import { RELAY_ITSELF } from '../domain/audit.ts'
import type { ClockMemory } from '../system/confirmed-clock.ts'
import { recordedIfRoom } from './audit.ts'
import type { Core } from './core.ts'
import type { Db, Tx } from './database.ts'
import { keptQuery } from './kept-query.ts'
import { about } from './schema.ts'

const CLOCK = 'clock'
const SERVED_BY = 'served_by'
const PEOPLE = 'people'

/** The clock's memory; null in a database that hasn't stored one yet. */
export function readClockMemory(db: Db): ClockMemory | null {
  const value = readAbout(db, CLOCK)
  return value === null ? null : (JSON.parse(value) as ClockMemory) // `saveClockMemory` wrote it.
}

export function saveClockMemory(tx: Tx, memory: ClockMemory): void {
  writeAbout(tx, CLOCK, JSON.stringify(memory))
}

/** The last conversation checked for merges, the version that did it, and the lines' numbers then. */
export type PeopleProgress = {
  readonly version: string
  readonly seq: number
  readonly numbers: Readonly<Record<string, string>>
}

export function readPeopleProgress(db: Db): PeopleProgress | null {
  const value = readAbout(db, PEOPLE)
  return value === null ? null : (JSON.parse(value) as PeopleProgress) // `savePeopleProgress` wrote it.
}

export function savePeopleProgress(tx: Tx, progress: PeopleProgress): void {
  writeAbout(tx, PEOPLE, JSON.stringify(progress))
}

/**
 * Records an upgrade at the first start of another version, however it was installed. A version that was
 * rolled back before it served leaves no trace.
 */
export function recordVersion({ writer, audit }: Pick<Core, 'writer' | 'audit'>, version: string) {
  const recording = writer.write((tx) => {
    const before = readAbout(tx, SERVED_BY)
    if (before === version) return
    writeAbout(tx, SERVED_BY, version)
    if (before === null) return
    audit.record(tx, RELAY_ITSELF, {
      action: 'relay.upgraded',
      about: { kind: 'relay', id: null },
      before: { version: before },
      after: { version },
    })
  })
  return recordedIfRoom(recording)
}

const byName = keptQuery((orm) =>
  orm
    .select()
    .from(about)
    .where(eq(about.name, sql.placeholder('name')))
    .prepare(),
)

export function readAbout(db: Db, name: string): string | null {
  return byName(db).get({ name })?.value ?? null
}

export function writeAbout({ orm }: Tx, name: string, value: string): void {
  const set = { value }
  orm.insert(about).values({ name, value }).onConflictDoUpdate({ target: about.name, set }).run()
}
