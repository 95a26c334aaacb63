// `hookline serve` from its first line to its last; what the relay does meanwhile is told elsewhere.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { hookline } from '../support/executable.ts'
import { eventually, RelayProcess } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { serveAtTerminal } from './terminal.ts'

test('it says where it listens, answers there, and ends with 0 on SIGTERM', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  const { status } = await fetch(`${relay.url}/healthz`)
  const exitCode = await relay.end('SIGTERM')

  expect(relay.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/)
  expect([status, exitCode]).toEqual([200, 0])
})

test('without a terminal it makes no key, says how to make one, and logs JSON lines', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  const keys = await hookline(['keys', 'list', '--json'], { HOOKLINE_DATA_DIR: folder.path })
  const messages = await eventually('a log that tells of the key', () => {
    const lines = relay.log.split('\n').slice(0, -1)
    const told = lines.map((line) => (JSON.parse(line) as { message: string }).message)
    return told.some((message) => message.includes('key')) ? told : null
  })

  expect(messages).toContain('no API key yet: create one with "hookline keys create"')
  expect(JSON.parse(keys.stdout)).toMatchObject({ data: [] })
})

test('a key that the command line makes and revokes counts at once', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })
  const environment = { HOOKLINE_DATA_DIR: folder.path }
  const key = JSON.parse((await hookline(['keys', 'create', '--json'], environment)).stdout) as {
    id: string
    key: string
    secret: string
  }
  const headers = { 'x-api-key': key.key, 'x-api-secret': key.secret }
  const ask = async () => (await fetch(`${relay.url}/api/v1/phone-lines`, { headers })).status

  const before = await ask()
  await hookline(['keys', 'revoke', key.id], environment)
  const after = await ask()

  expect([before, after]).toEqual([200, 401])
})

test('a second relay on the same data is refused and told who has them', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  const second = await hookline(['serve', '--port', '0'], { HOOKLINE_DATA_DIR: folder.path })

  expect([second.exitCode, second.stdout]).toEqual([1, ''])
  expect(second.stderr).toContain(`a relay, process ${relay.pid}, since `)
})

test('a port that is taken is told in one line', async () => {
  using folder = new ScratchFolder()
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })

  const run = await hookline(['serve', '--port', String(taken.port), '--quiet'], {
    HOOKLINE_DATA_DIR: folder.path,
  })
  await taken.stop(true)

  expect(run.exitCode).toBe(1)
  expect(run.stderr.split('\n').filter((line) => line.startsWith('hookline:')).length).toBe(1)
  expect(run.stderr).toContain(String(taken.port))
  expect(run.stderr).not.toContain('    at ')
})

test('the first start at a terminal shows a key once, after a banner of 8 lines at most', async () => {
  using folder = new ScratchFolder()

  const first = await serveAtTerminal(folder)
  const second = await serveAtTerminal(folder)

  const [banner = '', key = ''] = first.split('\n\nYour first API key:\n')
  expect(banner.split('\n').length).toBeLessThanOrEqual(8)
  expect(key).toMatch(/X-API-Secret +hl_secret_[\w-]{43}\n/)
  expect(second).toContain('hookline listening on')
  expect(second).not.toContain('hl_secret_')
})

for (const [what, code, exitCode] of [
  ['a rejection', 'void Promise.reject(new Error("x"))', 70],
  ['an error', 'setTimeout(() => { throw new Error("x") })', 71],
] as const) {
  test(`${what} that nobody caught ends the process with ${exitCode}`, async () => {
    const module = join(import.meta.dir, '..', '..', 'src', 'system', 'own-process.ts')
    const script = `import { exitOnCrash } from ${JSON.stringify(module)}
      exitOnCrash((message, error) => console.error(message, error.message))
      ${code}
      setInterval(() => {}, 1000)`

    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })

    expect(await child.exited).toBe(exitCode)
    expect(await new Response(child.stderr).text()).toMatch(
      /(unhandled rejection|uncaught exception) x\n$/,
    )
  })
}
