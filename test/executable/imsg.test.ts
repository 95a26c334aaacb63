// `hookline imsg`, started as OpenClaw starts it: by a script that `hookline imsg install` wrote.

import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'

import { cleanEnvironment, hookline } from '../support/executable.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import type { Json } from '../support/test-relay.ts'

const SIMULATED = { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' }
const ANNA = '+12025550147'

async function run(program: string, args: readonly string[], input: readonly object[] = []) {
  const child = Bun.spawn([program, ...args], {
    env: cleanEnvironment({}),
    stdin: new Blob(input.map((each) => `${JSON.stringify(each)}\n`)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

test('the program that install writes passes OpenClaw’s probes, answers all requests, and ends with its input', async () => {
  using dir = temporaryDataDir()
  const owner = await createKey(dir.path)
  await using relay = await RelayProcess.start({ dataDir: dir.path, environment: SIMULATED })
  const api = new ApiClient(() => relay.url, owner)
  const made = await api.ask<{ connect: Record<string, string> }>('POST', '/api/v1/keys', {
    for: 'imsg',
  })
  const program = join(dir.path, 'hookline-imsg')
  const variables = String(made.connect['env']).split(' ')
  const environment = Object.fromEntries(variables.map((each) => each.split('=')))
  const installed = await hookline(['imsg', 'install', program], environment)

  const help = await run(program, ['rpc', '--help'])
  const status = await run(program, ['status', '--json'])
  const rich = await run(program, ['send-rich', '--help'])
  const attachment = await run(program, ['send-attachment', '--chat', 'x', '--json'])
  const send = { to: ANNA, text: 'Your table is ready.', service: 'auto', transport: 'auto' }
  const rpc = await run(
    program,
    ['rpc', '--json', '--db', '/nowhere'],
    [
      { jsonrpc: '2.0', id: 1, method: 'watch.subscribe', params: {} },
      { jsonrpc: '2.0', id: 2, method: 'send', params: send },
    ],
  )

  const answers: Json[] = rpc.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { data } = await api.ask<Json>('GET', '/api/v1/messages')
  expect(made.connect['command']).toBe('hookline imsg')
  expect([installed.exitCode, statSync(program).mode & 0o777]).toEqual([0, 0o700])
  expect(help.exitCode).toBe(0)
  expect(JSON.parse(status.stdout)).toMatchObject({ advanced_features: false, v2_ready: false })
  expect(JSON.parse(status.stdout).rpc_methods).toContain('send.tracked')
  expect(rich.exitCode).not.toBe(0)
  expect(attachment.stderr).toContain('Unknown command')
  expect([rpc.exitCode, rpc.stderr]).toEqual([0, ''])
  expect(answers.filter(({ id }) => id !== undefined)).toMatchObject([
    { id: 1, result: { subscription: 1 } },
    { id: 2, result: { ok: true, send_state: 'sent' } },
  ])
  expect(data).toMatchObject([{ to: ANNA, text: 'Your table is ready.' }])
}, 180_000)

test.each([
  ['without an address', {}, 'HOOKLINE_URL must be'],
  ['without a key', { HOOKLINE_URL: 'http://127.0.0.1:1' }, 'hookline keys create --for imsg'],
])('%s the child says what is missing', async (_, environment, says) => {
  const { exitCode, stdout, stderr } = await hookline(['imsg', 'rpc'], environment)

  expect([exitCode, stdout, stderr.includes(says)]).toEqual([2, '', true])
})

test('it refuses to be named imsg, because OpenClaw then looks for a database beside it', async () => {
  const environment = { HOOKLINE_URL: 'http://127.0.0.1:1', HOOKLINE_KEY: 'a:b' }

  const { exitCode, stderr } = await hookline(['imsg', 'install', '/tmp/imsg'], environment)

  expect([exitCode, stderr.includes('another name than imsg')]).toEqual([2, true])
})
