import { expect, test } from 'bun:test'

import { Options, UsageError, type Command } from '../../src/cli/command.ts'
import { parseCommandLine, usageOf } from '../../src/cli/parse.ts'
import { wordsOf } from '../support/command-line.ts'

const command = (name: string, more: Partial<Command> = {}): Command => ({
  name,
  args: [],
  options: [],
  sentence: '',
  run: () => Promise.resolve(0),
  ...more,
})

const COMMANDS: readonly Command[] = [
  command('config'),
  command('config set', { args: [{ name: 'NAME', choices: ['a', 'b'] }, { name: 'VALUE' }] }),
  command('keys create', { options: [{ name: 'name', value: 'NAME', sentence: '' }] }),
  command('lines list', { short: 'lines' }),
  command('send', { args: [{ name: 'TO' }, { name: 'TEXT' }] }),
  command('upgrade', {
    options: [{ name: 'from', value: 'FILE', isRequired: true, sentence: '' }],
  }),
  command('help', { args: [{ name: 'COMMAND', isOptional: true }] }),
]

function parse(line: string): readonly unknown[] {
  const parsed = parseCommandLine(wordsOf(line), COMMANDS)
  return [parsed.command?.name ?? null, parsed.args, Object.fromEntries(parsed.options)]
}

const LINES: readonly (readonly [
  line: string,
  command: string | null,
  args: readonly string[],
  options: object,
])[] = [
  ['', null, [], {}],
  ['--help', null, [], { help: 'true' }],
  ['-h', null, [], { help: 'true' }],
  ['config', 'config', [], {}],
  ['config set a 1', 'config set', ['a', '1'], {}],
  ['keys create --name "x y"', 'keys create', [], { name: 'x y' }],
  ['keys create --name=a=b', 'keys create', [], { name: 'a=b' }],
  ['--data-dir /d keys create --json', 'keys create', [], { 'data-dir': '/d', json: 'true' }],
  ['send +1 -- --hello', 'send', ['+1', '--hello'], {}],
  ['send --quiet +1 -', 'send', ['+1', '-'], { quiet: 'true' }],
  ['help', 'help', [], {}],
  ['send --help', 'send', [], { help: 'true' }],
]

test.each(LINES)('"hookline %s" is understood', (line, command, args, options) => {
  expect(parse(line)).toEqual([command, args, options])
})

const WRONG: readonly (readonly [line: string, sentence: string])[] = [
  ['nosuch', 'Unknown command "nosuch". All commands: hookline help'],
  ['sned', 'Unknown command "sned". Did you mean "hookline send"? All commands: hookline help'],
  ['key', 'Unknown command "key". Did you mean "hookline keys"? All commands: hookline help'],
  [
    'keys craete',
    'Unknown command "keys craete". Usage: hookline keys create. Did you mean "hookline keys create"?',
  ],
  ['upgrade', 'Usage: hookline upgrade --from FILE'],
  ['keys', 'Usage: hookline keys create.'],
  ['keys nosuch', 'Unknown command "keys nosuch". Usage: hookline keys create.'],
  ['send +1', 'Usage: hookline send TO TEXT'],
  ['send +1 a b', 'Usage: hookline send TO TEXT'],
  [
    'send +1 --hello',
    'Unknown option --hello. Did you mean --help? (Use -- before text that starts with a dash.)',
  ],
  ['send +1 -x', 'Unknown option -x. (Use -- before text that starts with a dash.)'],
  ['keys create --name', '--name needs a value: NAME.'],
  ['keys create --name a --name b', '--name was given twice.'],
  ['config --json=yes', '--json does not take a value.'],
  ['config set c 1', 'NAME must be one of: a, b.'],
]

test.each(WRONG)('"hookline %s" is refused', (line, sentence) => {
  expect(() => parse(line)).toThrow(new UsageError(sentence))
})

test('a word that stands alone is short for a command, and elsewhere a text like any other', () => {
  expect(parse('lines')).toEqual(['lines list', [], {}])
  expect(parse('lines --json')).toEqual(['lines list', [], { json: 'true' }])
  expect(parse('send +1 lines')).toEqual(['send', ['+1', 'lines'], {}])
  expect(parse('help lines')).toEqual(['help', ['lines'], {}])
})

test('usage shows what is optional', () => {
  const lines = COMMANDS.map(usageOf)

  expect(lines).toEqual([
    'hookline config',
    'hookline config set NAME VALUE',
    'hookline keys create [--name NAME]',
    'hookline lines list',
    'hookline send TO TEXT',
    'hookline upgrade --from FILE',
    'hookline help [COMMAND]',
  ])
})

test('an option that may be repeated keeps all its values, in their order', () => {
  const attach = { name: 'attach', value: 'FILE', isRepeatable: true, sentence: '' } as const
  const one = command('send', { options: [attach] })

  const { options } = parseCommandLine(['send', '--attach', 'a b', '--attach=c'], [one])

  expect(options.all('attach')).toEqual(['a b', 'c'])
  expect(new Options().all('attach')).toEqual([])
  expect(usageOf(one)).toBe('hookline send [--attach FILE…]')
})
