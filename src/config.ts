// Start options, read from flags, the environment, `hookline.env` and defaults, in this order. Settings that can
// change at run time are in domain/setting.

import { join, resolve } from 'node:path'

import { BROKER_OPTIONS } from './boxes/options.ts'
import {
  type Option,
  type OptionTable,
  type OptionValues,
  environmentOf,
  flagOf,
  option,
} from './domain/option.ts'
import {
  type LockedSettings,
  SETTINGS,
  SETTING_NAMES,
  type SettingName,
  environmentOfSetting,
} from './domain/setting.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './domain/time.ts'
import {
  ADDRESS_RANGE_KIND,
  BASE_URL_KIND,
  PASSWORD_KIND,
  PATH_KIND,
  type ValueKind,
  durationKind,
  integerKind,
  listKind,
  optionalKind,
  textKind,
} from './domain/value-kind.ts'
import { type KindOptions, LINE_KINDS } from './lines/kinds.ts'
import type { LineKind } from './lines/line-kind.ts'

/** 12 delivery attempts over about 73 hours, five of them in the first 13 minutes. */
export const DEFAULT_RETRY_SCHEDULE_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  45 * MINUTE_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
]

const OPTIONS_BEFORE_KINDS = {
  dataDir: option('data-dir', PATH_KIND, {
    default: null,
    sentence: 'The folder for all data.',
  }),
  host: option('host', textKind('HOST', 'an address or a name'), {
    default: '127.0.0.1',
    sentence: 'The address to listen on.',
  }),
  port: option('port', integerKind('PORT', 0, 65_535), {
    default: 4665,
    sentence: 'The port to listen on; 0 takes a free one.',
  }),
  tlsCert: option('tls-cert', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A file with a certificate and its chain (PEM), to serve HTTPS. Needs --tls-key.',
  }),
  tlsKey: option('tls-key', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A file with the private key of --tls-cert (PEM).',
  }),
  publicUrl: option('public-url', optionalKind(BASE_URL_KIND, 'none'), {
    default: null,
    sentence: "The relay's public address, if a proxy stands in front of it.",
  }),
  trustedProxies: option('trusted-proxies', listKind(ADDRESS_RANGE_KIND), {
    default: [],
    sentence: 'Proxies whose X-Forwarded-For header is trusted.',
  }),
  adminPassword: option('admin-password', optionalKind(PASSWORD_KIND, 'none'), {
    default: null,
    sentence: "The dashboard's password, instead of setting one with a setup link.",
    isSecret: true,
  }),
  backupFolder: option('backup-folder', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A second folder for daily backups, ideally on another disk.',
  }),
} as const

const OPTIONS_AFTER_KINDS = {
  webhookRetryScheduleMs: option('webhook-retry-schedule', listKind(durationKind(1, 30 * DAY_MS)), {
    isHarmless: true,
    default: DEFAULT_RETRY_SCHEDULE_MS,
    sentence: 'Delays between delivery attempts.',
  }),
  sendWaitMs: option('send-wait', durationKind(0, 60_000), {
    isHarmless: true,
    default: 15_000,
    sentence: 'Longest wait for a line before a send is answered.',
  }),
  ...BROKER_OPTIONS,
} as const

/** All options of a start, those of the kinds of line in the middle, in the order of the help. */
export function optionsOf(kinds: readonly LineKind[] = LINE_KINDS): OptionTable {
  const ofKinds = kinds.map(({ options }) => options)
  return Object.assign({}, OPTIONS_BEFORE_KINDS, ...ofKinds, OPTIONS_AFTER_KINDS) as OptionTable // Merged rows.
}

/** The options of this start; durations are in milliseconds. */
export type Config = OptionValues<typeof OPTIONS_BEFORE_KINDS & typeof OPTIONS_AFTER_KINDS> &
  KindOptions & { readonly lockedSettings: LockedSettings }

/** One option or locked setting as `hookline config` prints it. */
export type ConfigRow = {
  readonly name: string
  readonly value: string
  /** `--port`, `HOOKLINE_PORT`, `hookline.env` or `default`. */
  readonly from: string
}

export type LoadedConfig = { readonly config: Config; readonly rows: readonly ConfigRow[] }

/** Has all problems of the options, not only the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export type Given = {
  /** Flag values by option key. */
  readonly flags: Variables
  readonly environment: Variables
  readonly defaultDataDir: string
  readonly folder: string
  /** Returns a file's text, or null if there is none. */
  readonly readText: (path: string) => string | null
}

const DATA_DIR = 'HOOKLINE_DATA_DIR'

