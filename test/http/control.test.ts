import { expect, test } from 'bun:test'

import { startHttp } from './http-relay.ts'

test('what only the owner does exists on the control socket only', async () => {
  await using rig = await startHttp()

  const answers = await Promise.all([
    rig.call('POST', '/api/v1/phone-lines/line_y/adopt', { body: { from: 'line_x' } }),
    rig.call('GET', '/api/v1/settings'),
    rig.call('PUT', '/api/v1/settings/open_metrics', { body: { value: 'on' } }),
    rig.call('POST', '/api/v1/backup', { body: {} }),
  ])

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

test('the control socket asks for no key: a setting is set, a backup and a link made, a line adopted', async () => {
  await using rig = await startHttp()
  const ask = async (method: string, path: string, body: object) =>
    (await rig.control(method, `/api/v1${path}`, { body })).json()

  const answers = [
    await ask('PUT', '/settings/open_metrics', { value: 'on' }),
    await ask('POST', '/backup', { to: '/b.db', without_attachments: true }),
    await ask('POST', '/phone-lines/line_y/adopt', { from: 'line_x' }),
    await ask('POST', '/setup-link', {}),
  ]
  // Bad input is refused as everywhere.
  const refused = [
    await rig.control('PUT', '/api/v1/settings/x', { body: { value: 5 } }),
    await rig.control('GET', '/api/v1/settings?x=1'),
    await rig.control('POST', '/api/v1/backup', { body: { file: 'x' } }),
  ]
  const ofDashboard = await rig.control('GET', '/dashboard/session')

  expect(answers).toMatchObject([
    { name: 'open_metrics', value: 'true', from: 'database', is_locked: false },
    { path: '/b.db', size_bytes: 0 },
    { error: { code: 'not_found' } },
    // The public url of this relay.
    { url: expect.stringMatching(/^https:\/\/relay\.example\.com\/x\/#\/setup\//) },
  ])
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400])
  expect(ofDashboard.status).toBe(404)
})

test('the word that it may serve comes by the control socket only', async () => {
  const path = '/api/v1/judgement'
  const words: string[] = []
  const confirmHealthy = () => void words.push('may serve')
  await using rig = await startHttp({ phase: 'checking', parts: { confirmHealthy } })

  const outside = await rig.call('POST', path)
  const before = words.length
  const inside = await rig.control('POST', path)
  const other = await rig.control('GET', '/api/v1/settings')

  expect([outside.status, before]).toEqual([404, 0])
  expect([inside.status, words]).toEqual([200, ['may serve']])
  expect(other.status).toBe(503)
})
