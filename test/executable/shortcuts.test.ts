// The built executable and the shortcuts of an iPhone, by plain HTTP as they call.

import { expect, test } from 'bun:test'

import { hookline } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'

const NUMBER = '+12025550147'
const FRIEND = '+12025550123'

type Listed = { readonly data: readonly { readonly status: string; readonly text: string }[] }

test('an iPhone gets its token from the command line, sends what it is given, and reports what comes in', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const added = await hookline(['bridges', 'add', NUMBER, '--json', '--data-dir', dir.path])
  const { token } = JSON.parse(added.stdout) as { token: string }
  await using relay = await RelayProcess.start({ dataDir: dir.path })
  const api = new ApiClient(() => relay.url, key)
  const call = async (path: string, body: object) => {
    const response = await fetch(`${relay.url}/bridge/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  const received = await call('receive', { id: 'a', from: FRIEND, text: 'hello' })
  const asking = call('next', {})
  const sent = api.request('POST', '/api/v1/messages/send', { body: { to: FRIEND, text: 'hi' } })
  const given = (await asking).body['message'] as { id: string; to: string; text: string }
  const noted = await call('done', { id: given.id, sent: true })
  const listed = await eventually('both messages are there', async () => {
    const { data } = await api.ask<Listed>('GET', '/api/v1/messages')
    return data.every(({ status }) => status !== 'sending') ? data : null
  })

  expect([received.status, noted.status]).toEqual([200, 200])
  expect(given).toEqual({ id: given.id, to: FRIEND, text: 'hi' })
  expect((await sent).status).toBe(200)
  expect(listed.map(({ status, text }) => [status, text])).toEqual([
    ['sent', 'hi'],
    ['received', 'hello'],
  ])
})
