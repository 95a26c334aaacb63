// Shell completion: a script for each shell, and the ids that these scripts ask the running relay for.

import { groupedNumber } from '../domain/handle.ts'
import { webhookName } from '../domain/webhook-url.ts'
import { systemClock, withTimeout } from '../system/clock.ts'
import { GLOBAL_OPTIONS, argument, type Command, type IdKind } from './command.ts'
import type { ControlClient } from './control-client.ts'
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

/** `names` are all the names that a person may write in place of the id; `name` is shown beside it. */
export type Named = {
  readonly id: string
  readonly name: string
  readonly names?: readonly string[]
}

const COMPLETED_MAX = 50

type List = (client: ControlClient, limit: number) => Promise<readonly Named[]>

export const LISTS: Readonly<Record<IdKind, List>> = {
  keys: async (client, limit) => {
    const { data } = await client.ask('listKeys', listed(limit))
    return unrevoked(data).map((key) => named(key.id, key.name, key.key_hint))
  },
  bridges: async (client, limit) => {
    const { data } = await client.ask('listBridges', listed(limit))
    return unrevoked(data).map(({ id, label, phone_number }) =>
      named(id, label, groupedNumber(phone_number)),
    )
  },
  lines: async (client) => {
    const { data } = await client.ask('listPhoneLines')
    return data.map(({ id, label, phone_number }) => named(id, label, groupedNumber(phone_number)))
  },
  boxes: async (client) => {
    const { data } = await client.ask('listBoxes')
    return data.map(({ name, id, status }) => ({ id: name, name: `${status}, ${id}` }))
  },
  webhooks: async (client, limit) => {
    const { data } = await client.ask('listWebhooks', listed(limit))
    return data.map(({ id, description, url }) =>
      named(id, description, url, URL.canParse(url) ? webhookName({ url, description }) : null),
    )
  },
  members: async (client) => (await client.ask('listMembers')).data,
  deliveries: failedDeliveries,
  messages: (client, limit) => newestMessages(client, limit),
  approvals: (client, limit) => newestMessages(client, limit, { queued_reason: 'approval' }),
  uncertain: (client, limit) => newestMessages(client, limit, { status: 'uncertain' }),
  conversations: async (client, limit) => {
    const { data } = await client.ask('listConversations', {
      query: { ...listed(limit).query, type: 'all' },
    })
    return data.map(({ id, name, contact_name, handle }) =>
      named(id, name ?? null, contact_name ?? null, groupedNumber(handle)),
    )
  },
}

export const COMPLETION_IDS_COMMAND: Command = {
  name: 'completion-ids',
  args: [{ name: 'KIND', choices: Object.keys(LISTS) }],
  sentence: 'Print ids that can come next, with their names.',
  async run(call) {
    const kind = argument(call, 0) as IdKind // The parser lets no other word through.
    const ids = runningRelay(call).then((client) => LISTS[kind](client, COMPLETED_MAX))
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

/** Candidates for `webhooks redeliver`. */
async function failedDeliveries(client: ControlClient, limit: number): Promise<readonly Named[]> {
  const { data: webhooks } = await client.ask('listWebhooks', { query: { limit: '10' } })
  const query = { ...listed(limit).query, status: 'exhausted' }
  const lists = await Promise.all(
    webhooks.map(async ({ id, description, url }) => {
      const { data } = await client.ask('listWebhookDeliveries', { params: { id }, query })
      const { name } = named(id, description, url)
      return data.map((delivery) => ({ id: delivery.id, name: `${delivery.event} to ${name}` }))
    }),
  )
  return lists.flat()
}

async function newestMessages(
  client: ControlClient,
  limit: number,
  filter: { readonly queued_reason?: string; readonly status?: string } = {},
): Promise<readonly Named[]> {
  const query = { ...listed(limit).query, type: 'all', ...filter }
  const { data } = await client.ask('listMessages', { query })
  return data.map(({ id, handle, status }) => named(id, `${status} ${groupedNumber(handle)}`))
}

function unrevoked<T extends { readonly revoked_at: string | null }>(rows: readonly T[]) {
  return rows.filter(({ revoked_at }) => revoked_at === null)
}

function listed(limit: number) {
  return { query: { limit: String(limit) } }
}

/** Leaves out empty names, and control characters. */
function named(id: string, ...names: readonly (string | null)[]): Named {
  const plain = names.flatMap((one) => (one ? [one.replaceAll(/\p{Cc}+/gu, ' ')] : []))
  return { id, name: plain[0] ?? '', names: plain }
}
