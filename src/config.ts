// The options of a start: one table, read from flags, the environment, `hookline.env` and defaults, in
// this order, and frozen. Settings that can be changed while the relay runs are in domain/setting.

import { join, resolve } from 'node:path'

import { DEFAULT_RETRY_SCHEDULE_MS } from './domain/retry.ts'
import {
  SETTINGS,
  SETTING_NAMES,
  environmentOfSetting,
  type LockedSettings,
  type SettingName,
} from './domain/setting.ts'
import {
  ADDRESS_RANGE_KIND,
  BASE_URL_KIND,
  PASSWORD_KIND,
  MUX_ADDRESS_KIND,
  PHONE_NUMBER_KIND,
  choiceKind,
  durationKind,
  integerKind,
  listKind,
  optionalKind,
  textKind,
  type ValueKind,
} from './domain/value-kind.ts'
import { OptionSources, parseOptionFile, type Written } from './system/option-sources.ts'

type Option<T> = {
  /** As it stands in the flag `--send-wait` and in the variable `HOOKLINE_SEND_WAIT`. */
  readonly name: string
  readonly kind: ValueKind<T>
  /** Null where there is none, or where it depends on the system. */
  readonly default: T | null
  readonly sentence: string
  /** Whether nobody may read the value: then no flag takes it, for every user sees those of a process. */
  readonly isSecret: boolean
  /** The environment variable, where other programs have given it a name. */
  readonly variable: string | null
}

const PATH_KIND = textKind('PATH', 'a path')
const DAY_MS = 86_400_000

/** Every option. */
export const OPTIONS = {
  dataDir: option('data-dir', PATH_KIND, {
    default: null,
    sentence: 'The folder in which everything is kept.',
  }),
  host: option('host', textKind('HOST', 'an address or a name'), {
    default: '127.0.0.1',
    sentence: 'The address to listen on.',
  }),
  port: option('port', integerKind('PORT', 0, 65_535), {
    default: 4665,
    sentence: 'The port to listen on; 0 takes a free one.',
  }),
  publicUrl: option('public-url', optionalKind(BASE_URL_KIND, 'none'), {
    default: null,
    sentence: 'The address under which others reach the relay, where a proxy stands before it.',
  }),
  trustedProxies: option('trusted-proxies', listKind(ADDRESS_RANGE_KIND), {
    default: [],
    sentence: 'The proxies whose X-Forwarded-For counts.',
  }),
  adminPassword: option('admin-password', optionalKind(PASSWORD_KIND, 'none'), {
    default: null,
    sentence: "The dashboard's password, where no setup link is to set it.",
    isSecret: true,
  }),
  backupFolder: option('backup-folder', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A second folder for the daily back-ups, best on another disk.',
  }),
  mac: option('mac', choiceKind('auto', 'on', 'off'), {
    default: 'auto',
    sentence: 'Whether Messages on this computer is a line; auto means on a Mac.',
  }),
  macPhoneNumber: option('mac-phone-number', optionalKind(PHONE_NUMBER_KIND, 'auto'), {
    default: null,
    sentence: 'The number that the Mac line sends as; auto reads it from the history of Messages.',
  }),
  macChatDb: option('mac-chat-db', optionalKind(PATH_KIND, 'auto'), {
    default: null,
    sentence: 'The database of Messages; auto is the one in the home folder.',
  }),
  macOsascript: option('mac-osascript', PATH_KIND, {
    default: '/usr/bin/osascript',
    sentence: 'The program that runs the script for Messages.',
  }),
  macOpen: option('mac-open', PATH_KIND, {
    default: '/usr/bin/open',
    sentence: 'The program that starts Messages.',
  }),
  macPgrep: option('mac-pgrep', PATH_KIND, {
    default: '/usr/bin/pgrep',
    sentence: 'The program that says whether Messages runs.',
  }),
  macCaffeinate: option('mac-caffeinate', PATH_KIND, {
    default: '/usr/bin/caffeinate',
    sentence: 'The program that keeps the Mac awake.',
  }),
  iphone: option('iphone', choiceKind('auto', 'on', 'off'), {
    default: 'auto',
    sentence: 'Whether iPhones on a cable are watched; auto means where there is a Mac line.',
  }),
  usbmuxdAddress: option('usbmuxd-address', optionalKind(MUX_ADDRESS_KIND, 'auto'), {
    default: null,
    variable: 'USBMUXD_SOCKET_ADDRESS',
    sentence: 'Where usbmuxd listens; auto is the usual place.',
  }),
  simulatedLines: option('simulated-lines', integerKind('N', 0, 99), {
    default: 0,
    sentence: 'How many simulated lines there are.',
  }),
  simulatedDelayMs: option('simulated-delay-ms', integerKind('MS', 0, 3_600_000), {
    default: 400,
    sentence: 'Milliseconds until a simulated person gets a message, and again until it is read.',
  }),
  webhookRetryScheduleMs: option('webhook-retry-schedule', listKind(durationKind(1, 30 * DAY_MS)), {
    default: DEFAULT_RETRY_SCHEDULE_MS,
    sentence: 'The delays between the attempts of a delivery.',
  }),
  sendWaitMs: option('send-wait', durationKind(0, 60_000), {
    default: 15_000,
    sentence: 'How long the answer to a send waits while a line works on it.',
  }),
} as const

