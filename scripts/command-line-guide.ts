// Writes src/guides/command-line.md from the tables of commands, options and settings.

import { COMMAND_GROUPS } from '../src/cli/commands.ts'
import {
  environmentOf,
  flagOf,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
} from '../src/domain/option.ts'
import {
  defaultSetting,
  printSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from '../src/domain/setting.ts'
import type { ValueKind } from '../src/domain/value-kind.ts'

export const COMMAND_LINE_GUIDE = `${import.meta.dir}/../src/guides/command-line.md`

/** The whole guide, in Markdown. */
export function commandLineGuide(): string {
  return `# The command line

Every command takes \`--json\`, \`--quiet\`, \`--data-dir PATH\` and \`--help\`. Exit codes: 0 ok, 1 failed, 2 usage,
3 no relay is running where one is needed, 4 not allowed, 5 checks failed, 78 a person is needed.

${COMMAND_GROUPS.map(groupTable).join('\n\n')}

## Options

Options come from flags, then the environment, then \`hookline.env\` in the data directory. Each variable also
works as \`…_FILE\`, which names a file that holds the value. \`hookline config\` prints where each value comes from.

| flag | environment | default | |
|---|---|---|---|
${OPTION_NAMES.map(optionRow).join('\n')}

## Settings

Settings are kept in the database and take effect at once: \`hookline config set NAME VALUE\`, or in the
dashboard. A set environment variable (\`HOOKLINE_\` and the name in capitals) wins.

| setting | default | |
|---|---|---|
${SETTING_NAMES.map(settingRow).join('\n')}
`
}

function groupTable({ heading, commands }: (typeof COMMAND_GROUPS)[number]): string {
  const rows = commands.map(({ name, sentence }) => `| \`hookline ${name}\` | ${sentence} |`)
  return [`## ${heading}`, '', '| command | |', '|---|---|', ...rows].join('\n')
}

function optionRow(name: OptionName): string {
  const { sentence, default: value, isSecret } = OPTIONS[name]
  const kind = OPTIONS[name].kind as ValueKind<unknown> // Prints only the default of its own row.
  const shown = name === 'dataDir' ? '`hookline paths`' : `\`${kind.print(value)}\``
  const flag = isSecret ? '–' : `\`${flagOf(name)}\``
  return `| ${flag} | \`${environmentOf(name)}\` | ${shown} | ${sentence} |`
}

function settingRow(name: SettingName): string {
  const value = printSetting(name, defaultSetting(name))
  return `| \`${name}\` | \`${value}\` | ${SETTINGS[name].sentence} |`
}

if (import.meta.main) await Bun.write(COMMAND_LINE_GUIDE, commandLineGuide())
