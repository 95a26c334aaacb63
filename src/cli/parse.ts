import { nearest } from '../domain/nearest.ts'
import { GLOBAL_OPTIONS, Options, UsageError, type Command, type CommandOption } from './command.ts'

export type Parsed = {
  /** The command; null for a bare `hookline`. */
  readonly command: Command | null
  readonly args: readonly string[]
  readonly options: Options
}

/** Parses `hookline [options] command [arguments] [options]`. */
export function parseCommandLine(args: readonly string[], commands: readonly Command[]): Parsed {
  const words = [...args]
  const options = new Options()
  while (words[0]?.startsWith('-') === true) takeOption(words, GLOBAL_OPTIONS, options)
  const command = takeCommand(words, commands)
  const known = [...GLOBAL_OPTIONS, ...(command?.options ?? [])]
  const rest: string[] = []
  for (let word = words[0]; word !== undefined; word = words[0]) {
    if (word === '--') {
      rest.push(...words.splice(0).slice(1))
    } else if (word.startsWith('-') && word !== '-') {
      takeOption(words, known, options)
    } else {
      rest.push(word)
      words.shift()
    }
  }
  if (command !== null && !options.has('help')) requireComplete(command, rest, options)
  return { command, args: rest, options }
}

/** Such as `hookline keys create [--name NAME]`. */
export function usageOf(command: Command): string {
  const args = (command.args ?? []).map(({ name, isOptional }) => (isOptional ? `[${name}]` : name))
  const options = (command.options ?? []).map(({ name, value, isRequired, isRepeatable }) => {
    const more = isRepeatable === true ? '…' : ''
    const written = value === null ? `--${name}` : `--${name} ${value}${more}`
    return isRequired === true ? written : `[${written}]`
  })
  const shown = options.length > 4 ? ['[options]'] : options
  return ['hookline', command.name, ...args, ...shown].join(' ')
}

function takeCommand(words: string[], commands: readonly Command[]): Command | null {
  const [first, second] = words
  if (first === undefined) return null
  const long = commands.find(({ name }) => name === `${first} ${second ?? ''}`)
  const isAlone = second === undefined || second.startsWith('-')
  const command =
    long ?? commands.find(({ name, short }) => name === first || (isAlone && short === first))
  if (command !== undefined) {
    words.splice(0, long === undefined ? 1 : 2)
    return command
  }
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length === 0) throw new UsageError(unknownCommand(first, commands))
  const names = group.map(({ name }) => name.slice(first.length + 1))
  const meant = second === undefined ? null : nearest(second, names)
  const hint = meant === null ? '' : ` Did you mean "hookline ${first} ${meant}"?`
  const unknown = second === undefined ? '' : `Unknown command "${first} ${second}". `
  throw new UsageError(`${unknown}Usage: hookline ${first} ${names.join('|')}.${hint}`)
}

export function unknownCommand(written: string, commands: readonly Command[]): string {
  const names = commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])
  const meant = nearest(written, names)
  const hint = meant === null ? '' : ` Did you mean "hookline ${meant}"?`
  return `Unknown command "${written}".${hint} All commands: hookline help`
}

function takeOption(words: string[], known: readonly CommandOption[], options: Options): void {
  const word = words.shift() ?? ''
  const [written, inline] = splitOnce(word, '=')
  const option = known.find(
    ({ name, short }) =>
      written === `--${name}` || (short !== undefined && written === `-${short}`),
  )
  if (option === undefined) {
    const meant = nearest(
      written,
      known.map(({ name }) => `--${name}`),
    )
    const hint = meant === null ? '' : ` Did you mean ${meant}?`
    throw new UsageError(
      `Unknown option ${written}.${hint} (Use -- before text that starts with a dash.)`,
    )
  }
  const { name, isRepeatable = false } = option
  if (options.has(name) && !isRepeatable) throw new UsageError(`--${name} was given twice.`)
  if (option.value === null) {
    if (inline !== undefined) throw new UsageError(`--${name} does not take a value.`)
    options.set(name, 'true')
    return
  }
  const value = inline ?? words.shift()
  if (value === undefined) throw new UsageError(`--${name} needs a value: ${option.value}.`)
  options.add(name, value)
}

/** Throws if arguments or required options are missing, or if an argument isn't one of its choices. */
function requireComplete(command: Command, given: readonly string[], set: Options): void {
  const { args = [], options = [] } = command
  const least = args.filter(({ isOptional }) => isOptional !== true).length
  const lacksOption = options.some(({ name, isRequired }) => isRequired === true && !set.has(name))
  const most = args.at(-1)?.isRest === true ? Infinity : args.length
  if (given.length < least || given.length > most || lacksOption) {
    throw new UsageError(`Usage: ${usageOf(command)}`)
  }
  for (const [index, { name, choices }] of args.entries()) {
    const value = given[index]
    if (value === undefined || choices === undefined || choices.includes(value)) continue
    throw new UsageError(`${name} must be one of: ${choices.join(', ')}.`)
  }
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
