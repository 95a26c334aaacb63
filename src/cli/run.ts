import { RefusedError } from '../api/client.ts'
import { ConfigError, type LoadedConfig, loadConfig, optionsOf } from '../config.ts'
import { isUnusableDatabase } from '../storage/migrations.ts'
import { codeOf } from '../storage/sqlite-errors.ts'
import { systemClock } from '../system/clock.ts'
import { defaultDataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, restrictNewFiles } from '../system/files.ts'
import { type Surroundings, readSurroundings } from '../system/own-process.ts'
import { ALERT_COMMANDS } from './alerts.ts'
import { APPROVAL_COMMANDS } from './approvals.ts'
import { ATTACHMENT_COMMANDS } from './attachments.ts'
import { AUDIT_COMMAND } from './audit.ts'
import { BOX_COMMAND, JOIN_COMMAND } from './box.ts'
import { BOX_COMMANDS } from './boxes.ts'
import { BRIDGE_COMMANDS } from './bridges.ts'
import { CLIENT_COMMAND } from './client.ts'
import {
  type Call,
  type Command,
  type CommandGroup,
  EXIT,
  type ExitCode,
  NoRelayError,
  UsageError,
} from './command.ts'
import { COMPLETIONS_COMMAND, COMPLETION_IDS_COMMAND } from './completions.ts'
import { CONFIG_COMMANDS } from './config.ts'
import { CONTACT_COMMANDS, OPT_OUT_COMMANDS, SEARCH_COMMAND } from './contacts.ts'
import { CONVERSATION_COMMANDS } from './conversations.ts'
import { KEYS_ADD_COMMAND, KEY_COMMANDS, SETUP_LINK_COMMAND } from './credentials.ts'
import { DOCTOR_COMMAND } from './doctor.ts'
import { ABOUT_COMMANDS, GUIDE_COMMAND, HELP_COMMAND, SHORT_HELP, helpOf } from './help.ts'
import { IMSG_COMMANDS } from './imsg.ts'
import { LINE_COMMANDS } from './lines.ts'
import {
  BACKUP_COMMANDS,
  CHECK_MIGRATIONS_COMMAND,
  CONNECT_COMMAND,
  FAKE_COMMAND,
  SERVE_COMMAND,
  boxesUpgradeCommand,
  supportCommand,
  upgradeCommand,
} from './loaded-commands.ts'
import { MAC_PERMIT_COMMAND, MAC_TRACE_COMMAND } from './mac.ts'
import { MCP_COMMAND } from './mcp.ts'
import { MEMBER_COMMANDS } from './members.ts'
import { MESSAGE_COMMANDS, STATS_COMMAND } from './messages.ts'
import { withIds } from './named-ids.ts'
import { NIGHT_COMMAND } from './night.ts'
import {
  OutputError,
  STANDARD,
  createOutput,
  unreadPrinter,
  type Output,
  type Printer,
} from './output.ts'
import { type Parsed, parseCommandLine } from './parse.ts'
import {
  type FindPlace,
  INSTALL_OPTIONS,
  type ServiceCall,
  install,
  openServiceCall,
  printLog,
  stop,
  thisPlace,
  uninstall,
} from './service.ts'
import { SITE_COMMANDS } from './sites.ts'
import { openDashboard, printStatus, restart, up } from './status.ts'
import { TAIL_COMMAND } from './tail.ts'
import { WEBHOOK_COMMANDS } from './webhooks.ts'

export async function runCommandLine(
  surroundings: Surroundings = readSurroundings(),
  to: Printer = STANDARD,
): Promise<ExitCode> {
  restrictNewFiles()
  const { args, environment, columns, isTerminal: isWatched } = surroundings
  const isPlain = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb'
  const look = {
    columns,
    hasColour: isWatched && !isPlain,
    isWatched,
    now: () => systemClock.now(),
  }
  // With --json, even an invalid command line gets its error in JSON.
  let out = createOutput({ ...look, isJson: args.includes('--json'), isQuiet: false }, to)
  try {
    const shown = COMMAND_GROUPS.flatMap(({ commands }) => commands)
    const known = [...shown, ...HIDDEN_COMMANDS]
    const parsed = parseCommandLine(withShortForms(args), known)
    const { command, options } = parsed
    const style = { ...look, isJson: options.has('json'), isQuiet: options.has('quiet') }
    out = createOutput(style, command?.isService === true ? unreadPrinter(to) : to)
    return await runParsed(parsed, surroundings, out)
  } catch (error) {
    if (error instanceof OutputError && error.isUnread) return EXIT.ok
    const details = error instanceof RefusedError ? error.details : undefined
    out.problem(describe(error), { code: errorCodeOf(error), details })
    return exitCodeOf(error)
  }
}

async function runParsed(parsed: Parsed, surroundings: Surroundings, out: Output) {
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
  const call: Call = {
    args,
    options,
    out,
    surroundings,
    groups: COMMAND_GROUPS,
    loadConfig: (isAgain = false) => {
      if (isAgain || loaded === null) loaded = load(surroundings, options)
      return loaded
    },
  }
  const exitCode = await command.run(await withIds(command, call))
  return exitCode ?? EXIT.ok
}

