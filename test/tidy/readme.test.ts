import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { COMMANDS } from '../../src/cli/commands.ts'
import {
  environmentOf,
  flagOf,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
} from '../../src/domain/option.ts'
import {
  defaultSetting,
  printSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from '../../src/domain/setting.ts'
import type { ValueKind } from '../../src/domain/value-kind.ts'
import { ROOT } from '../support/source-files.ts'

test('the README names every command with its sentence', () => {
  const rows = COMMANDS.map(({ name, sentence }) => `| \`hookline ${name}\` | ${sentence} |`)

  expect(rows.filter((row) => !isTold(row))).toEqual([])
})

test('the README tells every option and setting, with its default, as the code has it', () => {
  const rows = [...OPTION_NAMES.map(optionRow), ...SETTING_NAMES.map(settingRow)]

  expect(rows.filter((row) => !isTold(row))).toEqual([])
})

function optionRow(name: OptionName): string {
  const { sentence, default: value, isSecret } = OPTIONS[name]
  const kind = OPTIONS[name].kind as ValueKind<unknown> // Prints only the default of its own row.
  const told = name === 'dataDir' ? 'see above' : `\`${kind.print(value)}\``
  const flag = isSecret ? '–' : `\`${flagOf(name)}\``
  return `| ${flag} | \`${environmentOf(name)}\` | ${told} | ${sentence} |`
}

function settingRow(name: SettingName): string {
  const value = printSetting(name, defaultSetting(name))
  return `| \`${name}\` | \`${value}\` | ${SETTINGS[name].sentence} |`
}

function isTold(row: string): boolean {
  return readFileSync(`${ROOT}/README.md`, 'utf8').includes(row)
}
