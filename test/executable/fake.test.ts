// `hookline fake` as its users start it: the built executable, as a child that prints where it is.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { hookline } from '../support/executable.ts'
import { mapPort, startFake } from '../support/fake-process.ts'
import type { Json } from '../support/test-relay.ts'

test('it needs no home, no option of a relay and no file, and ends on SIGTERM', async () => {
  // A process that may write nothing to a file dies if it tries.
  const script = 'ulimit -f 0; exec "$0" fake --port 0 --print json'
  const { child, ready, call } = await startFake(script)

  const body = { to: '+12025550123', text: 'Hello' }
  const sent = await call('POST', '/api/v1/messages/send', { body })
  child.kill('SIGTERM')

  expect(ready).toMatchObject({
    key: 'fake_live_hookline',
    secret: 'fake_secret_hookline',
    webhook_secret: 'whsec_aG9va2xpbmUgZmFrZSB3ZWJob29rIHNlY3JldCAwMDE=',
    lines: ['+12025550101', '+12025550102'],
  })
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ''])
}, 60_000)

test('it ends with the program that started it, unless it is asked to stay', async () => {
  const orphan = await startFake('"$0" fake --port 0 --print json & read line')
  const stays = await startFake('"$0" fake --port 0 --print json --stay & echo $! >&2; read line')
  const pid = await pidIn(stays.child.stderr)

  for (const { child } of [orphan, stays]) await child.stdin.end()
  await Promise.all([orphan.child.exited, stays.child.exited])
  await ended(orphan.ready.url)
  const answer = await fetch(`${stays.ready.url}/healthz`)
  process.kill(pid)

  expect(answer.status).toBe(200)
  await ended(stays.ready.url)
}, 60_000)

test('it ends if the program that started it had ended before, unless it is asked to stay', async () => {
  // In a session of its own, as a runner of jobs makes one, its starter ends; then the fake begins, and says its pid.
  const late = (option: string) =>
    startFake(`setsid sh -c '(
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
  const { child, ready } = await startFake('exec "$0" fake --port 0 --print json')
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

test('behind a mapped port, what it says of its own address leads to it there', async () => {
  const { child, ready, call } = await startFake(
    'exec "$0" fake --host 0.0.0.0 --port 0 --print json',
  )
  const { port } = new URL(ready.url)
  using mapped = await mapPort(Number(port))
  const ask = (method: string, path: string, body?: object) =>
    call(method, path, { body, url: mapped.url })
  const hook = { url: 'http://127.0.0.1:9/', events: ['message.received'] }
  await ask('POST', '/api/v1/webhooks', { ...hook, attachment_links: true })
  await ask('POST', '/api/v1/webhooks', { ...hook, format: 'twilio' })
  // The health check of its image calls it inside.
  await hookline(['status', '--or-fake', port, '--data-dir', '/proc/none'])

  await ask('POST', '/api/v1/messages/send', { to: '+12025550188', text: 'A picture?' })
  const calls = await ask('GET', '/api/v1/simulated/webhook-calls?count=2&wait=20s')
  const document = await ask('GET', '/swagger/json')
  const key = await ask('POST', '/api/v1/keys', { name: 'Door', for: 'sms' })

  const urls = calls.body.data.map(({ body, json }: Json) =>
    json === body
      ? new URLSearchParams(body).get('MediaUrl0')
      : json.message.attachments[0].download_url,
  )
  const { account_sid: sid, auth_token: token } = ready.connect.twilio
  const headers = { authorization: `Basic ${btoa(`${sid}:${token}`)}` }
  const files = await Promise.all(urls.map((url: string) => fetch(url, { headers })))
  child.kill('SIGTERM')
  const said = [...urls, document.body.servers[0].url, key.body.connect.url]
  expect(said.map((url: string) => new URL(url).origin)).toEqual(Array(4).fill(mapped.url))
  expect(files.map((file) => file.headers.get('content-type'))).toEqual(Array(2).fill('image/jpeg'))
}, 60_000)

test('it refuses a data directory, and options of devices', async () => {
  const withData = await hookline(['fake', '--data-dir', '/tmp/x'])
  const withDevice = await hookline(['fake', '--mac-lines', '1'])

  expect([withData.exitCode, withDevice.exitCode]).toEqual([2, 2])
  expect(withData.stderr).toContain('hookline fake keeps nothing')
  expect(withDevice.stderr).toContain('Unknown option --mac-lines')
})
