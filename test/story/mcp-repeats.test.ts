// What an agent sends twice, and what it sends while a person answers.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { asOwner } from '../support/control-socket.ts'
import { makeKey } from '../support/limited-keys.ts'
import { accepts, ends, guidOf, type ScriptedDevice } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { NEWEST, OLDER, openMcp } from './mcp-stage.ts'

const ANNA = '+12025550701'

/** A relay on which Anna has asked something, and an agent. */
async function openTalk(versions: typeof NEWEST | typeof OLDER = NEWEST, limits: object = {}) {
  const stage = await openMcp()
  let guids = 0
  const hear = (text: string) => {
    guids += 1
    const at = stage.clock.now() as never
    return stage.device.receive({ guid: guidOf(guids), handle: deviceHandle(ANNA), text, at })
  }
  await hear('is my bike ready?')
  const [{ id, last_message: asked }] = (await stage.get('/api/v1/conversations')).data
  const { body: key } = await stage.post('/api/v1/keys', limits)
  const { call, client } = await stage.connect(versions, key)
  const codeOf = async (name: string, args: object) => {
    const { structuredContent } = await call(name, { ...args })
    return structuredContent.error?.code ?? structuredContent.status
  }
  return {
    ...stage,
    hear,
    conversation: String(id),
    question: String(asked.id),
    key,
    client,
    call,
    codeOf,
    reply: (text: string, more: object = {}) =>
      codeOf('reply', { conversation_id: id, text, ...more }),
    sent: () => textsOf(stage.device),
  }
}

const textsOf = (device: ScriptedDevice) => device.sent.map(({ text }) => text)

for (const [protocol, versions] of [
  ['the newest protocol', NEWEST],
  ['an older one', OLDER],
] as const) {
  test(`in ${protocol}, an agent that makes each call three times sends each message once`, async () => {
    await using talk = await openTalk(versions)

    const statuses: string[] = []
    for (let time = 0; time < 3; time += 1) {
      statuses.push(await talk.reply('Yes.', { answers: talk.question }))
      statuses.push(await talk.codeOf('send_message', { to: ANNA, text: 'Come at 5.' }))
      await talk.clock.advance(3_600_000)
    }

    expect(statuses).toEqual(['sent', 'sent', ...Array(4).fill('already_sent')])
    expect(talk.sent()).toEqual(['Yes.', 'Come at 5.'])
  })
}

test('a refused repeat says when it was sent, as which message, and how to send it again', async () => {
  await using talk = await openTalk()
  const first = await talk.call('reply', { conversation_id: talk.conversation, text: 'Yes.' })

  const { structuredContent, isError } = await talk.call('reply', {
    conversation_id: talk.conversation,
    text: 'Yes.',
  })
  const again = await talk.reply('Yes.', { again: true })

  const { message, details } = structuredContent.error
  expect([isError, again]).toEqual([true, 'sent'])
  expect(details).toMatchObject({
    message_id: first.structuredContent.message_id,
    status: 'sent',
  })
  expect(message).toBe(
    `The same text was sent at ${details.at}; pass again: true to send it again.`,
  )
  expect(talk.sent()).toEqual(['Yes.', 'Yes.'])
})

test('two answers with the same word go, if the person wrote in between', async () => {
  await using talk = await openTalk()

  const first = await talk.reply('Yes')
  await talk.hear('and the lights?')
  const second = await talk.reply('Yes')

  expect([first, second]).toEqual(['sent', 'sent'])
  expect(talk.sent()).toEqual(['Yes', 'Yes'])
})

test('a message gets one answer, whatever its words and whatever was received since', async () => {
  await using talk = await openTalk()
  const answers = talk.question

  const first = await talk.reply('Yes.', { answers })
  await talk.hear('hello?')
  const second = await talk.reply('Yes, it is.', { answers })
  const meant = await talk.reply('Yes, it is.', { answers, again: true })
  const foreign = await talk.reply('Hi.', { answers: 'msg_00000000000000000000000000' })

  expect([first, second, meant, foreign]).toEqual(['sent', 'already_sent', 'sent', 'not_found'])
})

test('a message gets one answer, also if hundreds were written since', async () => {
  await using talk = await openTalk()
  const { question: answers } = talk

  await talk.reply('Yes.', { answers })
  await talk.clock.advance(61_000)
  for (let count = 0; count < 210; count += 1) await talk.hear(`${count}`)
  const late = await talk.reply('Yes, it is.', { answers })

  expect([late, talk.sent()]).toEqual(['already_sent', ['Yes.']])
})

test('an idempotency key names a message: the same is sent once, another is sent', async () => {
  await using talk = await openTalk()
  const keyed = (idempotency_key: string) =>
    talk.call('reply', { conversation_id: talk.conversation, text: 'Ready.', idempotency_key })

  const [first, repeat, other] = [await keyed('a'), await keyed('a'), await keyed('b')]

  expect(repeat.structuredContent).toEqual({
    ...first.structuredContent,
    note: expect.stringContaining('not sent a second time'),
  })
  expect(other.structuredContent.status).toBe('sent')
  expect(talk.sent()).toEqual(['Ready.', 'Ready.'])
})

