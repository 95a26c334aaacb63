// `hookline fake` as its users start it: the built executable, as a child that prints where it is.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment, hookline } from '../support/executable.ts'
import type { Json } from '../support/test-relay.ts'

/** Starts it by a shell; resolves with what it prints when it is ready. */
async function start(script: string) {
  const child = Bun.spawn(['/bin/sh', '-c', script, builtExecutable()], {
    env: cleanEnvironment({ HOOKLINE_HOST: '256.0.0.1', HOOKLINE_DATA_DIR: '/proc/none' }),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(await new Response(child.stderr).text())
    text += new TextDecoder().decode(value)
  }
  return { child, ready: JSON.parse(text) }
}

const headersOf = ({ key, secret }: Json) => ({ 'x-api-key': key, 'x-api-secret': secret })

test('it needs no home, no option of a relay and no file, and ends on SIGTERM', async () => {
  // A process that may write nothing to a file dies if it tries.
  const { child, ready } = await start('ulimit -f 0; exec "$0" fake --port 0 --print json')

  const sent = await fetch(`${ready.url}/api/v1/messages/send`, {
    method: 'POST',
    headers: { ...headersOf(ready), 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+12025550123', text: 'Hello' }),
  })
  const { status } = (await sent.json()) as Json
  child.kill('SIGTERM')

  expect(ready).toMatchObject({
    key: 'fake_live_hookline',
    secret: 'fake_secret_hookline',
    webhook_secret: 'whsec_aG9va2xpbmUgZmFrZSB3ZWJob29rIHNlY3JldCAwMDE=',
    lines: ['+12025550101', '+12025550102'],
  })
  expect([sent.status, status]).toEqual([200, 'sent'])
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ''])
}, 60_000)

test('it ends with the program that started it, unless it is told to stay', async () => {
  const orphan = await start('"$0" fake --port 0 --print json & read line')
  const stays = await start('"$0" fake --port 0 --print json --stay & echo $! >&2; read line')
  const pid = await pidIn(stays.child.stderr)

  for (const { child } of [orphan, stays]) await child.stdin.end()
  await Promise.all([orphan.child.exited, stays.child.exited])
  await ended(orphan.ready.url)
  const answer = await fetch(`${stays.ready.url}/healthz`)
  process.kill(pid)

  expect(answer.status).toBe(200)
  await ended(stays.ready.url)
}, 60_000)

test('it ends if the program that started it had ended before, unless it is told to stay', async () => {
  // In a session of its own, as a runner of jobs makes one, its starter ends; then the fake begins, and says its pid.
  const late = (option: string) =>
    start(`setsid sh -c '(
      read pid rest </proc/self/stat; echo $pid >&2
      while kill -0 $$ 2>/dev/null; do sleep 0.05; done
      exec "$0" fake --port 0 --print json ${option}) &' "$0"`)
  const [orphan, stays] = [await late(''), await late('--stay')]
  const pid = await pidIn(stays.child.stderr)

  await ended(orphan.ready.url)
  const answer = await fetch(`${stays.ready.url}/healthz`)
  process.kill(pid)

  expect(answer.status).toBe(200)
  await ended(stays.ready.url)
}, 60_000)

async function pidIn(output: ReadableStream<Uint8Array>): Promise<number> {
  const { value } = await output.getReader().read()
  return Number.parseInt(new TextDecoder().decode(value), 10)
}

async function ended(url: string): Promise<void> {
  await eventually(`${url} ends`, async () => ((await fetch(url).catch(() => null)) ? null : true))
}

test('the health check of the image finds it, and fails once it has ended', async () => {
  const { child, ready } = await start('exec "$0" fake --port 0 --print json')
  const port = new URL(ready.url).port
  // As in the image, whose folder of data is empty and may not be writable.
  const check = () => hookline(['status', '--or-fake', port, '--data-dir', '/proc/none'])

  const running = await check()
  child.kill('SIGTERM')
  await child.exited
  const ended = await check()

  expect([running.exitCode, running.stdout]).toEqual([0, 'hookline fake is ready.\n'])
  expect(ended.exitCode).toBe(3)
}, 60_000)

test('it refuses a data directory, and options of devices', async () => {
  const withData = await hookline(['fake', '--data-dir', '/tmp/x'])
  const withDevice = await hookline(['fake', '--mac-lines', '1'])

  expect([withData.exitCode, withDevice.exitCode]).toEqual([2, 2])
  expect(withData.stderr).toContain('hookline fake keeps nothing')
  expect(withDevice.stderr).toContain('Unknown option --mac-lines')
})
