import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { COMMANDS } from '../../src/cli/commands.ts'
import { optionsOf } from '../../src/config.ts'
import { environmentOf, flagOf, type Option } from '../../src/domain/option.ts'
import {
  defaultSetting,
  printSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
} from '../../src/domain/setting.ts'
import { ROOT } from '../support/source-files.ts'

test('the README names every command with its sentence', () => {
  const rows = COMMANDS.map(({ name, sentence }) => `| \`hookline ${name}\` | ${sentence} |`)

  expect(rows.filter((row) => !isTold(row))).toEqual([])
})

test('the README tells every option and setting, with its default, as the code has it', () => {
  const rows = [...Object.entries(optionsOf()).map(optionRow), ...SETTING_NAMES.map(settingRow)]

  expect(rows.filter((row) => !isTold(row))).toEqual([])
})

function optionRow([key, option]: [string, Option<unknown>]): string {
  const { kind, sentence, default: value, isSecret } = option
  const told = key === 'dataDir' ? 'see above' : `\`${kind.print(value)}\``
  const flag = isSecret ? '–' : `\`${flagOf(option)}\``
  return `| ${flag} | \`${environmentOf(option)}\` | ${told} | ${sentence} |`
}

function settingRow(name: SettingName): string {
  const value = printSetting(name, defaultSetting(name))
  return `| \`${name}\` | \`${value}\` | ${SETTINGS[name].sentence} |`
}

function isTold(row: string): boolean {
  return readFileSync(`${ROOT}/README.md`, 'utf8').includes(row)
}
