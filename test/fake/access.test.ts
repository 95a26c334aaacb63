// Who gets into a fake, and by what.

import { expect, test } from 'bun:test'

import { COMPAT_NAMES } from '../../src/compat/apis.ts'
import { credentialsFor } from '../../src/fake/credentials.ts'
import { startFake } from '../support/fake-relay.ts'
import { startRelay } from '../support/test-relay.ts'

test('a browser is the owner without a password, even after hours of the clock', async () => {
  await using fake = await startFake()
  const browser = { host: '127.0.0.1:4666', origin: fake.url, 'x-api-key': '', 'x-api-secret': '' }

  const opened = await fake.call('GET', '/dashboard/session', undefined, browser)
  const { page_key: pageKey, ...state } = opened.body
  const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';')
  const signedIn = { ...browser, cookie, 'x-hookline-page-key': pageKey }
  await fake.advance('3h')
  const made = await fake.call('POST', '/dashboard/api/keys', { name: 'By the page' }, signedIn)

  expect([state.state, state.is_fake]).toEqual(['signed_in', true])
  expect(made.status).toBe(201)
})

test('a fake for other machines opens under any name, as in a network of containers', async () => {
  await using fake = await startFake({ host: '0.0.0.0' })
  const named = { host: 'fake:4666', origin: 'http://fake:4666' }

  const opened = await fake.call('GET', '/dashboard/session', undefined, named)
  const read = await fake.call('GET', '/api/v1/messages', undefined, named)

  expect([opened.status, opened.body.state, read.status]).toEqual([200, 'signed_in', 200])
})

test('a fake for this machine alone opens under no foreign name, though its keys are known', async () => {
  for (const host of ['127.0.0.1', 'localhost']) {
    await using fake = await startFake({ host })
    const statuses = []

    for (const path of ['/', '/dashboard/session', '/api/v1/messages', '/compat/twilio/x', '/mcp'])
      statuses.push((await fake.call('GET', path, undefined, { host: 'rebound.example' })).status)

    expect(statuses).toEqual([421, 421, 421, 421, 421])
  }
})

test('a fake with a public url says that address, and opens under its name', async () => {
  await using fake = await startFake({ publicUrl: 'http://fake.tunnel.example:8080' })

  const named = { host: 'fake.tunnel.example:8080' }
  const read = await fake.call('GET', '/api/v1/messages', undefined, named)
  const { body: document } = await fake.call('GET', '/swagger/json')

  expect([read.status, fake.world.url()]).toEqual([200, 'http://fake.tunnel.example:8080'])
  expect(document.servers).toEqual([{ url: fake.world.url() }])
})

/** One request of a client of each API, which its credentials allow. */
const REQUESTS: Readonly<Record<string, (by: never) => readonly [path: string, headers: object]>> =
  {
    sms: ({ authorization }: Fields) => ['/compat/sms/send', { authorization }],
    'signal-cli': ({ url }: Fields) => ['/compat/signal-cli/v1/about', basic(url)],
    imsg: ({ env }: Fields) => {
      const [, key, secret] = /HOOKLINE_KEY=(.+):(.+)$/.exec(env ?? '') ?? []
      return ['/compat/imsg/api/v1/conversations', { 'x-api-key': key, 'x-api-secret': secret }]
    },
    bluebubbles: ({ password }: Fields) => [
      `/compat/bluebubbles/api/v1/ping?password=${password}`,
      {},
    ],
    twilio: ({ account_sid: sid, auth_token: token }: Fields) => [
      `/2010-04-01/Accounts/${sid}/Messages.json`,
      { authorization: `Basic ${btoa(`${sid}:${token}`)}` },
    ],
    sendblue: ({ api_key_id: id, api_secret_key: secret }: Fields) => [
      '/compat/sendblue/api/v2/messages',
      { 'sb-api-key-id': id, 'sb-api-secret-key': secret },
    ],
  }

type Fields = Readonly<Record<string, string>>

function basic(url = '') {
  const { username, password } = new URL(url)
  return { authorization: `Basic ${btoa(`${username}:${password}`)}` }
}

test('every compatible API answers with the credentials that the fake prints', async () => {
  await using fake = await startFake()
  const none = { 'x-api-key': '', 'x-api-secret': '' }

  const statuses = COMPAT_NAMES.map(async (name) => {
    const [path, headers] = REQUESTS[name]?.(fake.connections()[name] as never) ?? ['', {}]
    const method = name === 'sms' ? 'POST' : 'GET'
    const body = name === 'sms' ? { to: '+12025550123', text: 'Hello' } : undefined
    const { status } = await fake.call(method, path, body, { ...none, ...headers })
    return [name, status]
  })

  expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
    sms: 200,
    'signal-cli': 200,
    imsg: 200,
    bluebubbles: 200,
    twilio: 200,
    sendblue: 200,
  })
})

test('a real relay refuses the keys of a fake by their form, and says what they are', async () => {
  await using relay = await startRelay()
  await relay.post('/api/v1/keys', { name: 'Door', for: 'twilio' })
  const { key, secret } = credentialsFor(null)
  const { key: sid, secret: token } = credentialsFor('twilio')

  const own = await relay.request('GET', '/api/v1/messages', undefined, {
    'X-API-Key': key,
    'X-API-Secret': secret,
  })
  const twilio = await relay.fetch(`/2010-04-01/Accounts/${sid}/Messages.json`, {
    headers: { authorization: `Basic ${btoa(`${sid}:${token}`)}` },
  })

  expect([own.status, own.body.error.details.reason]).toEqual([401, 'fake_key'])
  expect(own.body.error.message).toContain('This key is one of "hookline fake"')
  expect([twilio.status, await twilio.text()]).toEqual([
    401,
    expect.stringContaining('This key is one of'),
  ])
})
