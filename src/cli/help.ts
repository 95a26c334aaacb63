import {
  EXIT,
  GLOBAL_OPTIONS,
  UsageError,
  type Command,
  type CommandGroup,
  type CommandOption,
} from './command.ts'
import { unknownCommand, usageOf } from './parse.ts'

export const HELP_COMMAND: Command = {
  name: 'help',
  args: [
    { name: 'COMMAND', isOptional: true },
    { name: 'SUBCOMMAND', isOptional: true },
  ],
  options: [],
  sentence: 'List all commands, or say what one does.',
  async run(call) {
    const name = call.args.join(' ')
    const commands = call.groups.flatMap((group) => group.commands)
    const found = commands.filter((one) => one.name === name || one.name.startsWith(`${name} `))
    const lines = name === '' ? listOf(call.groups) : found.flatMap(helpOf)
    if (lines.length === 0) {
      throw new UsageError(unknownCommand(name, commands))
    }
    const names = (name === '' ? commands : found).map((one) => ({
      name: one.name,
      usage: usageOf(one),
      sentence: one.sentence,
    }))
    call.out.data({ data: names }, lines)
    return EXIT.ok
  },
}

/** What a bare `hookline` says: a dozen lines. */
export const SHORT_HELP: readonly string[] = [
  'Hookline relays iMessage over an HTTP API.',
  '',
  '  hookline serve                       run the relay',
  '  hookline serve --simulated-lines 2   run it without an Apple device',
  '  hookline keys create                 make an API key',
  '  hookline lines                       list the phone lines',
  '  hookline send TO TEXT                send a message',
  '  hookline webhooks add URL            have events sent to a URL',
  '  hookline tail                        watch events',
  '  hookline backup                      make a back-up',
  '',
  'All commands: hookline help. One of them: hookline help serve.',
]

/** Usage, purpose and options of one command. */
export function helpOf(command: Command): string[] {
  return [usageOf(command), `  ${command.sentence}`, ...describeOptions(command.options), '']
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
    'Everywhere:',
    ...describeOptions(GLOBAL_OPTIONS),
    '',
    'Exit codes: 0 ok, 1 failed, 2 usage, 3 no relay is running, 4 not allowed,',
    '5 checks failed, 78 a person is needed.',
  ]
}

function describeOptions(options: readonly CommandOption[]): string[] {
  const names = options.map(({ name, value }) => `--${name}${value === null ? '' : ` ${value}`}`)
  const longest = Math.max(0, ...names.map((name) => name.length))
  return options.map(({ sentence }, i) => `    ${(names[i] ?? '').padEnd(longest)}  ${sentence}`)
}
