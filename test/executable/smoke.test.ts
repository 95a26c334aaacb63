// The built executable, as a person who downloaded it has it: started from any folder, talked to over
// HTTP and by signals. What the parts do in detail is in the tests of the parts.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { eventually } from '../support/eventually.ts'
import { Receiver } from '../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

type Line = { readonly id: string; readonly phone_number: string; readonly status: string }
type Message = { readonly id: string; readonly status: string }

const PERSON = '+12025550123'
const SLOW_PERSON = '+12025550195'

test('the first message is sent, delivered and read, and the webhook gets all four events', async () => {
  using dir = temporaryDataDir()
  using receiver = new Receiver()
  const key = await createKey(dir.path)
  await using relay = await startWithLines(dir.path, 2)
  const api = new ApiClient(() => relay.url, key)
  const [first, second] = await onlineLines(api, 2)
  const events = ['message.received', 'message.sent', 'message.delivered', 'message.read']
  const hook = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', {
    url: receiver.url,
    events,
  })
  receiver.secret = hook.secret

  const told = await api.request('POST', '/api/v1/messages/send', {
    body: { to: PERSON, text: 'hello', phone_line_id: first?.id },
    headers: { 'Idempotency-Key': 'smoke-1' },
  })
  const toLine = { to: second?.phone_number, text: 'hi there', phone_line_id: first?.id }
  await api.ask('POST', '/api/v1/messages/send', toLine)
  const message = told.body as Message // Checked below.
  const read = await eventually('the message is read', async () => {
    const now = await api.ask<Message>('GET', `/api/v1/messages/${message.id}`)
    return now.status === 'read' ? now : null
  })
  await eventually('all events arrive', () =>
    seen().size === 4 && ofFirst().length === 3 ? true : null,
  )

  expect(told.status).toBe(200)
  expect(message).toMatchObject({ status: 'sent', service: 'iMessage', to: PERSON, text: 'hello' })
  expect(read.id).toBe(message.id)
  expect(ofFirst()).toEqual(['message.sent', 'message.delivered', 'message.read'])
  expect([...seen()].sort()).toEqual([...events].sort())
  expect(receiver.received.every((one) => one.isSigned)).toBe(true)

  function ofFirst(): readonly string[] {
    return receiver.received.filter((one) => one.message.id === message.id).map((one) => one.event)
  }
  function seen(): ReadonlySet<string> {
    return new Set(receiver.received.map((one) => one.event))
  }
})

test('SIGTERM ends it with 0, and what was answered before is there at the next start', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const relay = await startWithLines(dir.path, 1)
  const api = new ApiClient(() => relay.url, key)
  await onlineLines(api, 1)
  const sent = await api.ask<Message>('POST', '/api/v1/messages/send', { to: PERSON, text: 'one' })

  const exitCode = await relay.end('SIGTERM')
  await using again = await startWithLines(dir.path, 1)
  const kept = await new ApiClient(() => again.url, key).ask<Message>(
    'GET',
    `/api/v1/messages/${sent.id}`,
  )

  expect(exitCode).toBe(0)
  expect(relay.url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/)
  expect(kept.id).toBe(sent.id)
})

test('a send that takes longer than the wait is answered 202, not cut off', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  await using relay = await startWithLines(dir.path, 1, '--send-wait', '200ms')
  const api = new ApiClient(() => relay.url, key)
  await onlineLines(api, 1)

  const answer = await api.request('POST', '/api/v1/messages/send', {
    body: { to: SLOW_PERSON, text: 'take your time' },
  })

  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({ status: 'sending', to: SLOW_PERSON })
})

test('what lies in the folder it is started in changes nothing', async () => {
  using dir = temporaryDataDir()
  using folder = temporaryDataDir()
  const trace = join(folder.path, 'preloaded')
  await Bun.write(join(folder.path, '.env'), 'HOOKLINE_SIMULATED_LINES=7\n')
  await Bun.write(join(folder.path, 'bunfig.toml'), 'preload = ["./planted.ts"]\n')
  await Bun.write(join(folder.path, 'planted.ts'), `await Bun.write('${trace}', 'x')\n`)
  const key = await createKey(dir.path)

  await using relay = await RelayProcess.start({ dataDir: dir.path, folder: folder.path })
  const lines = await new ApiClient(() => relay.url, key).ask<{ data: Line[] }>(
    'GET',
    '/api/v1/phone-lines',
  )

  expect(lines.data).toEqual([])
  expect(existsSync(trace)).toBe(false)
})

test('an error that nobody caught is logged and ends the process with a failure', async () => {
  using dir = temporaryDataDir()
  using folder = temporaryDataDir()
  const planted = join(folder.path, 'planted.ts')
  await Bun.write(planted, "process.once('SIGUSR2', async () => { throw new Error('planted') })\n")

  const relay = await RelayProcess.start({
    dataDir: dir.path,
    environment: { BUN_OPTIONS: `--preload=${planted}` },
  })
  process.kill(relay.pid, 'SIGUSR2')
  const exitCode = await relay.exited()

  expect(exitCode).toBeGreaterThan(0)
  expect(relay.log).toContain('planted')
})

function startWithLines(dataDir: string, count: number, ...more: readonly string[]) {
  return RelayProcess.start({ dataDir, arguments: ['--simulated-lines', String(count), ...more] })
}

function onlineLines(api: ApiClient, count: number): Promise<readonly Line[]> {
  return eventually('the lines are online', async () => {
    const { data } = await api.ask<{ data: Line[] }>('GET', '/api/v1/phone-lines')
    return data.filter((line) => line.status === 'online').length === count ? data : null
  })
}
