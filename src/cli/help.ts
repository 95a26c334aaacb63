import { GUIDES, findGuide } from '../guides/guides.ts'
import { MIGRATIONS } from '../storage/migrations.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { VERSION } from '../system/version.ts'
import {
  type Call,
  type Command,
  type CommandGroup,
  type CommandOption,
  EXIT,
  GLOBAL_OPTIONS,
  UsageError,
} from './command.ts'
import { readLicenses } from './licenses.macro.ts' with { type: 'macro' }
import { unknownCommand, usageOf } from './parse.ts'
import { fields, table } from './table.ts'

const LICENSES: string = readLicenses()

export const HELP_COMMAND: Command = {
  name: 'help',
  args: [
    { name: 'COMMAND', isOptional: true },
    { name: 'SUBCOMMAND', isOptional: true },
  ],
  sentence: 'List all commands, or describe one.',
  run: printHelp,
}

export const ABOUT_COMMANDS: readonly Command[] = [
  { name: 'paths', sentence: 'Print where Hookline keeps its files.', run: printPaths },
  {
    name: 'version',
    sentence: 'Print the version.',
    async run(call) {
      const about = { version: VERSION, schema: MIGRATIONS.length, bun: Bun.version }
      call.out.data(about, [`hookline ${VERSION}`])
    },
  },
  {
    name: 'licenses',
    sentence: 'Print the licenses of everything in this executable.',
    async run(call) {
      call.out.data({ text: LICENSES }, LICENSES.split('\n'))
    },
  },
]

/** Printed by a bare `hookline`: a dozen lines. */
export const SHORT_HELP: readonly string[] = [
  'Hookline relays iMessage over an HTTP API.',
  '',
  '  hookline serve                       run the relay',
  '  hookline serve --simulated-lines 2   try it without an Apple device',
  '  hookline keys create                 create an API key',
  '  hookline lines                       list phone lines',
  '  hookline send TO TEXT                send a message',
  '  hookline webhooks add URL            send events to a URL',
  '  hookline tail                        watch events',
  '  hookline backup                      make a backup',
  '',
  'All commands: hookline help. One command: hookline help serve.',
]

export function helpOf(command: Command): string[] {
  return [usageOf(command), `  ${command.sentence}`, ...describeOptions(command.options ?? []), '']
}

async function printHelp(call: Call): Promise<undefined> {
  const name = call.args.join(' ')
  const commands = call.groups.flatMap((group) => group.commands)
  const found = commands.filter((one) => one.name === name || one.name.startsWith(`${name} `))
  const lines = name === '' ? listOf(call.groups) : found.flatMap(helpOf)
  if (lines.length === 0) throw new UsageError(unknownCommand(name, commands))
  const names = (name === '' ? commands : found).map((one) => ({
    name: one.name,
    usage: usageOf(one),
    sentence: one.sentence,
  }))
  call.out.data({ data: names }, lines)
}

async function printPaths(call: Call): Promise<undefined> {
  const directory = dataDirectoryAt(call.loadConfig().config.dataDir)
  const rows = [
    ['data_directory', directory.path],
    ['database', directory.database],
    ['backups', directory.backups],
    ['options', directory.environmentFile],
    ['secret_key', directory.secretKey],
    ['control_socket', directory.controlSocket],
    ['lock', directory.lock],
    ['simulated_network', directory.simulatedDatabase],
  ] as const
  call.out.data(Object.fromEntries(rows), fields(rows))
}

function listOf(groups: readonly CommandGroup[]): string[] {
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name))
  const longest = Math.max(...names.map((name) => name.length))
  const linesOf = ({ heading, commands }: CommandGroup) => [
    `${heading}:`,
    ...commands.map(({ name, sentence }) => `  ${name.padEnd(longest)}  ${sentence}`),
    '',
  ]
  return [
    'Usage: hookline COMMAND [options]',
    '',
    ...groups.flatMap(linesOf),
    'Global options:',
    ...describeOptions(GLOBAL_OPTIONS),
    '',
    'Exit codes: 0 ok, 1 failed, 2 usage, 3 no relay is running, 4 not allowed,',
    '5 checks failed, 78 action needed.',
  ]
}

function describeOptions(options: readonly CommandOption[]): string[] {
  const names = options.map(({ name, value }) => `--${name}${value === null ? '' : ` ${value}`}`)
  const longest = Math.max(0, ...names.map((name) => name.length))
  return options.map(({ sentence }, i) => `    ${(names[i] ?? '').padEnd(longest)}  ${sentence}`)
}

export const GUIDE_COMMAND: Command = {
  name: 'guide',
  args: [{ name: 'NAME', isOptional: true, choices: GUIDES.map(({ name }) => name) }],
  sentence: 'Print a guide of the manual, or list them.',
  async run({ args: [name], out }) {
    if (name === undefined) {
      const rows = GUIDES.map(({ name, title }) => ({ name, title }))
      const lines = table(
        ['GUIDE', 'ABOUT'],
        rows.map(({ name, title }) => [name, title]),
      )
      out.data({ data: rows }, lines)
      return EXIT.ok
    }
    const guide = findGuide(name)
    if (guide === null)
      throw new UsageError(`There is no guide "${name}". List them: hookline guide`)
    out.data(guide, guide.text.trimEnd().split('\n'))
    return EXIT.ok
  },
}
