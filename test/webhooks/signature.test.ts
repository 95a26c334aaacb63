import { expect, test } from 'bun:test'

import { secretText, signatureOf } from '../../src/webhooks/signature.ts'

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

test('a secret is whsec_ and the base64 of 32 bytes', () => {
  expect(secretText(new Uint8Array(32).fill(255))).toBe(
    'whsec_//////////////////////////////////////////8=',
  )
})
