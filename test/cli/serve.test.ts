// `hookline serve` from its first line to its last; what the relay does meanwhile is tested elsewhere.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { on } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { hookline } from '../support/executable.ts'
import { RelayProcess, type ApiKey } from '../support/relay-process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'
import { serveAtTerminal } from './terminal.ts'

/** Starts a second relay where something is in its way. */
function serve(folder: ScratchFolder, port = 0) {
  return hookline(['serve', '--port', String(port)], { HOOKLINE_DATA_DIR: folder.path })
}

test('without a terminal it makes neither key nor link, says how to get them, and logs JSON lines', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  const keys = await on(folder, 'keys list --json')
  const exitCode = await relay.end()
  const log = await eventually('the log names a link', () =>
    relay.log.includes('link') ? relay.log : null,
  )
  const lines = log.trimEnd().split('\n')
  const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message)

  expect(exitCode).toBe(0)
  expect(messages).toContain('no API key yet: create one with "hookline keys create"')
  expect(messages.join()).toContain('get a link with "hookline setup-link"')
  expect(log).not.toContain('/#/setup/')
  expect(JSON.parse(keys.stdout)).toMatchObject({ data: [] })
})

test('a key that the command line makes and revokes counts at once', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })
  const made = await on(folder, 'keys create --json')
  const { id, key, secret } = JSON.parse(made.stdout) as ApiKey // As the API answers.
  const headers = { 'x-api-key': key, 'x-api-secret': secret }
  const ask = async () => (await fetch(`${relay.url}/api/v1/phone-lines`, { headers })).status

  const before = await ask()
  await on(folder, `keys revoke ${id}`)

  expect([before, await ask()]).toEqual([200, 401])
})

test('a second relay on the same data is refused and names who has them', async () => {
  using folder = new ScratchFolder()
  await using relay = await RelayProcess.start({ dataDir: folder.path })

  const second = await serve(folder)

  expect([second.exitCode, second.stdout]).toEqual([1, ''])
  expect(second.stderr).toContain(`a relay, process ${relay.pid}, since `)
})

test('a relay is refused though nobody holds the lock, as long as another one answers', async () => {
  using folder = new ScratchFolder()
  using _relay = new FakeRelay(folder.path, () => Response.json({}))

  const second = await serve(folder)

  expect(second.exitCode).toBe(1)
  expect(second.stderr).toContain('A relay is already running on')
})

test('a lock file that is garbage is named, with what to do', async () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('hookline.lock'), 'garbage '.repeat(1_000), { mode: 0o600 })

  const started = await serve(folder)

  expect(started.exitCode).toBe(78)
  expect(started.stderr).toContain('hookline.lock is not a Hookline lock file')
})

test('a port that is taken is reported in one line, and so is each bad option', async () => {
  using folder = new ScratchFolder()
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })

  const run = await serve(folder, taken.port)
  await taken.stop(true)
  const bad = await hookline(['serve', '--port', 'x'], { HOOKLINE_SEND_WAIT: '1' })

  expect(run.exitCode).toBe(1)
  expect(run.stderr.split('\n').filter((line) => line.startsWith('hookline:')).length).toBe(1)
  expect(run.stderr).toContain(String(taken.port))
  expect(run.stderr).not.toContain('    at ')
  expect([bad.exitCode, bad.stdout, bad.stderr.trimEnd().split('\n').length]).toEqual([2, '', 2])
})

const LINK_LINE = /dashboard +http:\/\/127\.0\.0\.1:[0-9]+\/#\/setup\/([A-Za-z0-9_-]+) /

test('the first start at a terminal shows a key once, each one without a password another link, in 8 lines at most', async () => {
  using folder = new ScratchFolder()

  const first = await serveAtTerminal(folder)
  const second = await serveAtTerminal(folder)
  const claimed = await serveAtTerminal(folder, { HOOKLINE_ADMIN_PASSWORD: 'correct horse' })

  const [banner = '', key = ''] = first.split('\n\nYour first API key:\n')
  const links = [first, second].map((seen) => LINK_LINE.exec(seen)?.[1] ?? '')
  // Lines of the log, which may come first, begin with a time.
  expect(banner.replace(/^[^]*?(?=^Hookline)/m, '').split('\n').length).toBeLessThanOrEqual(8)
  expect(key).toMatch(/X-API-Secret +hl_secret_[\w-]{43}\n/)
  expect(links.map((link) => link.length)).toEqual([43, 43])
  expect(links[0]).not.toBe(links[1] ?? '')
  for (const seen of [second, claimed]) {
    expect(seen).toContain('hookline listening on')
    expect(seen).not.toContain('hl_secret_')
  }
  expect(claimed).not.toContain('setup')
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
