// The option that sets the dashboard's password: nobody reads it again.

import { expect, test } from 'bun:test'

import { SERVE_COMMAND } from '../../src/cli/serve.ts'
import { ConfigError, loadConfig } from '../../src/config.ts'

const PLACE = { flags: {}, defaultDataDir: '/srv/data', folder: '/srv' }

test('it can lie in a file of its own, and is not printed', () => {
  const environment = { HOOKLINE_ADMIN_PASSWORD_FILE: 'password' }
  const readText = (path: string) => (path === '/srv/password' ? 'correct horse\n' : null)

  const { config, rows } = loadConfig({ ...PLACE, environment, readText })

  expect(config.adminPassword).toBe('correct horse')
  expect(rows).toContainEqual({
    name: 'admin-password',
    value: '(hidden)',
    from: 'HOOKLINE_ADMIN_PASSWORD_FILE',
  })
  expect(JSON.stringify(rows)).not.toContain('correct horse')
})

test('one that does not fit is refused without being told', () => {
  const environment = { HOOKLINE_ADMIN_PASSWORD: '1234567' }

  const load = () => loadConfig({ ...PLACE, environment, readText: () => null })

  expect(load).toThrow(
    new ConfigError([
      'HOOKLINE_ADMIN_PASSWORD does not fit; it must be a password of 12 to 200 characters, or none.',
    ]),
  )
})

test('no flag takes it: every user of the machine sees the flags of a process', () => {
  expect(SERVE_COMMAND.options?.map(({ name }) => name)).not.toContain('admin-password')
})
