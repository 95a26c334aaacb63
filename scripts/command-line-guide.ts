// Makes src/guides/command-line.md from the tables of commands, options and settings.

import type { CommandOption } from '../src/cli/command.ts'
import { usageOf } from '../src/cli/parse.ts'
import { COMMAND_GROUPS } from '../src/cli/run.ts'
import { optionsOf } from '../src/config.ts'
import { environmentOf, flagOf, type Option } from '../src/domain/option.ts'
import {
  defaultSetting,
  printSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from '../src/domain/setting.ts'

const OPTIONS = Object.entries(optionsOf()).toSorted(
  ([, a], [, b]) => Number(isRare(a)) - Number(isRare(b)),
)

/** The whole guide, in Markdown. */
export function commandLineGuide(): string {
  return `# The command line

Every command takes \`--json\`, \`--quiet\`, \`--data-dir PATH\` and \`--help\`. Exit codes: 0 ok, 1 failed, 2 usage,
3 no relay is running though one is needed, 4 not allowed, 5 checks failed, 78 a person is needed.

Wherever a command takes an id, it takes the name, the number or the short id (\`wh_…ay27n\`) of the thing, too: case
and accents don't count. If several things have the name, nothing happens, and they are listed with their ids.
\`send\` takes the whole name of a contact. Programs should use ids.

\`hookline help COMMAND\` describes one command, \`hookline help --man\` prints the manual page,
\`hookline help --agents\` the commands and their rules for an agent, and \`hookline completions bash\` (or
\`zsh\`, \`fish\`) a script that completes commands and ids. At a terminal, output has colors (not with
\`NO_COLOR\`), fits the width, and shows times such as "3 min ago"; in a pipe it is plain and whole, with times
in ISO 8601. With \`--json\`, errors have the API's shape on standard error.

## At night, over ssh

\`\`\`sh
hookline doctor                              # what is wrong, why, and what to do
hookline webhooks list                       # the failing one (doctor waits for five failures in a row)
hookline webhooks show ID                    # its latest deliveries: status, error, next attempt
hookline webhooks pause ID                   # or retry ID, once its receiver is back
hookline messages list --status failed       # what was not sent, and why
hookline tail --event message.failed         # until Ctrl-C, also over a restart of the relay
hookline support                             # one file for the person who helps: no texts, numbers or secrets
\`\`\`

${COMMAND_GROUPS.map(groupTable).join('\n\n')}

## Options

Options come from flags, then the environment, then \`hookline.env\` in the data directory. Each variable also
works as \`…_FILE\`, which names a file that holds the value. \`hookline config\` prints where each value comes from.

| flag | environment | default | |
|---|---|---|---|
${OPTIONS.map(optionRow).join('\n')}

## Settings

Settings are kept in the database and take effect at once: \`hookline config set NAME VALUE\`, or in the
dashboard. A set environment variable (\`HOOKLINE_\` and the name in capitals) wins.

| setting | default | |
|---|---|---|
${SETTING_NAMES.map(settingRow).join('\n')}
`
}

function groupTable({ heading, commands }: (typeof COMMAND_GROUPS)[number]): string {
  const rows = commands.map((command) => {
    const usage = usageOf({ ...command, options: [] }).replaceAll('|', '\\|')
    const options = (command.options ?? []).map(commandOption)
    return `| \`${usage}\` | ${[command.sentence, ...options].join('<br>')} |`
  })
  return [`## ${heading}`, '', '| command | |', '|---|---|', ...rows].join('\n')
}

function commandOption({ name, short, value, sentence, isRepeatable }: CommandOption): string {
  const written = [short === undefined ? [] : [`-${short}`], `--${name}`].flat().join(', ')
  const given = value === null ? '' : ` ${value}${isRepeatable === true ? '…' : ''}`
  return `\`${written}${given}\` ${sentence}`.replaceAll('|', '\\|')
}

/** Options that few people need come last: programs of the system, and how an agent on an iPhone is started. */
function isRare(option: Option<unknown>): boolean {
  const isProgram = typeof option.default === 'string' && option.default.startsWith('/usr/')
  return (
    isProgram || option.name.startsWith('iphone-agent') || option.name === 'iphone-tunnel-command'
  )
}

function optionRow([key, option]: [string, Option<unknown>]): string {
  const { kind, sentence, default: value, isSecret } = option
  const shown = key === 'dataDir' ? '`hookline paths`' : `\`${kind.print(value)}\``
  const flag = isSecret ? '–' : `\`${flagOf(option)}\``
  return `| ${flag} | \`${environmentOf(option)}\` | ${shown} | ${sentence} |`
}

function settingRow(name: SettingName): string {
  const value = printSetting(name, defaultSetting(name))
  return `| \`${name}\` | \`${value}\` | ${SETTINGS[name].sentence} |`
}
