import { EXIT, GLOBAL_OPTIONS, argument, type Command } from './command.ts'

export const COMPLETIONS_COMMAND: Command = {
  name: 'completions',
  args: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
  options: [],
  sentence: 'Print the completions for a shell.',
  async run(call) {
    const shell = argument(call, 0)
    const commands = call.groups.flatMap((group) => group.commands)
    const script = shell === 'fish' ? fishScript(commands) : bashScript(commands, shell)
    call.out.data({ shell, script: script.join('\n') }, script)
    return EXIT.ok
  },
}

/** bash; zsh understands it too, after `bashcompinit`. */
function bashScript(commands: readonly Command[], shell: string): string[] {
  const cases = commands
    .toSorted((a, b) => b.name.length - a.name.length)
    .map((one) => `    '${one.name}'*) words='${[...wordsAfter(one, commands)].join(' ')}' ;;`)
  const groups = [...groupsOf(commands)].map(
    ([name, words]) => `    '${name}'*) words='${words.join(' ')}' ;;`,
  )
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_hookline() {',
    '  local words line="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
    '  case "$line" in',
    ...cases,
    ...groups,
    `    *) words='${firstWords(commands).join(' ')}' ;;`,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _hookline hookline',
  ]
}

function fishScript(commands: readonly Command[]): string[] {
  const lines = ["complete -c hookline -n '__fish_use_subcommand' -f"]
  for (const word of firstWords(commands)) {
    lines.push(`complete -c hookline -n '__fish_use_subcommand' -a '${word}'`)
  }
  for (const [group, words] of groupsOf(commands)) {
    lines.push(
      `complete -c hookline -n '__fish_seen_subcommand_from ${group}' -a '${words.join(' ')}'`,
    )
  }
  for (const { name, options } of commands) {
    const seen = name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    for (const option of options) {
      const takes = option.value === null ? '' : ' -r'
      lines.push(`complete -c hookline -n '${seen}' -l ${option.name}${takes}`)
    }
  }
  for (const { name, value } of GLOBAL_OPTIONS) {
    lines.push(`complete -c hookline -l ${name}${value === null ? '' : ' -r'}`)
  }
  return lines
}

function wordsAfter(command: Command, commands: readonly Command[]): ReadonlySet<string> {
  const choices = command.args.flatMap(({ choices: words }) => words ?? [])
  const options = [...command.options, ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`)
  const below = groupsOf(commands).get(command.name) ?? []
  return new Set([...below, ...choices, ...options])
}

/** The second words of each first word that has some. */
function groupsOf(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second])
  }
  return groups
}

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))]
}
