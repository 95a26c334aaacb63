// To whom else a caller of a relay could hand its key: a proxy of the environment, and the target of a redirect.

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'

import { ControlClient } from '../../src/cli/control-client.ts'
import { ownAddresses } from '../../src/system/network-address.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

// Programs are started, which a busy machine is slow at.
setDefaultTimeout(60_000)

const VARIABLES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NO_PROXY', 'no_proxy']
const CREDENTIALS = { 'x-api-key': 'hl_live_a', 'x-api-secret': 'hl_secret_a' }
const before = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]))
const folder = new ScratchFolder()

/** What the proxy was given. */
const seen: string[] = []
const proxy = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url, headers }) => {
    seen.push(`${url} ${headers.get('x-api-secret')}`)
    return new Response('<h1>Bad gateway</h1>', { status: 502 })
  },
})
const relay = Bun.serve({
  hostname: '0.0.0.0',
  port: 0,
  fetch: ({ headers }) =>
    Response.json({ id: headers.get('x-api-key'), scopes: [], status: 'ok', data: [] }),
})
const PROXY = `http://127.0.0.1:${proxy.port}`

beforeAll(() => VARIABLES.forEach((name) => delete process.env[name]))
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name]
  seen.length = 0
})
afterAll(async () => {
  for (const name of VARIABLES) if (before[name] !== undefined) process.env[name] = before[name]
  folder[Symbol.dispose]()
  await Promise.all([proxy.stop(true), relay.stop(true)])
})

function clientAt(host: string, port: number | string | undefined = relay.port): ControlClient {
  const url = `http://${host}:${port}`
  return new ControlClient({ url, headers: CREDENTIALS, environment: process.env })
}

const HERE = ['127.0.0.1', '127.9.9.9', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]']
for (const variable of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) {
  test(`a relay of this machine is called directly, whatever proxy ${variable} names`, async () => {
    process.env[variable] = PROXY
    const addresses = ownAddresses().flatMap(({ address }) =>
      address.includes(':') ? [] : [address],
    )

    for (const host of [...HERE, ...addresses]) {
      const key: object = await clientAt(host).ask('getOwnKey')
      expect(key).toMatchObject({ id: 'hl_live_a' })
    }

    expect(seen).toEqual([])
  })
}

test('an answer that a proxy gave for a relay elsewhere names the proxy and the way around it', async () => {
  process.env['HTTP_PROXY'] = PROXY

  const asking = clientAt('relay.invalid').ask('getOwnKey')

  await expect(asking).rejects.toThrow(
    `The answer with status 502 is not one of the relay. The request went through the proxy that HTTP_PROXY names. If relay.invalid can be reached without it, add relay.invalid to NO_PROXY.`,
  )
  expect(seen).toEqual([`http://relay.invalid:${relay.port}/api/v1/keys/self hl_secret_a`])
})

test('a redirect is named and not followed: where it leads is given no key', async () => {
  const redirecting = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.redirect(PROXY),
  })

  const asking = clientAt('127.0.0.1', redirecting.port).ask('getOwnKey')

  await expect(asking).rejects.toThrow(`redirects to ${PROXY}/, which is given no key`)
  expect(seen).toEqual([])
  await redirecting.stop(true)
})

test('a proxy that nobody listens on is named, and a host in NO_PROXY is called without one', async () => {
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:1'
  const through = clientAt('relay.invalid').ask('getOwnKey')
  await expect(through).rejects.toThrow('the proxy that HTTP_PROXY names')

  process.env['NO_PROXY'] = 'elsewhere.invalid, .invalid'
  const direct = await clientAt('relay.invalid')
    .ask('getOwnKey')
    .catch((error: unknown) => String(error))

  expect(direct).not.toContain('HTTP_PROXY')
})

const PROGRAMS = {
  python: (url: string) => [
    'python3',
    '-c',
    `from hookline import Hookline; print(Hookline("${url}", "hl_live_a", "s").get_own_key(patience=0)["id"])`,
  ],
  typescript: (url: string) => [
    process.execPath,
    '-e',
    `import { Hookline } from './hookline.ts'
     const relay = new Hookline({ url: '${url}', key: 'hl_live_a', secret: 's' })
     console.log((await relay.getOwnKey({ patienceMs: 0 })).id)`,
  ],
} as const

for (const language of ['python', 'typescript'] as const) {
  test(`a program with the ${language} client calls the relay of its machine directly`, async () => {
    const to = folder.file(language === 'python' ? 'hookline.py' : 'hookline.ts')
    const made = Bun.spawnSync([process.execPath, 'src/main.ts', 'client', language, '--out', to], {
      cwd: ROOT,
    })
    expect(made.exitCode).toBe(0)

    const program = Bun.spawn(PROGRAMS[language](`http://127.0.0.1:${relay.port}`), {
      cwd: folder.path,
      env: { ...process.env, HTTP_PROXY: PROXY, http_proxy: PROXY },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors] = await Promise.all([program.stdout.text(), program.stderr.text()])

    expect({ output: output.trim(), errors, seen }).toEqual({
      output: 'hl_live_a',
      errors: '',
      seen: [],
    })
  })
}
