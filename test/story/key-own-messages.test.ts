// What a key may decide about messages that others have sent.

import { expect, test } from 'bun:test'

import { ANNA, errorOf, makeKey, openShop } from '../support/limited-keys.ts'

const ASYNC = { Prefer: 'respond-async' }
const UNCERTAIN = { outcome: 'unknown', reason: 'no_answer' } as const

const RULES = [
  { recipients: 'list', allow: ['+12025550799'] },
  { recipients: 'replied_within_24h' },
  { sends_per_hour: 5 },
  { approval: 'always' },
  { quiet_hours: { from: '22:00', to: '07:00' } },
]

test('a key with a rule cancels and settles its own messages only, and sees no other', async () => {
  await using relay = await openShop()
  const later = new Date(relay.clock.now() + 3_600_000).toISOString()
  const ruled = await Promise.all(RULES.map((rules) => makeKey(relay, { rules })))
  for (const device of relay.devices)
    device.script = async (_message, pass) => {
      await pass(null)
      return UNCERTAIN
    }
  const doubtful = await relay.send({ to: '+12025550711', text: 'in doubt' }, ASYNC)
  await relay.clock.advance(1_000)
  const queued = await relay.send({ to: ANNA, text: 'a secret', send_at: later }, ASYNC)
  const own = await ruled[2]?.send(ANNA, { send_at: later })

  const answers = []
  for (const key of ruled) {
    answers.push(await key.call('DELETE', `/messages/${queued.body.id}`))
    const path = `/messages/${doubtful.body.id}/resolve`
    answers.push(await key.call('POST', path, { status: 'failed' }))
  }
  const ofOwn = await ruled[2]?.call('DELETE', `/messages/${own?.body.id}`)
  const plain = await makeKey(relay, { scopes: ['messages:send'] })
  const ofPlain = await plain.call('DELETE', `/messages/${queued.body.id}`)

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual(
    answers.map(() => [403, 'forbidden']),
  )
  expect(JSON.stringify(answers)).not.toContain('secret')
  expect((await relay.message(doubtful.body.id)).status).toBe('uncertain')
  expect([ofOwn?.body.error, ofPlain.body.error].map((error) => error?.code)).toEqual([
    'canceled',
    'canceled',
  ])
})
