// Shell completion: a script for each shell, and the command by which these scripts ask the running relay for ids.

import { systemClock, withTimeout } from '../system/clock.ts'
import { GLOBAL_OPTIONS, argument, type Command } from './command.ts'
import { COMPLETION_IDS, namedIds, type IdKind } from './completion-ids.ts'
import { runningRelay } from './own-file.ts'

export const COMPLETIONS_COMMAND: Command = {
  name: 'completions',
  args: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
  sentence: 'Print a shell completion script.',
  async run(call) {
    const shell = argument(call, 0)
    const commands = call.groups.flatMap((group) => group.commands)
    const script = SCRIPTS[shell]?.(commands) ?? []
    call.out.data({ shell, script: script.join('\n') }, script)
  },
}

/** After Tab, an empty list is better than a longer wait. */
const PATIENCE_MS = 1_000
const COMPLETED_MAX = 50

export const COMPLETION_IDS_COMMAND: Command = {
  name: 'completion-ids',
  args: [{ name: 'KIND', choices: Object.keys(COMPLETION_IDS) }],
  sentence: 'Print ids that can come next, with their names.',
  async run(call) {
    const kind = argument(call, 0) as IdKind // The parser lets no other word through.
    const ids = runningRelay(call).then((client) => namedIds(client, kind, COMPLETED_MAX))
    const found = await withTimeout(systemClock, PATIENCE_MS, ids, []).catch(() => [])
    const lines = found.map(({ id, name }) => `${id}\t${name}`)
    call.out.data({ data: found.map(({ id, name }) => ({ id, name })) }, lines)
  },
}

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => readonly string[]>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** Shows several matching ids with their names, and inserts a single one without. */
function bashScript(commands: readonly Command[]): readonly string[] {
  return [
    '_hookline() {',
    `  local words='' ids='' id name i dir=() found=() current="\${COMP_WORDS[COMP_CWORD]}"`,
    '  local line="${COMP_WORDS[*]:1:COMP_CWORD-1}" before="${COMP_WORDS[COMP_CWORD-1]}"',
    ...nextWords(commands, 'words'),
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  [[ -z $ids || $current == -* ]] && return',
    '  for ((i = 1; i < COMP_CWORD - 1; i++)); do',
    '    [[ ${COMP_WORDS[i]} == --data-dir ]] && dir=(--data-dir "${COMP_WORDS[i+1]}")',
    '  done',
    "  while IFS=$'\\t' read -r id name; do",
    '    [[ $id == "$current"* ]] && found+=("$id  ($name)")',
    '  done < <("${COMP_WORDS[0]}" completion-ids "$ids" "${dir[@]}" 2>/dev/null)',
    '  # 37 and 42: candidates are inserted as they are, from a menu or all at once.',
    '  if ((${#found[@]} == 1 && ${#COMPREPLY[@]} == 0)) || [[ $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then',
    '    found=("${found[@]%%  (*}")',
    '  fi',
    '  COMPREPLY+=("${found[@]}")',
    '}',
    'complete -o default -F _hookline hookline',
  ]
}

function zshScript(commands: readonly Command[]): readonly string[] {
  return [
    '#compdef hookline',
    '_hookline() {',
    '  local offered=\'\' ids=\'\' line="${words[2,CURRENT-1]}" before="${words[CURRENT-1]}" at',
    '  local -a dir found',
    ...nextWords(commands, 'offered'),
    '  if [[ -n $ids && ${words[CURRENT]} != -* ]]; then',
    '    at=${words[(I)--data-dir]}',
    '    ((at > 0 && at < CURRENT - 1)) && dir=(--data-dir "${words[at+1]}")',
    '    found=("${(@f)$("${words[1]}" completion-ids "$ids" $dir 2>/dev/null)}")',
    '    found=("${(@)found/$\'\\t\'/:}")',
    "    [[ -n ${found[1]} ]] && _describe 'id' found",
    '  fi',
    '  compadd -- ${=offered}',
    '}',
    '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }',
    'compdef _hookline hookline',
  ]
}

/** Sets `variable` to the words that can come next, and `ids` to the kind of id that can come next. */
function nextWords(commands: readonly Command[], variable: string): readonly string[] {
  const clause = (pattern: string, words: Iterable<string>, ids?: IdKind) =>
    `    ${pattern}) ${variable}='${[...words].join(' ')}' ids=${ids ?? "''"} ;;`
  const ofCommands = commands.map(
    (one) => [one.name, clause(`'${one.name}'*`, wordsAfter(one, commands), idsIn(one))] as const,
  )
  const ofGroups = [...groupsOf(commands)].map(
    ([name, words]) => [name, clause(`'${name}'*`, words)] as const,
  )
  const byLength = [...ofCommands, ...ofGroups].toSorted(([a], [b]) => b.length - a.length)
  return [
    '  case "$line" in',
    ...byLength.map(([, text]) => text),
    clause('*', firstWords(commands)),
    '  esac',
    '  case "$before" in',
    ...optionsWithIds(commands).map(([name, ids]) => clause(`--${name}`, [], ids)),
    '  esac',
  ]
}

function idsIn({ args }: Command): IdKind | undefined {
  return args?.find(({ ids }) => ids !== undefined)?.ids
}

function optionsWithIds(commands: readonly Command[]): readonly (readonly [string, IdKind])[] {
  const options = commands.flatMap((command) => command.options ?? [])
  const known = options.flatMap(({ name, ids }) =>
    ids === undefined ? [] : [[name, ids] as const],
  )
  return [...new Map(known)]
}

function fishScript(commands: readonly Command[]): readonly string[] {
  const lines = [...FISH_IDS, "complete -c hookline -n '__fish_use_subcommand' -f"]
  for (const word of firstWords(commands)) {
    lines.push(`complete -c hookline -n '__fish_use_subcommand' -a '${word}'`)
  }
  for (const [group, words] of groupsOf(commands)) {
    lines.push(
      `complete -c hookline -n '__fish_seen_subcommand_from ${group}' -a '${words.join(' ')}'`,
    )
  }
  for (const command of commands) {
    const { name, options = [] } = command
    const seen = name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    const kind = idsIn(command)
    if (kind !== undefined) lines.push(`complete -c hookline -n '${seen}' -f ${fishIds(kind)}`)
    for (const option of options) {
      const value = option.ids === undefined ? ' -r' : ` -x ${fishIds(option.ids)}`
      const takes = option.value === null ? '' : value
      lines.push(`complete -c hookline -n '${seen}' -l ${option.name}${takes}`)
    }
  }
  for (const { name, value } of GLOBAL_OPTIONS) {
    lines.push(`complete -c hookline -l ${name}${value === null ? '' : ' -r'}`)
  }
  return lines
}

const FISH_IDS = [
  'function __hookline_ids',
  '  set -l words (commandline -opc)',
  '  set -l dir',
  '  set -l at (contains -i -- --data-dir $words)',
  '  and set dir --data-dir $words[(math $at + 1)]',
  '  $words[1] completion-ids $argv[1] $dir 2>/dev/null',
  'end',
]

function fishIds(kind: IdKind): string {
  return `-a '(__hookline_ids ${kind})'`
}

function wordsAfter(command: Command, commands: readonly Command[]): ReadonlySet<string> {
  const choices = (command.args ?? []).flatMap(({ choices: words }) => words ?? [])
  const options = [...(command.options ?? []), ...GLOBAL_OPTIONS].map(({ name }) => `--${name}`)
  const below = groupsOf(commands).get(command.name) ?? []
  return new Set([...below, ...choices, ...options])
}

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
