import type { LoadedConfig } from '../config.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import type { QuietHours } from '../domain/quiet-hours.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/time.ts'
import { systemClock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import type { Surroundings } from '../system/own-process.ts'
import type { IdKind } from './completion-ids.ts'
import type { Output } from './output.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  noRelay: 3,
  notAllowed: 4,
  checksFailed: 5,
  personNeeded: 78,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export type Argument = {
  readonly name: string
  readonly isOptional?: true
  /** Takes all the words that follow, too. */
  readonly isRest?: true
  /** All allowed values, if they are a fixed set. */
  readonly choices?: readonly string[]
  readonly ids?: IdKind
}

export type CommandOption = {
  /** Without its dashes. */
  readonly name: string
  /** The one-letter form, used after a single dash. */
  readonly short?: string | undefined
  /** The placeholder of its value; null for a switch. */
  readonly value: string | null
  readonly ids?: IdKind
  readonly isRequired?: true
  /** May be given several times; `valuesOf` has them all. */
  readonly isRepeatable?: true
  readonly sentence: string
}

export type Command = {
  /** One word or two: `serve`, `keys create`. */
  readonly name: string
  /** The one-word form, valid if only options follow. */
  readonly short?: string
  readonly args?: readonly Argument[]
  readonly options?: readonly CommandOption[]
  readonly sentence: string
  /** True if it goes on even when nobody reads what it prints. */
  readonly isService?: boolean
  /** Returns the exit code; undefined is 0. */
  run(call: Call): Promise<ExitCode | undefined>
}

export type CommandGroup = { readonly heading: string; readonly commands: readonly Command[] }

export type Call = {
  readonly args: readonly string[]
  readonly options: Options
  readonly out: Output
  readonly surroundings: Surroundings
  readonly groups: readonly CommandGroup[]
  /** The options of this process, read once unless `isAgain`. Throws a ConfigError if they are invalid. */
  loadConfig(isAgain?: boolean): LoadedConfig
}

/** A filter by site, in addition to the one by line. */
export const SITE_OPTION = {
  name: 'site',
  value: 'SITE',
  ids: 'sites',
  sentence: 'Only of the lines of this site.',
} as const

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  { name: 'data-dir', value: 'PATH', sentence: 'Folder for all data.' },
  { name: 'json', value: null, sentence: 'Print JSON.' },
  { name: 'quiet', value: null, sentence: 'Print only results and errors.' },
  { name: 'help', short: 'h', value: null, sentence: 'Show help for the command.' },
]

/** Invalid command line; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command needs a running relay; exit code 3. */
export class NoRelayError extends Error {
  override readonly name = 'NoRelayError'

  constructor(dataDir?: string) {
    const where = dataDir === undefined ? '' : ` (data directory ${dataDir})`
    super(`No relay is running${where}. Start one: hookline serve`)
  }
}

/** Separates the values of a repeatable option. No argument of a process can contain it. */
const BETWEEN_VALUES = '\0'

const UNITS_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const

/** The forms that `time` reads, for the sentence of an option. */
export const TIME_FORMS = '2026-11-21T10:00:00Z, or 30m, 12h, 7d ago'

const TIME_OF_DAY = '((?:[01][0-9]|2[0-3]):[0-5][0-9])'
const HOURS = new RegExp(`^${TIME_OF_DAY} *- *${TIME_OF_DAY}$`)

/**
 * The options of a call by their names. A reader of a value throws a UsageError if the value isn't of its kind, and
 * returns undefined if the option is left out.
 */
export class Options extends Map<string, string> {
  /** Adds a value of a repeatable option. */
  add(name: string, value: string): void {
    const before = this.get(name)
    this.set(name, before === undefined ? value : before + BETWEEN_VALUES + value)
  }

  /** The values of a repeatable option. */
  all(name: string): readonly string[] {
    return this.get(name)?.split(BETWEEN_VALUES) ?? []
  }

  /** The parts of a list such as `a, b`. */
  list(name: string): readonly string[] | undefined {
    const text = this.get(name)
    return text === undefined ? undefined : listIn(text)
  }

  /** The ids that a limit names; an empty value lifts it. */
  limit(name: string): readonly string[] | null | undefined {
    return this.get(name) === '' ? null : this.list(name)
  }

  /** A whole number from 1 to `max`; `fallback` if the option is left out. */
  number(name: string, { fallback, max }: { readonly fallback: number; readonly max: number }) {
    return this.count(name, max) ?? fallback
  }

  /** A whole number from 1 to `max`. */
  count(name: string, max: number): number | undefined {
    const text = this.get(name)
    if (text === undefined) return undefined
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
    if (value >= 1 && value <= max) return value
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`)
  }

  switch(name: string): boolean | undefined {
    const text = this.get(name)
    if (text === undefined) return undefined
    if (text === 'true' || text === 'false') return text === 'true'
    throw new UsageError(`--${name} must be true or false.`)
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.get(name)
    const choice = choices.find((one) => one === text)
    if (text === undefined || choice !== undefined) return choice
    throw new UsageError(`--${name} must be one of: ${choices.join(', ')}.`)
  }

  /** ISO 8601, or 30m, 12h or 7d before now, or after now if `isAhead`. */
  time(name: string, isAhead = false): Timestamp | undefined {
    const text = this.get(name)
    if (text === undefined) return undefined
    const [, count, unit] = /^([0-9]{1,5})([mhd])$/.exec(text) ?? []
    if (count !== undefined && (unit === 'm' || unit === 'h' || unit === 'd')) {
      const ms = Number(count) * UNITS_MS[unit]
      return timestamp(systemClock.now() + (isAhead ? ms : -ms))
    }
    const time = parseIsoTime(text)
    if (time !== null) return time
    throw new UsageError(
      `--${name} must be a time such as 2026-11-21T10:00:00Z, or ${isAhead ? 'a delay' : 'an age'} such as 30m, 12h or 7d.`,
    )
  }

  /** The times of `--quiet-hours`; `or` names what else it may be. */
  quietHours(or = ''): QuietHours | undefined {
    const text = this.get('quiet-hours')
    if (text === undefined) return undefined
    const [, from, to] = HOURS.exec(text.trim()) ?? []
    if (from !== undefined && to !== undefined) return { from, to }
    throw new UsageError(`--quiet-hours must be two times of day, such as 21:00-08:00${or}.`)
  }
}

/** The parts of a list such as `a, b`. */
export function listIn(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim())
}

/** The parser has checked the required arguments. */
export function argument(call: Call, index: number): string {
  return call.args[index] ?? ''
}

/** Throws a UsageError that lists `options` if there is no change. */
export function requireChange(changes: object, options: readonly CommandOption[]): void {
  if (Object.values(changes).some((change) => change !== undefined)) return
  const names = options.map(({ name }) => `--${name}`).join(', ')
  throw new UsageError(`Nothing to change. Options: ${names}.`)
}

/** The first argument, as the id in the path of an operation. */
export function idIn(call: Call): { readonly id: string } {
  return { id: argument(call, 0) }
}
