import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { COMMANDS } from '../../src/cli/commands.ts'
import { environmentOf, flagOf, OPTION_NAMES } from '../../src/config.ts'
import { SETTING_NAMES } from '../../src/domain/setting.ts'
import { ROOT } from '../support/source-files.ts'

test('the README names every command', () => {
  const missing = COMMANDS.map((command) => command.name).filter((name) => !isTold(name))

  expect(missing).toEqual([])
})

test('the README names every option, as a flag and in the environment, and every setting', () => {
  const options = OPTION_NAMES.flatMap((name) => [flagOf(name), environmentOf(name)])

  const missing = [...options, ...SETTING_NAMES].filter((name) => !isTold(name))

  expect(missing).toEqual([])
})

function isTold(name: string): boolean {
  return readFileSync(`${ROOT}/README.md`, 'utf8').includes(name)
}