test('what another key or a person sent is no repeat, nor is what failed', async () => {
  await using talk = await openTalk()
  await talk.send({ to: ANNA, text: 'Ready.' })
  const ofOther = await talk.reply('Ready.')
  await talk.hear('thanks')
  talk.device.script = ends({ outcome: 'not_sent', reason: 'send_failed', blame: 'message' })
  const failed = await talk.reply('Bye.')
  talk.device.script = accepts
  const retried = await talk.reply('Bye.')

  expect([ofOther, failed, retried]).toEqual(['sent', 'send_failed', 'sent'])
})

test('a plain program sends the same as often as it asks', async () => {
  await using talk = await openTalk()

  for (let time = 0; time < 3; time += 1) await talk.send({ to: ANNA, text: 'tick' })

  expect(talk.sent()).toEqual(['tick', 'tick', 'tick'])
})

test('after hand_to_person nothing of an agent leaves, also what waits, until a person gives it back', async () => {
  await using talk = await openTalk()
  const rules = { approval: 'always' }
  const { body: careful } = await talk.post('/api/v1/keys', { rules })
  const { call } = await talk.connect(NEWEST, careful)
  const held = await call('reply', { conversation_id: talk.conversation, text: 'approved words' })
  await talk.device.goOffline()
  const queued = await talk.reply('written before')

  const handed = await talk.codeOf('hand_to_person', { conversation_id: talk.conversation })
  const refused = [
    await talk.reply('me'),
    await talk.codeOf('send_message', { to: ANNA, text: 'me' }),
  ]
  await asOwner(talk, 'POST', `/messages/${held.structuredContent.message_id}/approve`, {
    body: {},
  })
  await talk.device.goOnline()
  await talk.clock.advance(60_000)
  const during = talk.sent()
  await talk.patch(`/api/v1/conversations/${talk.conversation}`, { automation_paused: false })
  const after = await talk.reply('back again')

  expect([queued, handed]).toEqual(['queued', undefined])
  expect(refused).toEqual(['automation_paused', 'automation_paused'])
  expect(during).toEqual([])
  expect([after, talk.sent()]).toEqual(['sent', ['back again']])
  const { data } = await talk.get('/api/v1/messages?status=failed')
  expect(data.map(({ error }: Json) => error.code)).toEqual(Array(2).fill('automation_paused'))
})

test('a key with a rule, or of some conversations, hands over and does not take back', async () => {
  await using talk = await openTalk()
  const conversation_ids = [talk.conversation]
  const keys = [
    await makeKey(talk, { rules: { sends_per_hour: 9 } }),
    await makeKey(talk, { conversation_ids }),
    await makeKey(talk, {}),
  ]
  const path = `/conversations/${talk.conversation}`

  const statuses: number[] = []
  for (const key of keys) {
    for (const automation_paused of [true, false]) {
      statuses.push((await key.call('PATCH', path, { automation_paused })).status)
    }
    statuses.push((await key.send(ANNA)).status)
  }

  // A plain program is kept out by a setting only.
  expect(statuses).toEqual([200, 403, 200, 200, 403, 409, 200, 200, 200])
})

test('a waited message says that a person answers, or wants nothing more', async () => {
  await using talk = await openTalk()
  const began = await talk.call('wait_for_messages', { wait_seconds: 0 })
  const waited = async () => {
    const { after } = began.structuredContent
    const { structuredContent } = await talk.call('wait_for_messages', { after, wait_seconds: 0 })
    return structuredContent.messages
  }

  await talk.patch(`/api/v1/conversations/${talk.conversation}`, { automation_paused: true })
  await talk.hear('STOP')

  expect(await waited()).toMatchObject([
    {
      conversation_id: talk.conversation,
      automation_paused: true,
      opted_out: true,
      note: expect.stringContaining('A person answers'),
    },
  ])
})

test('instructions and prompts name tools of the key only, and the rules of its sends', async () => {
  const recommended = { scopes: ['read', 'send'], rules: { recipients: 'replied_within_24h' } }
  await using talk = await openTalk(NEWEST, recommended)
  const { body: reader } = await talk.post('/api/v1/keys', { scopes: ['read'] })
  const reading = await talk.connect(NEWEST, reader)
  const all = await talk.connect(NEWEST)
  const promptsOf = async ({ client }: Pick<typeof talk, 'client'>) => {
    const args = { conversation_id: 'conv_1' }
    const draft = await client.getPrompt({ name: 'draft_reply', arguments: args })
    return JSON.stringify([draft, await client.getPrompt({ name: 'triage_inbox' })])
  }

  const [own, readers, owners] = [talk, reading, all].map(
    ({ client }) => client.getInstructions() ?? '',
  )

  expect(own).toContain('tool reply')
  expect(own).toContain('these people only: people who wrote to its lines in the last 24 hours')
  expect(own).not.toContain('hand_to_person')
  expect(readers).not.toMatch(/reply|send/)
  expect(owners).toContain('hand_to_person')
  expect(await promptsOf(reading)).not.toMatch(/with reply|hand it/)
  expect(await promptsOf(talk)).toContain('send it with reply only when I say so')
  expect(await promptsOf(all)).toContain('hand it to a person')
})

test('an outcome that is unknown comes with the advice not to send it again', async () => {
  await using talk = await openTalk()
  talk.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })

  const { structuredContent } = await talk.call('reply', {
    conversation_id: talk.conversation,
    text: 'Yes.',
  })

  expect(structuredContent).toMatchObject({
    status: 'uncertain',
    note: "Don't send it again. It may have arrived.",
  })
  expect(await talk.reply('Yes.')).toBe('already_sent')
})
