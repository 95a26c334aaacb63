// What the screen of an iPhone shows is no proof of who wrote, nor of how a message went: what the API makes of it.

import { expect, test } from 'bun:test'

import { FRIEND, PhoneBox } from './iphone-relay.ts'

const GROUP = '+1 (202) 555-0999 & +1 (202) 555-0888'

test('a group that is named after a person opts nobody out, and opens no rule for its words', async () => {
  await using box = await PhoneBox.online()
  const { relay, screen } = box
  screen.chat(GROUP).title = '+1 (202) 555-0123'

  screen.receive(GROUP, 'STOP', { sender: '+1 (202) 555-0999' })
  await box.passes(30_000)
  const sent = await box.during(relay.send({ to: FRIEND, text: 'hello' }))

  const { data } = await relay.get('/api/v1/messages')
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  expect(data).toMatchObject([{ direction: 'outbound', handle: FRIEND }])
  expect(screen.carried('hello')).toBe(1)
})

test('a message that the iPhone sends as a text message after all names that service, and its failure', async () => {
  await using box = await PhoneBox.online()
  const { relay, screen } = box
  screen.readAfterMs = null
  screen.deliveredAfterMs = null
  const { body } = await box.during(relay.send({ to: FRIEND, text: 'hello' }))
  const [bubble] = screen.sent(FRIEND, 'hello')

  if (bubble !== undefined) bubble.service = 'SMS'
  await box.comesTo('its service is reported', async () => {
    return (await relay.message(body.id)).service === 'SMS'
  })
  if (bubble !== undefined) bubble.stage = 'failed'
  await box.passes(120_000)

  expect(await relay.message(body.id)).toMatchObject({ service: 'SMS', status: 'failed' })
})
