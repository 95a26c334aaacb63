// What a key for imsg may do, and agents that send by it.

import { expect, test } from 'bun:test'

import { ANNA, ATTEMPT, imsgKey, receive, startChild } from '../support/imsg-child.ts'
import { startScripted } from '../support/scripted-relay.ts'

test('a key for imsg calls the operations that imsg needs, below its own path, and no others', async () => {
  await using relay = await startScripted()
  const made = await imsgKey(relay, { scopes: ['messages:read', 'keys:write'] })
  const own = { 'x-api-key': String(relay.key?.key), 'x-api-secret': String(relay.key?.secret) }
  const imsg = { authorization: `Bearer ${made.key}:${made.secret}` }
  const call = async (method: string, path: string, headers: Record<string, string>) => {
    const body = method === 'POST' ? JSON.stringify({ to: ANNA, text: 'hello' }) : null
    const more = { 'content-type': 'application/json', ...headers }
    return (await relay.fetch(path, { method, headers: more, body })).status
  }

  const statuses = [
    await call('GET', '/compat/imsg/api/v1/conversations', imsg),
    await call('GET', '/compat/imsg/api/v1/conversations', own),
    await call('GET', '/compat/imsg/api/v1/conversations', {}),
    await call('GET', '/api/v1/conversations', imsg),
    await call('POST', '/compat/imsg/api/v1/messages/send', imsg),
    await call('POST', '/compat/imsg/api/v1/keys', imsg),
    await call('DELETE', '/compat/imsg/api/v1/messages/x', imsg),
  ]

  expect(statuses).toEqual([200, 401, 401, 401, 403, 404, 405])
})

test('while a person answers a conversation, nothing is sent into it, until it is handed back', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  await receive(relay, 1, 'Is there a table?')
  const [{ id }] = (await relay.get('/api/v1/conversations')).data
  const answer = { to: ANNA, text: 'Yes.' }

  await relay.patch(`/api/v1/conversations/${id}`, { automation_paused: true })
  const refused = [
    await child.ask('send', answer),
    await child.ask('send.tracked', { ...answer, attempt_id: ATTEMPT }),
  ]
  const during = relay.texts()
  await relay.patch(`/api/v1/conversations/${id}`, { automation_paused: false })
  await child.result('send', answer)

  for (const { error } of refused) {
    const detail = expect.stringContaining('A person answers')
    expect(error.data).toMatchObject({ disposition: 'not_started', detail })
  }
  expect([during, relay.texts()]).toEqual([[], ['Yes.']])
})
