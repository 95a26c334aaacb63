import type { LoadedConfig } from '../config.ts'
import type { Surroundings } from '../system/own-process.ts'
import type { Output } from './output.ts'

/** 0 ok, 1 failed, 2 usage, 3 no relay runs, 4 not allowed, 5 checks failed, 78 a person is needed. */
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

/** The kinds of things whose ids the completions of a shell offer. */
export type IdKind = 'bridges' | 'deliveries' | 'keys' | 'lines' | 'messages' | 'webhooks'

export type Argument = {
  readonly name: string
  readonly isOptional?: true
  /** The words that it can be, where these are all. */
  readonly choices?: readonly string[]
  /** The things of which it is an id, where it is one. */
  readonly ids?: IdKind
}

export type CommandOption = {
  /** Without its dashes. */
  readonly name: string
  /** The one letter that it can be written with too, after one dash. */
  readonly short?: string | undefined
  /** What its value is called, or null where it takes none. */
  readonly value: string | null
  /** The things of which its value is an id, where it is one. */
  readonly ids?: IdKind
  /** Left out where the command works without it. */
  readonly isRequired?: true
  readonly sentence: string
}

export type Command = {
  /** One word or two: `serve`, `keys create`. */
  readonly name: string
  /** The one word that means it where nothing but options follows. */
  readonly short?: string
  readonly args: readonly Argument[]
  readonly options: readonly CommandOption[]
  readonly sentence: string
  run(call: Call): Promise<ExitCode>
}

export type CommandGroup = { readonly heading: string; readonly commands: readonly Command[] }

/** What a command is called with. */
export type Call = {
  readonly args: readonly string[]
  readonly options: ReadonlyMap<string, string>
  readonly out: Output
  readonly surroundings: Surroundings
  readonly groups: readonly CommandGroup[]
  /** Reads the options of this start; throws a ConfigError where they do not fit. */
  loadConfig(): LoadedConfig
}

export const GLOBAL_OPTIONS: readonly CommandOption[] = [
  { name: 'data-dir', value: 'PATH', sentence: 'The folder in which everything is kept.' },
  { name: 'json', value: null, sentence: 'Print data as JSON.' },
  { name: 'quiet', value: null, sentence: 'Print data and problems only.' },
  { name: 'help', short: 'h', value: null, sentence: 'Say what the command does.' },
]

/** The command line does not fit; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A relay is needed and none runs; exit code 3. */
export class NoRelayError extends Error {
  override readonly name = 'NoRelayError'

  /** `dataDir` is where one was looked for. */
  constructor(dataDir?: string) {
    const where = dataDir === undefined ? '' : ` with its data in ${dataDir}`
    super(`No relay is running${where}. Start one: hookline serve`)
  }
}

/** The argument at `index`: the parser has made sure of those that are not optional. */
export function argument(call: Call, index: number): string {
  return call.args[index] ?? ''
}
