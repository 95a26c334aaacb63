// The options of a start, read from flags, the environment, `hookline.env` and defaults, in
// this order, and frozen. Settings that can be changed while the relay runs are in domain/setting.

import { join, resolve } from 'node:path'

import {
  environmentOf,
  flagOf,
  OPTION_NAMES,
  OPTIONS,
  PATH_KIND,
  type OptionName,
  type OptionValues,
} from './domain/option.ts'
import {
  SETTINGS,
  SETTING_NAMES,
  environmentOfSetting,
  type LockedSettings,
  type SettingName,
} from './domain/setting.ts'
import type { ValueKind } from './domain/value-kind.ts'
import { OptionSources, parseOptionFile, type Written } from './system/option-sources.ts'

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

const DATA_DIR = 'HOOKLINE_DATA_DIR'

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
