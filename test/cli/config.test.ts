import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'

import { hookline, on } from '../support/command-line.ts'
import { RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'

const URL_OF_MONITOR = 'https://monitor.example/ping/s3cret'

/** The rows of these names as `--json` prints them. */
function rowsOf(stdout: string, ...names: readonly string[]): unknown {
  const { data } = JSON.parse(stdout) as { data: { name: string }[] } // The command's own.
  return data.filter(({ name }) => names.includes(name))
}

test('config shows each value and where it comes from, and makes no database for that', async () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('hookline.env'), 'HOOKLINE_PORT=5000\n')
  const environment = { HOOKLINE_DATA_DIR: folder.path, HOOKLINE_OPEN_METRICS: 'true' }

  const { stdout } = await hookline('config --json', environment)

  expect(rowsOf(stdout, 'host', 'port', 'open_metrics', 'backups_kept')).toEqual([
    { name: 'host', value: '127.0.0.1', from: 'default' },
    { name: 'port', value: '5000', from: 'hookline.env: HOOKLINE_PORT' },
    { name: 'open_metrics', value: 'true', from: 'HOOKLINE_OPEN_METRICS' },
    { name: 'backups_kept', value: '7', from: 'default' },
  ])
  expect(existsSync(folder.file('hookline.db'))).toBe(false)
})

test('config shows no default that matters only on another system; --json has all', async () => {
  using folder = new ScratchFolder()
  const environment = { HOOKLINE_DATA_DIR: folder.path, HOOKLINE_MAC_OPEN: '/opt/open' }

  const shown = await hookline('config', environment)
  const all = await hookline('config --json', environment)

  const isMac = process.platform === 'darwin'
  const printed = (name: string) => new RegExp(`^${name} `, 'm').test(shown.stdout)
  expect(['mac', 'mac-osascript', 'iphone-xcodebuild'].map(printed)).toEqual([isMac, isMac, isMac])
  expect(['mac-open', 'iphone', 'port', 'open_metrics'].map(printed)).not.toContain(false)
  expect(shown.stdout.includes('defaults for other systems')).toBe(!isMac)
  expect(rowsOf(all.stdout, 'mac-osascript')).toEqual([
    { name: 'mac-osascript', value: '/usr/bin/osascript', from: 'default' },
  ])
})

test('the address of the heartbeat is set whole in the file, and printed without what may be a key', async () => {
  using folder = new ScratchFolder()

  const set = await on(folder, `config set heartbeat_url ${URL_OF_MONITOR}`)
  const shown = await on(folder, 'config --json')

  const stdout = 'Set heartbeat_url to https://monitor.example/….\n'
  expect(set).toEqual({ exitCode: 0, stdout, stderr: '' })
  expect(rowsOf(shown.stdout, 'heartbeat_url')).toEqual([
    { name: 'heartbeat_url', value: 'https://monitor.example/…', from: 'database' },
  ])
})

test('an address from the environment is hidden as well, and reaches the relay whole', async () => {
  using folder = new ScratchFolder()
  const told = { name: 'heartbeat_url', value: URL_OF_MONITOR, from: 'database', is_locked: false }
  const relay = new FakeRelay(folder.path, () => Response.json(told))

  const set = await on(folder, `config set heartbeat_url ${URL_OF_MONITOR}`)
  relay[Symbol.dispose]()
  const shown = await hookline('config', {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_HEARTBEAT_URL: URL_OF_MONITOR,
  })

  expect(relay.asked[0]?.body).toEqual({ value: URL_OF_MONITOR })
  expect(set.stdout + shown.stdout).not.toContain('s3cret')
  expect(shown.stdout).toMatch(
    /^heartbeat_url +https:\/\/monitor\.example\/… +HOOKLINE_HEARTBEAT_URL$/m,
  )
  expect(shown.stdout).toContain('No relay is running.')
})

test('what a running relay was started with is reported, not what this shell would start', async () => {
  using folder = new ScratchFolder()
  const options = {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_SIMULATED_LINES: '2',
    HOOKLINE_ADMIN_PASSWORD: 'a password that nobody guesses',
  }
  await using _relay = await RelayProcess.start({ dataDir: folder.path, environment: options })

  const shown = await on(folder, 'config')

  expect(shown.stdout).toMatch(/^port +0 +--port$/m)
  expect(shown.stdout).toMatch(/^simulated-lines +2 +HOOKLINE_SIMULATED_LINES$/m)
  expect(shown.stdout).toMatch(/^admin-password +\(hidden\) +HOOKLINE_ADMIN_PASSWORD$/m)
  expect(shown.stdout).not.toContain('No relay is running.')
})

test('a relay in safe mode shows no options: those of this shell are named as such', async () => {
  using folder = new ScratchFolder()
  const answer = { error: { code: 'starting', message: 'The relay is in safe mode.' } }
  using _relay = new FakeRelay(folder.path, () => Response.json(answer, { status: 503 }))
  await Bun.write(folder.file('hookline.db'), '')

  const shown = await hookline('config', {
    HOOKLINE_DATA_DIR: folder.path,
    HOOKLINE_PORT: '4700',
  })

  expect(shown.exitCode).toBe(0)
  expect(shown.stdout).toMatch(/^port +4700 +HOOKLINE_PORT$/m)
  expect(shown.stdout).toContain('The relay serves nothing: see hookline status. These are the')
})
