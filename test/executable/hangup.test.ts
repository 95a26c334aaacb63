// A terminal that is closed, and a relay that was asked not to mind.

import { expect, test } from 'bun:test'

import { ApiClient, RelayProcess, createKey, temporaryDataDir } from '../support/relay-process.ts'

const SLOW_PERSON = '+12025550195'
const LINES = ['--simulated-lines', '1', '--send-wait', '60s']

test('a closed terminal ends the relay as SIGTERM does: who waits for a send is answered', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const relay = await RelayProcess.start({ dataDir: dir.path, arguments: LINES })
  const api = new ApiClient(() => relay.url, key)

  const waiting = api.request('POST', '/api/v1/messages/send', {
    body: { to: SLOW_PERSON, text: 'take your time' },
  })
  await api.request('GET', '/api/v1/keys')
  process.kill(relay.pid, 'SIGHUP')
  const exitCode = await relay.exited()

  expect((await waiting).status).toBe(202)
  expect(exitCode).toBe(0)
})

test('under nohup it goes on', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  await using relay = await RelayProcess.start({ dataDir: dir.path, under: ['nohup'] })
  const api = new ApiClient(() => relay.url, key)

  process.kill(relay.pid, 'SIGHUP')

  expect((await api.request('GET', '/api/v1/keys')).status).toBe(200)
  expect(await relay.end('SIGTERM')).toBe(0)
})