/** Reads all options. Throws a ConfigError with all problems. */
export function loadConfig(given: Given, kinds?: readonly LineKind[]): LoadedConfig {
  const table = Object.entries(optionsOf(kinds))
  const early = new OptionSources({ ...given, file: {} }, []).find(
    DATA_DIR,
    given.flags['dataDir'],
    '--data-dir',
  )
  const dataDir = resolve(given.folder, early?.text ?? given.defaultDataDir)
  const problems: string[] = []
  const text = given.readText(join(dataDir, 'hookline.env')) ?? ''
  const file = parseOptionFile(text, fileVariables(table), problems)
  const sources = new OptionSources({ ...given, file }, problems)

  const options = table.map((row) => readOption(row, given, sources))
  const settings = SETTING_NAMES.map((name) => readSetting(name, sources)).filter(
    (setting) => setting !== null,
  )
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

type Row = readonly [key: string, option: Option<unknown>]

/** The variables that `hookline.env` may set: all but the one for its own folder. */
function fileVariables(table: readonly Row[]): ReadonlySet<string> {
  const ofOptions = table.map(([, row]) => environmentOf(row))
  const variables = new Set([...ofOptions, ...SETTING_NAMES.map(environmentOfSetting)])
  variables.delete(DATA_DIR)
  return variables
}

type Reading = {
  readonly key: string
  readonly value: unknown
  readonly row: ConfigRow
  readonly problem: string | null
}

function readOption([key, row]: Row, given: Given, sources: OptionSources): Reading {
  const { kind, isSecret, name } = row
  const found = sources.find(environmentOf(row), given.flags[key], flagOf(row))
  const fallback = key === 'dataDir' ? given.defaultDataDir : row.default
  const { value, problem } = parse(kind, found, fallback, isSecret)
  const isPath = kind.placeholder === PATH_KIND.placeholder
  const settled = isPath && typeof value === 'string' ? resolve(given.folder, value) : value
  const printed = isSecret && settled !== null ? '(hidden)' : kind.print(settled)
  const shown = { name, value: printed, from: found?.from ?? 'default' }
  return { key, value: settled, row: shown, problem }
}

function readSetting(name: SettingName, sources: OptionSources): Reading | null {
  const found = sources.find(environmentOfSetting(name))
  if (found === null) return null
  const kind = SETTINGS[name].kind as ValueKind<unknown> // Gets only values of this setting.
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

/** A value as written and its source: `--port`, `HOOKLINE_PORT`, `hookline.env: HOOKLINE_PORT`. */
export type Written = { readonly text: string; readonly from: string }

export type Variables = Readonly<Record<string, string | undefined>>

type Places = Pick<Given, 'environment' | 'folder' | 'readText'> & { readonly file: Variables }

/** Finds values, strongest source first, and collects syntax problems. */
class OptionSources {
  readonly #places: Places
  readonly #problems: string[]

  constructor(places: Places, problems: string[]) {
    this.#places = places
    this.#problems = problems
  }

  find(variable: string, flag?: string, flagName = ''): Written | null {
    if (flag !== undefined) return { text: flag, from: flagName }
    const { environment, file } = this.#places
    return this.#in(environment, variable, '') ?? this.#in(file, variable, 'hookline.env: ')
  }

  /** An empty variable counts as unset. */
  #in(values: Variables, variable: string, where: string): Written | null {
    const text = values[variable] ?? ''
    const path = values[`${variable}_FILE`] ?? ''
    if (text !== '' && path !== '') {
      this.#problems.push(`${where}${variable} and ${variable}_FILE are both set. Keep one.`)
    }
    if (text !== '') return { text, from: `${where}${variable}` }
    if (path === '') return null
    const content = this.#places.readText(resolve(this.#places.folder, path))
    if (content !== null) return { text: content.trim(), from: `${where}${variable}_FILE` }
    this.#problems.push(`${where}${variable}_FILE names ${path}, which cannot be read.`)
    return null
  }
}

/** Parses `NAME=VALUE` lines; `#` starts a comment line; values may be quoted. */
function parseOptionFile(text: string, known: ReadonlySet<string>, problems: string[]): Variables {
  const values: Record<string, string> = {}
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const match = /^(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/.exec(line)
    const name = match?.[1] ?? ''
    if (known.has(name) || known.has(name.replace(/_FILE$/, ''))) {
      values[name] = (match?.[2] ?? '').replace(/^(["'])(.*)\1$/, '$2')
    } else {
      problems.push(`hookline.env, line ${index + 1}: unknown option or invalid line.`)
    }
  }
  return values
}
