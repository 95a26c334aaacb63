import type { LoadedConfig } from '../config.ts'
import { timestamp } from '../domain/ids.ts'
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
  readonly options: ReadonlyMap<string, string>
  readonly out: Output
  readonly surroundings: Surroundings
  readonly groups: readonly CommandGroup[]
  /** The options of this process, read once unless `isAgain`. Throws a ConfigError if they are invalid. */
  loadConfig(isAgain?: boolean): LoadedConfig
}

/** A filter by site, beside that by line. */
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
export const BETWEEN_VALUES = '\0'

export function valuesOf(call: Pick<Call, 'options'>, name: string): readonly string[] {
  return call.options.get(name)?.split(BETWEEN_VALUES) ?? []
}

/** A whole number from 1 to `max`; `fallback` if the option is left out. */
export function numberOption(
  call: Pick<Call, 'options'>,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const text = call.options.get(name) ?? String(fallback)
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= max) return value
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`)
}

export function switchOption(call: Pick<Call, 'options'>, name: string): boolean {
  const text = call.options.get(name)
  if (text === 'true' || text === 'false') return text === 'true'
  throw new UsageError(`--${name} must be true or false.`)
}

/** Throws a UsageError for any other word; undefined if the option is left out. */
export function choiceOption<T extends string>(
  call: Pick<Call, 'options'>,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = call.options.get(name)
  const choice = choices.find((one) => one === text)
  if (text === undefined || choice !== undefined) return choice
  throw new UsageError(`--${name} must be one of: ${choices.join(', ')}.`)
}

const UNITS_MS = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const

/** The forms that `timeOption` reads, for the sentence of an option. */
export const TIME_FORMS = '2026-11-21T10:00:00Z, or 30m, 12h, 7d ago'

/** Reads ISO 8601, or 30m, 12h or 7d before now, or after now if `isAhead`. */
export function timeOption(call: Pick<Call, 'options'>, name: string, isAhead = false) {
  const text = call.options.get(name)
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

const TIME_OF_DAY = '((?:[01][0-9]|2[0-3]):[0-5][0-9])'
const HOURS = new RegExp(`^${TIME_OF_DAY} *- *${TIME_OF_DAY}$`)

/** Reads the option `--quiet-hours`; `or` names what else it may be. */
export function quietHoursIn(text: string, or = ''): QuietHours {
  const [, from, to] = HOURS.exec(text.trim()) ?? []
  if (from !== undefined && to !== undefined) return { from, to }
  throw new UsageError(`--quiet-hours must be two times of day, such as 21:00-08:00${or}.`)
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
  if (Object.keys(changes).length > 0) return
  const names = options.map(({ name }) => `--${name}`).join(', ')
  throw new UsageError(`Nothing to change. Options: ${names}.`)
}

/** The first argument, as the id in the path of an operation. */
export function idIn(call: Call): { readonly id: string } {
  return { id: argument(call, 0) }
}