export type OptionName = keyof typeof OPTIONS
type OptionValues = {
  readonly [Name in OptionName]: (typeof OPTIONS)[Name] extends Option<infer T> ? T : never
}

/** The options of this start; times are in milliseconds. */
export type Config = OptionValues & { readonly lockedSettings: LockedSettings }

/** One option or locked setting as `hookline config` tells it. */
export type ConfigRow = {
  readonly name: string
  readonly value: string
  /** `--port`, `HOOKLINE_PORT`, `hookline.env` or `default`. */
  readonly from: string
}

export type LoadedConfig = { readonly config: Config; readonly rows: readonly ConfigRow[] }

/** Everything that is wrong with the options, at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export type Given = {
  /** Values of flags, by the options' keys. */
  readonly flags: Readonly<Partial<Record<OptionName, string>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly defaultDataDir: string
  /** The folder that relative paths start from. */
  readonly folder: string
  /** The text of a file, or null where there is none. */
  readonly readText: (path: string) => string | null
}

// The keys of the table are its names.
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[]

const DATA_DIR = 'HOOKLINE_DATA_DIR'

/** `--simulated-lines` for `simulatedLines`. */
export function flagOf(name: OptionName): string {
  return `--${OPTIONS[name].name}`
}

/** `HOOKLINE_SIMULATED_LINES` for `simulatedLines`. */
export function environmentOf(name: OptionName): string {
  const option = OPTIONS[name]
  return option.variable ?? `HOOKLINE_${option.name.replaceAll('-', '_').toUpperCase()}`
}

/** What `hookline.env` may set: all but where it lies itself. */
const FILE_VARIABLES: ReadonlySet<string> = new Set(
  [...OPTION_NAMES.map(environmentOf), ...SETTING_NAMES.map(environmentOfSetting)].filter(
    (variable) => variable !== DATA_DIR,
  ),
)

/** Reads every option, or throws a ConfigError with all that is wrong. */
export function loadConfig(given: Given): LoadedConfig {
  const early = new OptionSources({ ...given, file: {} }, []).find(
    DATA_DIR,
    given.flags.dataDir,
    '--data-dir',
  )
  const dataDir = resolve(given.folder, early?.text ?? given.defaultDataDir)
  const problems: string[] = []
  const text = given.readText(join(dataDir, 'hookline.env')) ?? ''
  const file = parseOptionFile(text, FILE_VARIABLES, problems)
  const sources = new OptionSources({ ...given, file }, problems)

  const options = OPTION_NAMES.map((name) => readOption(name, given, sources))
  const settings = SETTING_NAMES.map((name) => readSetting(name, sources)).filter(isThere)
  for (const { problem } of [...options, ...settings]) if (problem !== null) problems.push(problem)
  if (problems.length > 0) throw new ConfigError(problems)

  const config = {
    ...Object.fromEntries(options.map(({ key, value }) => [key, value])),
    dataDir,
    lockedSettings: Object.freeze(
      Object.fromEntries(settings.map(({ key, value }) => [key, value])),
    ),
  } as Config // Every value was parsed by the kind of its own row.
  return { config: Object.freeze(config), rows: [...options, ...settings].map(({ row }) => row) }
}

type Reading = {
  readonly key: string
  readonly value: unknown
  readonly row: ConfigRow
  readonly problem: string | null
}

function readOption(name: OptionName, given: Given, sources: OptionSources): Reading {
  const option = OPTIONS[name]
  const found = sources.find(environmentOf(name), given.flags[name], flagOf(name))
  const fallback = name === 'dataDir' ? given.defaultDataDir : option.default
  const kind = option.kind as ValueKind<unknown> // Prints only values of its own row.
  const { value, problem } = parse(kind, found, fallback, option.isSecret)
  const isPath = kind.placeholder === PATH_KIND.placeholder
  const settled = isPath && typeof value === 'string' ? resolve(given.folder, value) : value
  const printed = option.isSecret && settled !== null ? '(hidden)' : kind.print(settled)
  const row = { name: option.name, value: printed, from: found?.from ?? 'default' }
  return { key: name, value: settled, row, problem }
}

function readSetting(name: SettingName, sources: OptionSources): Reading | null {
  const found = sources.find(environmentOfSetting(name))
  if (found === null) return null
  const kind = SETTINGS[name].kind as ValueKind<unknown> // Prints only values of its own row.
  const { value, problem } = parse(kind, found, SETTINGS[name].default)
  return { key: name, value, row: { name, value: kind.print(value), from: found.from }, problem }
}

function parse(
  kind: ValueKind<unknown>,
  found: Written | null,
  fallback: unknown,
  isSecret = false,
): { readonly value: unknown; readonly problem: string | null } {
  const value = found === null ? fallback : kind.parse(found.text)
  if (found === null || value !== undefined) return { value, problem: null }
  const given = isSecret ? 'does not fit' : `is ${JSON.stringify(found.text)}`
  const problem = `${found.from} ${given}; it must be ${kind.wanted}.`
  return { value: fallback, problem }
}

function isThere<T>(value: T | null): value is T {
  return value !== null
}

function option<T>(
  name: string,
  kind: ValueKind<T>,
  more: {
    readonly default: NoInfer<T> | null
    readonly sentence: string
    readonly isSecret?: true | undefined
    readonly variable?: string | undefined
  },
): Option<T> {
  return { name, kind, ...more, isSecret: more.isSecret ?? false, variable: more.variable ?? null }
}
