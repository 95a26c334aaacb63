import { ConfigError, loadConfig, optionsOf, type LoadedConfig } from '../config.ts'
import { isUnusableDatabase } from '../storage/migrations.ts'
import { codeOf } from '../storage/sqlite-errors.ts'
import { defaultDataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, restrictNewFiles } from '../system/files.ts'
import { readSurroundings, type Surroundings } from '../system/own-process.ts'
import { EXIT, NoRelayError, UsageError, type ExitCode } from './command.ts'
import { COMMAND_GROUPS, COMMANDS, HIDDEN_COMMANDS } from './commands.ts'
import { RefusedError } from './control-client.ts'
import { SHORT_HELP, helpOf } from './help.ts'
import { createOutput, type Output } from './output.ts'
import { parseCommandLine, type Parsed } from './parse.ts'

/** Runs the command line and returns its exit code. */
export async function runCommandLine(): Promise<ExitCode> {
  restrictNewFiles()
  const surroundings = readSurroundings()
  const hasColour = surroundings.isTerminal && (surroundings.environment['NO_COLOR'] ?? '') === ''
  // Even an invalid command line gets its error in JSON.
  const isJson = surroundings.args.includes('--json')
  let out = createOutput({ isJson, isQuiet: false, hasColour })
  try {
    const known = [...COMMANDS, ...HIDDEN_COMMANDS]
    const parsed = parseCommandLine(withShortForms(surroundings.args), known)
    const { options } = parsed
    out = createOutput({ isJson: options.has('json'), isQuiet: options.has('quiet'), hasColour })
    return await runParsed(parsed, surroundings, out)
  } catch (error) {
    out.problem(describe(error), errorCodeOf(error))
    return exitCodeOf(error)
  }
}

async function runParsed(
  parsed: Parsed,
  surroundings: Surroundings,
  out: Output,
): Promise<ExitCode> {
  const { command, args, options } = parsed
  if (command === null) {
    out.data({ help: SHORT_HELP.join('\n') }, SHORT_HELP)
    return surroundings.isTerminal || options.has('help') ? EXIT.ok : EXIT.usage
  }
  if (options.has('help')) {
    out.data({ help: helpOf(command).join('\n') }, helpOf(command))
    return EXIT.ok
  }
  let loaded: LoadedConfig | null = null
  return command.run({
    args,
    options,
    out,
    surroundings,
    groups: COMMAND_GROUPS,
    loadConfig: () => (loaded ??= load(surroundings, options)),
  })
}

/** Every program is asked for `--version` or `-v`. */
function withShortForms(args: readonly string[]): readonly string[] {
  if (args[0] === '--version' || args[0] === '-v') return ['version', ...args.slice(1)]
  return args
}

function load(surroundings: Surroundings, options: ReadonlyMap<string, string>): LoadedConfig {
  const rows = Object.entries(optionsOf())
  return loadConfig({
    flags: Object.fromEntries(rows.map(([key, { name }]) => [key, options.get(name)])),
    environment: surroundings.environment,
    defaultDataDir: defaultDataDirectory(surroundings.environment),
    folder: surroundings.folder,
    readText: readTextOrNull,
  })
}

/** Message of an error with its cause; a bug of ours with its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isBug(error)) return error.stack ?? error.message
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

function isBug(error: Error): boolean {
  const kinds = [TypeError, RangeError, ReferenceError, SyntaxError]
  return kinds.some((kind) => error instanceof kind) || error.message.startsWith('Assertion failed')
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof ConfigError) return EXIT.usage
  if (error instanceof NoRelayError) return EXIT.noRelay
  if (isUnusableDatabase(error)) return EXIT.personNeeded
  const code = codeOf(error) ?? ''
  const isDenied = error instanceof RefusedError && [401, 403].includes(error.status)
  return isDenied || ['EACCES', 'EPERM'].includes(code) ? EXIT.notAllowed : EXIT.failed
}

/** Error code for `--json`; the API's own where the error comes from there. */
function errorCodeOf(error: unknown): string {
  if (error instanceof RefusedError) return error.code
  if (error instanceof UsageError || error instanceof ConfigError) return 'usage'
  return error instanceof NoRelayError ? 'no_relay' : 'failed'
}
