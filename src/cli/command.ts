import type { LoadedConfig } from '../config.ts'
import { timestamp, type Timestamp } from '../domain/ids.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/time.ts'
import { systemClock } from '../system/clock.ts'
import { parseIsoTime } from '../system/iso-time.ts'
import type { Surroundings } from '../system/own-process.ts'
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

/** Kinds of ids that shell completion offers. */
export type IdKind =
  | 'approvals'
  | 'boxes'
  | 'bridges'
  | 'conversations'
  | 'deliveries'
  | 'keys'
  | 'lines'
  | 'members'
  | 'messages'
  | 'uncertain'
  | 'webhooks'

export type Argument = {
  readonly name: string
  readonly isOptional?: true
  /** Takes all words that follow, too. */
  readonly isRest?: true
  /** All allowed values, where they are a fixed set. */
  readonly choices?: readonly string[]
  readonly ids?: IdKind
}

export type CommandOption = {
  /** Without its dashes. */
  readonly name: string
  /** One-letter form, used after a single dash. */
  readonly short?: string | undefined
  /** Placeholder of its value; null for a switch. */
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
  /** One-word form, where only options follow. */
  readonly short?: string
  readonly args?: readonly Argument[]
  readonly options?: readonly CommandOption[]
  readonly sentence: string
  /** True if it goes on although nobody reads what it prints. */
  readonly isService?: boolean
  /** Exit code; 0 where it is left out. */
  run(call: Call): Promise<ExitCode | undefined>
}

export type CommandGroup = { readonly heading: string; readonly commands: readonly Command[] }

export type Call = {
  readonly args: readonly string[]
  readonly options: ReadonlyMap<string, string>
  readonly out: Output
  readonly surroundings: Surroundings
  readonly groups: readonly CommandGroup[]
  /** Options of this process, read once unless `isAgain`; throws a ConfigError where they are invalid. */
  loadConfig(isAgain?: boolean): LoadedConfig
}

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

/** No relay is running where one is needed; exit code 3. */
export class NoRelayError extends Error {
  override readonly name = 'NoRelayError'

  constructor(dataDir?: string) {
    const where = dataDir === undefined ? '' : ` (data directory ${dataDir})`
    super(`No relay is running${where}. Start one: hookline serve`)
  }
}

/** Between the values of a repeatable option; no argument of a process can have it. */
export const BETWEEN_VALUES = '\0'

export function valuesOf(call: Pick<Call, 'options'>, name: string): readonly string[] {
  return call.options.get(name)?.split(BETWEEN_VALUES) ?? []
}

/** Whole number from 1 to `max` in an option; `fallback` where it is left out. */
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

/** Value of an option that must be one of a few words; undefined where it is left out. */
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

/** Sentence of an option that `timeOption` reads. */
export const TIME_FORMS = '2026-11-21T10:00:00Z, or 30m, 12h, 7d ago'

/**
 * A time in ISO 8601, or an age such as 30m, 12h or 7d, which is ahead of now where `isAhead`; undefined
 * where it is left out.
 */
export function timeOption(
  call: Pick<Call, 'options'>,
  name: string,
  isAhead = false,
): Timestamp | undefined {
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

/** Argument at `index`. The parser has checked the required ones. */
export function argument(call: Call, index: number): string {
  return call.args[index] ?? ''
}

/** The first argument, as the id in the path of an operation. */
export function idIn(call: Call): { readonly id: string } {
  return { id: argument(call, 0) }
}
