// A caller lets things happen on a simulated line, to see what its program makes of them.

import { expect, test } from 'bun:test'

import { at, objectAt, readDocument } from '../http/openapi-document.ts'
import { startFake } from '../support/fake-relay.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const FRIEND = '+15550001234'

test('a person writes to a simulated line, at once or later', async () => {
  await using fake = await startFake()

  const now = await fake.play({ type: 'message', from: FRIEND, text: 'Is my table ready?' })
  await fake.play({ type: 'message', from: FRIEND, text: 'Hello?', after_seconds: 60 })
  await fake.advance('59s')
  const early = await fake.inbound()
  await fake.advance('1s')

  expect([now.status, now.body]).toEqual([200, { guid: expect.any(String) }])
  expect(early.map(({ text }) => text)).toEqual(['Is my table ready?'])
  expect(early[0]).toMatchObject({ handle: FRIEND, platform_guid: now.body.guid })
  expect((await fake.inbound()).map(({ text }) => text)).toEqual(['Hello?', 'Is my table ready?'])
})

test('an SMS comes as an SMS', async () => {
  await using fake = await startFake()

  await fake.play({ type: 'message', from: FRIEND, text: 'hi', service: 'SMS' })
  await fake.advance('0')

  expect((await fake.inbound()).map(({ service }) => service)).toEqual(['SMS'])
})

const BAD: Readonly<Record<string, readonly [body: object, path: string]>> = {
  'without a type': [{ from: FRIEND }, 'type'],
  'with an unknown type': [{ type: 'typing', from: FRIEND }, 'type'],
  'with a field of another type': [{ type: 'unsend', target_guid: 'x', text: 'hello' }, 'text'],
  'without a sender': [{ type: 'message', text: 'hi' }, 'from'],
  'from a name': [{ type: 'message', from: 'Anna', text: 'hi' }, 'from'],
  'with nothing to say': [{ type: 'message', from: FRIEND }, 'text'],
  'with a file without bytes': [
    { type: 'message', from: FRIEND, attachments: [{ filename: 'a.pdf' }] },
    'attachments.0',
  ],
  'with bytes that are no Base64': [
    { type: 'message', from: FRIEND, attachments: [{ content_base64: '***' }] },
    'attachments.0.content_base64',
  ],
  'with an emoji on a heart': [
    { type: 'reaction', from: FRIEND, target_guid: 'x', reaction: 'love', emoji: '🎉' },
    'emoji',
  ],
  'in a group of names': [
    {
      type: 'message',
      from: FRIEND,
      text: 'hi',
      group: { identifier: 'chat1', participants: ['Anna'] },
    },
    'group.participants',
  ],
}

test('an event that is none is 400, and says where', async () => {
  await using fake = await startFake()

  for (const [what, [event, path]] of Object.entries(BAD)) {
    const { status, body } = await fake.play(event)

    const paths = body.error.details.issues.map((issue: { path: string }) => issue.path)
    expect([what, status, paths]).toEqual([what, 400, expect.arrayContaining([path])])
  }
  expect(await fake.inbound()).toEqual([])
})

test('a line of another kind cannot be played, and an unknown one is not found', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550150')
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  const event = { type: 'message', from: FRIEND, text: 'hi' }

  const other = await relay.post(`/api/v1/simulated/lines/${line.id}/events`, event)
  const none = await relay.post('/api/v1/simulated/lines/line_0/events', event)

  expect([other.status, other.body.error.code]).toEqual([422, 'not_supported'])
  expect([none.status, none.body.error.code]).toEqual([404, 'phone_line_not_found'])
})

test('the document shows each event with an example that works', async () => {
  await using fake = await startFake()
  const document = await readDocument('/swagger/json')
  const path = `#/paths/${'/api/v1/simulated/lines/{id}/events'.replaceAll('/', '~1')}/post`
  const examples = at(document, `${path}/requestBody/content/application~1json/examples`)

  const answers = []
  for (const type of Object.keys(examples)) {
    answers.push([type, (await fake.play(objectAt(objectAt(examples, type), 'value'))).status])
  }

  expect(answers).toEqual(
    ['message', 'reaction', 'edit', 'unsend', 'group_change'].map((type) => [type, 200]),
  )
})
