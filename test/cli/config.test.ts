import { expect, test } from 'bun:test'

import { hookline } from '../support/executable.ts'
import { RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'

const URL_OF_MONITOR = 'https://monitor.example/ping/s3cret'

type Printed = { readonly data: readonly { readonly name: string }[] }

function rowOf(stdout: string): unknown {
  const { data } = JSON.parse(stdout) as Printed // What --json prints is the command's own.
  return data.find(({ name }) => name === 'heartbeat_url')
}

test('the address of the heartbeat is set whole and printed without what may be a key', async () => {
  using folder = new ScratchFolder()
  const environment = { HOOKLINE_DATA_DIR: folder.path }

  const set = await hookline(['config', 'set', 'heartbeat_url', URL_OF_MONITOR], environment)
  const shown = await hookline(['config', '--json'], environment)

  expect(set).toEqual({
    exitCode: 0,
    stdout: 'Set heartbeat_url to https://monitor.example/….\n',
    stderr: '',
  })
  expect(rowOf(shown.stdout)).toEqual({
    name: 'heartbeat_url',
    value: 'https://monitor.example/…',
    from: 'database',
  })
})

test('an address from the environment is hidden as well, and reaches the relay whole', async () => {
  using folder = new ScratchFolder()
  const told = { name: 'heartbeat_url', value: URL_OF_MONITOR, from: 'database', is_locked: false }
  using relay = new FakeRelay(folder.path, () => Response.json(told))
  const environment = { HOOKLINE_DATA_DIR: folder.path }

  const set = await hookline(['config', 'set', 'heartbeat_url', URL_OF_MONITOR], environment)
  relay[Symbol.dispose]()
  const locked = { ...environment, HOOKLINE_HEARTBEAT_URL: URL_OF_MONITOR }
  const shown = await hookline(['config'], locked)

  expect(relay.asked[0]?.body).toEqual({ value: URL_OF_MONITOR })
  expect(set.stdout + shown.stdout).not.toContain('s3cret')
  expect(shown.stdout).toMatch(
    /^heartbeat_url +https:\/\/monitor\.example\/… +HOOKLINE_HEARTBEAT_URL$/m,
  )
  expect(shown.stdout).toContain('No relay is running.')
})

test('what a running relay was started with is told, not what this shell would start', async () => {
  using folder = new ScratchFolder()
  const options = {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_SIMULATED_LINES: '2',
    HOOKLINE_ADMIN_PASSWORD: 'a password that nobody guesses',
  }
  await using relay = await RelayProcess.start({ dataDir: folder.path, environment: options })

  const shown = await hookline(['config'], { HOOKLINE_DATA_DIR: folder.path })

  expect(shown.stdout).toMatch(/^port +0 +--port$/m)
  expect(shown.stdout).toMatch(/^simulated-lines +2 +HOOKLINE_SIMULATED_LINES$/m)
  expect(shown.stdout).toMatch(/^admin-password +\(hidden\) +HOOKLINE_ADMIN_PASSWORD$/m)
  expect(shown.stdout).not.toContain('No relay is running.')
  expect(relay.pid).toBeGreaterThan(0)
})

test('a relay in safe mode shows no options: those of this shell are named as such', async () => {
  using folder = new ScratchFolder()
  const answer = { error: { code: 'starting', message: 'The relay is in safe mode.' } }
  using _relay = new FakeRelay(folder.path, () => Response.json(answer, { status: 503 }))
  await Bun.write(folder.file('hookline.db'), '')

  const shown = await hookline(['config'], {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_PORT: '4700',
  })

  expect(shown.exitCode).toBe(0)
  expect(shown.stdout).toMatch(/^port +4700 +HOOKLINE_PORT$/m)
  expect(shown.stdout).toContain('The relay serves nothing: see hookline status. These are the')
})
