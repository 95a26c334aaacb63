import type { Setting } from '../api/owner.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { Timestamp } from '../domain/ids.ts'
import {
  SETTINGS,
  SETTING_NAMES,
  defaultSetting,
  isSettingName,
  parseSetting,
  printSetting,
  type LockedSettings,
  type SettingName,
  type SettingValues,
} from '../domain/setting.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { auditedUrl, recordedIfRoom, type Audit } from './audit.ts'
import type { Db, Tx } from './database.ts'
import { settings } from './schema.ts'
import type { Writer } from './writer.ts'

/** The settings of a running relay, read from memory. A change takes effect once it is durable. */
export type Settings = {
  get<N extends SettingName>(name: N): SettingValues[N]
  list(): readonly Setting[]
  /** Throws if the setting doesn't exist, the value is invalid, or the environment locks it. */
  set(name: string, text: string, origin: Origin): Promise<Setting>
  /** At the start, stores the first value of `opt_out`, which depends on the data. */
  keepFirst(): Promise<void>
  /** Calls `act` in the transaction that changes the setting. */
  onSet(name: SettingName, act: (tx: Tx) => void): void
}

export function createSettings(tools: {
  readonly db: Db
  readonly writer: Writer
  readonly ids: LogicalClock
  readonly audit: Pick<Audit, 'record'>
  readonly locked: LockedSettings
}): Settings {
  const { db, writer, ids, audit, locked } = tools
  const stored = new Map(readStored(db))
  const isFirst = !stored.has('opt_out')
  if (isFirst) stored.set('opt_out', firstOptOut(db))
  const acts: { readonly name: SettingName; readonly act: (tx: Tx) => void }[] = []
  return {
    keepFirst: async () => {
      if (isFirst) await recordedIfRoom(writer.write((tx) => insertFirst(tx, ids.now())))
    },
    onSet: (name, act) => void acts.push({ name, act }),
    get: (name) => valueOf(name, stored, locked),
    list: () => SETTING_NAMES.map((name) => stateOf(name, stored, locked)),
    async set(name, text, origin) {
      const { known, value } = requireChangeable(name, text, locked)
      await writer.write((tx) => {
        const before = stateOf(known, new Map(readStored(tx)), locked).value
        const row = { name, value, updatedAt: ids.now() }
        tx.orm
          .insert(settings)
          .values(row)
          .onConflictDoUpdate({ target: settings.name, set: row })
          .run()
        tx.changes?.push({ what: 'setting', id: name })
        audit.record(tx, origin, {
          action: 'setting.changed',
          about: { kind: 'setting', id: name },
          before: { value: auditedValue(known, before) },
          after: { value: auditedValue(known, value) },
        })
        for (const { act } of acts.filter((one) => one.name === known)) act(tx)
        writer.afterCommit(() => stored.set(known, value))
      })
      return stateOf(known, stored, locked)
    },
  }
}

/** The first value of `opt_out`: a relay that was in use before opt-outs existed only records them. */
function firstOptOut(db: Db): SettingValues['opt_out'] {
  const newest = db.row<{ seq: number | null }>('SELECT max(seq) AS seq FROM messages')
  return newest?.seq ? 'record' : 'enforce'
}

function insertFirst(tx: Tx, updatedAt: Timestamp): void {
  const row = { name: 'opt_out', value: firstOptOut(tx), updatedAt }
  tx.orm.insert(settings).values(row).onConflictDoNothing().run()
}

function requireChangeable(
  name: string,
  text: string,
  locked: LockedSettings,
): { readonly known: SettingName; readonly value: string } {
  if (!isSettingName(name)) {
    const names = SETTING_NAMES.join(', ')
    throw new RelayError('not_found', `There is no setting ${name}. There are: ${names}.`)
  }
  if (Object.hasOwn(locked, name)) {
    throw invalidRequest({ path: name, message: 'is set by the environment: change it there' })
  }
  const value = parseSetting(name, text)
  if (value !== undefined) return { known: name, value: printSetting(name, value) }
  throw invalidRequest({ path: 'value', message: `must be ${SETTINGS[name].kind.wanted}` })
}

function auditedValue(name: SettingName, value: string): string {
  return SETTINGS[name].isSecret ? auditedUrl(value) : value
}

function readStored(db: Db): ReadonlyMap<SettingName, string> {
  const stored = new Map<SettingName, string>()
  for (const { name, value } of db.orm.select().from(settings).all())
    if (isSettingName(name)) stored.set(name, value)
  return stored
}

/** The value in effect. A stored value of another version that this version doesn't accept is ignored. */
function valueOf<N extends SettingName>(
  name: N,
  stored: ReadonlyMap<SettingName, string>,
  locked: LockedSettings,
): SettingValues[N] {
  const held: SettingValues[N] | undefined = locked[name]
  if (held !== undefined) return held
  const text = stored.get(name)
  const value = text === undefined ? undefined : parseSetting(name, text)
  return value === undefined ? defaultSetting(name) : value
}

function stateOf(
  name: SettingName,
  stored: ReadonlyMap<SettingName, string>,
  locked: LockedSettings,
): Setting {
  const value = printSetting(name, valueOf(name, stored, locked))
  if (Object.hasOwn(locked, name)) return { name, value, from: 'environment', is_locked: true }
  return { name, value, from: stored.has(name) ? 'database' : 'default', is_locked: false }
}
