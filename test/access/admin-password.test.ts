// The option that sets the dashboard's password: nobody reads it again.

import { expect, test } from 'bun:test'

import { SERVE_COMMAND } from '../../src/cli/loaded-commands.ts'
import { ConfigError, loadConfig } from '../../src/config.ts'

const PLACE = { flags: {}, defaultDataDir: '/srv/data', folder: '/srv' }

test('a password that does not fit is refused without being repeated', () => {
  const environment = { HOOKLINE_ADMIN_PASSWORD: '1234567' }

  const load = () => loadConfig({ ...PLACE, environment, readText: () => null })

  expect(load).toThrow(
    new ConfigError([
      'HOOKLINE_ADMIN_PASSWORD does not fit; it must be a password of 12 to 200 characters, or none.',
    ]),
  )
})

test('no flag takes the password: every user of the machine sees the flags of a process', () => {
  expect(SERVE_COMMAND.options?.map(({ name }) => name)).not.toContain('admin-password')
})
