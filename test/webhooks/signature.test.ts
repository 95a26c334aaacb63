import { expect, test } from 'bun:test'

import { Webhook } from 'standardwebhooks'

import { systemRandom } from '../../src/system/random.ts'
import { newSecret, secretText, signatureOf, signedHeaders } from '../../src/webhooks/signature.ts'

test('the published vector of Standard Webhooks comes out', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')

  const signature = signatureOf(
    {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    },
    [secret],
  )

  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('a receiver with the reference library verifies what we sign, whatever the body', () => {
  for (const body of ['{}', '{"text":"Grüße 👋 \\u0000"}', `"${'x'.repeat(20_000)}"`]) {
    const secret = newSecret(systemRandom)
    const signed = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body }

    const verified = new Webhook(secretText(secret)).verify(body, signedHeaders(signed, [secret]))

    expect(verified).toEqual(JSON.parse(body))
  }
})

test('every secret signs, newest first, and a receiver with either one is content', () => {
  const [newest, oldest] = [newSecret(systemRandom), newSecret(systemRandom)]
  const signed = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body: '{}' }

  const headers = signedHeaders(signed, [newest, oldest])

  expect(headers['webhook-signature']).toBe(
    `${signatureOf(signed, [newest])} ${signatureOf(signed, [oldest])}`,
  )
  expect(new Webhook(secretText(newest)).verify('{}', headers)).toEqual({})
  expect(new Webhook(secretText(oldest)).verify('{}', headers)).toEqual({})
  expect(() => new Webhook(secretText(newSecret(systemRandom))).verify('{}', headers)).toThrow()
})

test('a secret is whsec_ and the base64 of 32 bytes', () => {
  expect(secretText(new Uint8Array(32).fill(255))).toBe(
    'whsec_//////////////////////////////////////////8=',
  )
})