/** People try `--version` and `-v` with every program. */
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

/** The message of an error with its cause; for a bug of ours, the stack. */
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

/** The API's own code if the error comes from the API. */
function errorCodeOf(error: unknown): string {
  if (error instanceof RefusedError) return error.code
  if (error instanceof UsageError || error instanceof ConfigError) return 'usage'
  return error instanceof NoRelayError ? 'no_relay' : 'failed'
}

/** The commands that run the relay as a service. */
const SERVICE_COMMANDS: readonly (Omit<Command, 'run'> & {
  run(service: ServiceCall): Promise<ExitCode | undefined>
})[] = [
  {
    name: 'up',
    options: [
      ...INSTALL_OPTIONS,
      {
        name: 'no-open',
        value: null,
        sentence: 'Print the setup link without opening a browser.',
      },
    ],
    sentence: 'Install or update the service, start it, and show its status.',
    run: up,
  },
  {
    name: 'restart',
    sentence: 'Restart the service, and show its status.',
    run: restart,
  },
  {
    name: 'down',
    sentence: 'Stop the service. It stays installed and starts again with the machine.',
    run: stop,
  },
  {
    name: 'service install',
    options: INSTALL_OPTIONS,
    sentence: 'Start the relay with the machine, or on a Mac when you log in.',
    run: install,
  },
  {
    name: 'service uninstall',
    sentence: 'Stop and remove the service. Your data is kept.',
    run: uninstall,
  },
  {
    name: 'status',
    options: [
      { name: 'or-fake', value: 'PORT', sentence: 'A fake relay at this port counts too.' },
    ],
    sentence: 'Show whether the relay is running, and its lines. Exit code 3 if it is not.',
    run: printStatus,
  },
  {
    name: 'open',
    sentence: 'Open the dashboard in a browser. Over ssh, print its address.',
    run: openDashboard,
  },
  {
    name: 'logs',
    options: [
      {
        name: 'follow',
        short: 'f',
        value: null,
        sentence: 'Keep printing new lines. Short: -f.',
      },
      { name: 'lines', value: 'N', sentence: 'Number of recent lines to print (default 200).' },
    ],
    sentence: "Print the service's log.",
    run: printLog,
  },
]

/** Binds the commands to the machine that `findPlace` returns. */
export function hostingCommands(findPlace: FindPlace): readonly Command[] {
  return SERVICE_COMMANDS.map((command) => ({
    ...command,
    run: (call) => command.run(openServiceCall(call, findPlace)),
  }))
}

/** In the order of the help. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Run',
    commands: [
      SERVE_COMMAND,
      ...hostingCommands(thisPlace),
      SETUP_LINK_COMMAND,
      ...MEMBER_COMMANDS,
    ],
  },
  {
    heading: 'Send and watch',
    commands: [
      ...MESSAGE_COMMANDS,
      ...APPROVAL_COMMANDS,
      ...CONVERSATION_COMMANDS,
      ...ATTACHMENT_COMMANDS,
      TAIL_COMMAND,
      SEARCH_COMMAND,
      STATS_COMMAND,
      MCP_COMMAND,
      ...IMSG_COMMANDS,
      CLIENT_COMMAND,
      FAKE_COMMAND,
    ],
  },
  { heading: 'People', commands: [...CONTACT_COMMANDS, ...OPT_OUT_COMMANDS] },
  {
    heading: 'Troubleshoot',
    commands: [
      NIGHT_COMMAND,
      DOCTOR_COMMAND,
      ...ALERT_COMMANDS,
      supportCommand(thisPlace),
      AUDIT_COMMAND,
      MAC_TRACE_COMMAND,
    ],
  },
  { heading: 'Lines', commands: [...LINE_COMMANDS, ...SITE_COMMANDS, ...BRIDGE_COMMANDS] },
  {
    heading: 'Several machines',
    commands: [...BOX_COMMANDS, boxesUpgradeCommand(thisPlace), JOIN_COMMAND, BOX_COMMAND],
  },
  {
    heading: 'Keys and webhooks',
    commands: [CONNECT_COMMAND, ...KEY_COMMANDS, ...WEBHOOK_COMMANDS],
  },
  {
    heading: 'Backups and upgrades',
    commands: [...BACKUP_COMMANDS, upgradeCommand(thisPlace)],
  },
  {
    heading: 'Options and help',
    commands: [
      ...CONFIG_COMMANDS,
      ...ABOUT_COMMANDS,
      COMPLETIONS_COMMAND,
      GUIDE_COMMAND,
      HELP_COMMAND,
    ],
  },
]

/** For our own processes and for shell completion; absent from help and documentation. */
const HIDDEN_COMMANDS: readonly Command[] = [
  CHECK_MIGRATIONS_COMMAND,
  MAC_PERMIT_COMMAND,
  COMPLETION_IDS_COMMAND,
  KEYS_ADD_COMMAND,
]
