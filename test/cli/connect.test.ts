// `hookline connect`, beside a stand-in for the relay.

import { expect, test } from 'bun:test'

import { COMPAT_APIS } from '../../src/compat/apis.ts'
import { PROGRAMS, type KeyProgram } from '../../src/compat/programs.ts'
import { runBeside as run, type Asked } from './fake-relay.ts'

const LINE = { id: 'line_a', phone_number: '+12025550101' }
const MADE = { id: 'key_a', key: 'hl_live_a', secret: 'hl_secret_b' }

/** The answers of a relay whose key is used at its `used`th reading. */
function relayWith({ used = 1, connect = {} }: { used?: number; connect?: object } = {}) {
  let readings = 0
  return ({ method, path }: Asked) => {
    if (method === 'POST' && path.endsWith('/keys')) return { ...MADE, connect }
    if (path.includes('/keys')) {
      readings += 1
      const last_used_at = readings < used ? null : '2026-11-27T10:00:00Z'
      return { data: [{ id: 'key_a', last_used_at }] }
    }
    if (path.includes('/webhook'))
      return { id: 'wh_a', url: 'https://a.example/', secret: 'whsec_a' }
    if (path.includes('/messages')) return { id: 'msg_a', status: 'sent', error: null }
    return { data: [LINE] }
  }
}

test('the programs fit a terminal of 80 columns, and are listed whole for machines', async () => {
  const { stdout } = await run('connect', {})
  const { stdout: json } = await run('connect --json', {})

  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(JSON.parse(json).data.map(({ name }: { name: string }) => name)).toEqual(
    PROGRAMS.map(({ name }) => name),
  )
})

test('Uptime Kuma gets a key that writes only to the numbers of its owner, and its fields', async () => {
  const { stdout, asked } = await run(
    'connect uptime-kuma --to +12025550123 --address http://10.0.0.5:4665',
    relayWith(),
  )

  expect(asked.at(-1)?.body).toEqual({
    name: 'Uptime Kuma',
    scopes: ['messages:send'],
    for: 'sms',
    rules: { recipients: 'list', allow: ['+12025550123'] },
  })
  expect(stdout).toContain('Server URL:\n  http://10.0.0.5:4665/compat/sms\n')
  expect(stdout).toContain('API Key:\n  hl_live_a:hl_secret_b\n')
  expect(stdout).toContain('Recipients:\n  +12025550123\n')
})

test('before a key is made, a program without a number is refused with an example', async () => {
  const { exitCode, stderr, asked } = await run('connect apprise', relayWith())

  expect(exitCode).toBe(2)
  expect(stderr).toContain('Apprise may write only to numbers that you name')
  expect(stderr).toContain('--to +12025550123')
  expect(asked).toEqual([])
})

test('a test goes to the first number, and its outcome is said', async () => {
  const { stdout, asked } = await run(
    'connect grafana --to +12025550123,+12025550124 --test',
    relayWith(),
  )

  const sent = asked.find(({ path }) => path.includes('/messages'))
  expect(sent?.body).toMatchObject({ to: '+12025550123' })
  expect(stdout).toContain('The test text to +12025550123 is sent (msg_a).')
})

test('with --wait, the first call of the program is said', async () => {
  const { stdout, exitCode } = await run('connect n8n --wait 60', relayWith({ used: 2 }))

  expect(stdout).toContain('n8n is connected: it called for the first time.')
  expect(exitCode).toBe(0)
})

test('a program that does not call in time ends the wait with 1, and its key goes on', async () => {
  const { stdout, exitCode } = await run('connect n8n --wait 1 --json', relayWith({ used: 1_000 }))

  const [made, waited] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(made).toMatchObject({ program: 'n8n', key: MADE })
  expect(made.enter.map(({ field }: { field: string }) => field)).toEqual([
    'URL',
    'Custom Auth',
    'JSON body',
  ])
  expect(waited).toEqual({ id: 'key_a', first_call_at: null })
  expect(exitCode).toBe(1)
})

test('a webhook is added, tested, and its secret shown', async () => {
  const { stdout, asked } = await run('connect webhook --url a.example --test', relayWith())

  expect(asked[0]?.body).toMatchObject({ url: 'https://a.example' })
  expect(asked.map(({ path }) => path.replace('/api/v1', ''))).toEqual([
    '/webhooks',
    '/webhooks/wh_a/test',
  ])
  expect(stdout).toContain('Signing secret:\n  whsec_a\n')
  expect(stdout).toContain('A test event is on its way.')
})

test('every program has its place, its guide and values, and none has a key without a limit on scopes', async () => {
  const [url, key, secret] = ['https://relay.example', 'KEY', 'SECRET']
  const valuesFor = (program: KeyProgram) => {
    const api = COMPAT_APIS.find(({ name }) => name === program.api)
    const connect = api?.connect({ url, key, secret, numbers: ['+12025550101'] }) ?? {}
    const made = { relay: url, key, secret, connect, people: ['+12025550123'] }
    return program.enter(made).map(([, value]) => value)
  }

  const values = PROGRAMS.flatMap((program) =>
    program.makes === 'key' ? valuesFor(program).join('\n') : [],
  )
  const scopes = PROGRAMS.map((program) => (program.makes === 'key' ? program.scopes.length : 1))

  expect(values.filter((text) => text.includes('KEY') && text.includes('SECRET'))).toEqual(values)
  expect(values.filter((text) => text.includes('relay.example'))).toEqual(values)
  expect(Math.min(...scopes)).toBeGreaterThan(0)
})
