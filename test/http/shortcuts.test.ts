// The routes of shortcuts as HTTP: what they refuse, and who may call them. What they do is in test/story.

import { expect, test } from 'bun:test'

import { issuesIn, startHttp, type More } from './http-relay.ts'

const MESSAGE = { id: 'a', from: '+12025550123', text: 'hello' }

/** A relay with one bridge, and the header of its shortcuts. */
async function startBridge() {
  const rig = await startHttp()
  const made = await rig.post('/api/v1/bridges', { phone_number: '+12025550147' })
  const token: string = made.body.token
  // The line of a new bridge runs after a few seconds.
  await rig.clock.advance(5_000)
  return { rig, token, bearer: { authorization: `Bearer ${token}` } }
}

test('a shortcut that asks may wait for longer than a connection may be silent', async () => {
  const { rig, bearer } = await startBridge()
  await using _rig = rig

  const asked = rig.call('POST', '/bridge/v1/next', { headers: bearer })
  await rig.clock.advance(25_000)

  expect(await (await asked).json()).toEqual({ message: null })
  expect(rig.lifted).toEqual([35])
})

test('a body that does not fit, is too large, or no JSON is refused like everywhere', async () => {
  const { rig, bearer } = await startBridge()
  await using _rig = rig
  const ask = (path: string, more: More) =>
    rig.call('POST', `/bridge/v1/${path}`, { ...more, headers: { ...bearer, ...more.headers } })

  const issues = await Promise.all(
    [
      await ask('receive', { body: { from: '', text: 'hello', id: 'x'.repeat(201) } }),
      await ask('receive', { body: { ...MESSAGE, form: '+12025550123' } }),
      await ask('done', { body: { id: 'msg_a', sent: 'yes' } }),
      await ask('next', { body: { wait: 60 } }),
    ].map(issuesIn),
  )
  const large = await ask('receive', { body: { ...MESSAGE, text: 'x'.repeat(5_000_000) } })
  const form = await ask('receive', { raw: 'a=1', headers: { 'content-type': 'text/plain' } })
  const byGet = await rig.call('GET', '/bridge/v1/next', { headers: bearer })

  expect(issues.map((each) => each.map(([path]) => path).sort())).toEqual([
    ['from', 'id'],
    ['form'],
    ['sent'],
    ['wait'],
  ])
  expect([large.status, form.status, byGet.status]).toEqual([413, 415, 405])
})

test('anything but the token in Authorization is 401, whatever else the request has', async () => {
  const { rig, token } = await startBridge()
  await using _rig = rig
  const wrong = ['', `Bearer hlb_${'b'.repeat(43)}`, token, `Basic ${token}`, `Bearer ${token}x`]

  const answers = await Promise.all(
    wrong.map((authorization) =>
      rig.call('POST', '/bridge/v1/receive', { body: MESSAGE, headers: { authorization } }),
    ),
  )
  const inAddress = await rig.call('POST', `/bridge/v1/next?token=${token}`)

  expect([...answers, inAddress].map(({ status }) => status)).toEqual(Array(6).fill(401))
  expect(rig.logged('authentication failed').length).toBe(1)
})

test('an iPhone reaches the relay under whatever name it has there, and never by the control socket', async () => {
  const { rig, bearer } = await startBridge()
  await using _rig = rig

  const response = await rig.call('POST', '/bridge/v1/receive', {
    body: MESSAGE,
    headers: { ...bearer, host: 'relay.fritz.box:4665' },
  })
  const withToken = await rig.control('POST', '/bridge/v1/next', { headers: bearer })
  const without = await rig.control('POST', '/bridge/v1/next')

  expect([response, withToken, without].map(({ status }) => status)).toEqual([200, 404, 404])
})
