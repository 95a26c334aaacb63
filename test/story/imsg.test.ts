// `hookline imsg rpc` on the real relay: its requests, its notifications over cuts and a restore, and what it says
// about sends. The process, its input and its output are in test/executable/imsg.test.ts.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { FULL_CAPABILITIES } from '../../src/lines/driver.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { eventually } from '../support/eventually.ts'
import { ANNA, ATTEMPT, imsgKey, receive, startChild } from '../support/imsg-child.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ends, guidOf, type SendScript } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import { settle } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA as ANNA_OF_WORLD, photo, reaction, startRich } from './rich-relay.ts'

test('a client gets what is received, with the numbers by which it reads the chat and answers there', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))

  await child.ask('watch.subscribe', { include_reactions: true })
  await receive(relay, 1, 'Do you have a table?')
  const [message] = await child.heard(1)
  await relay.clock.advance(1)
  const history = await child.result('messages.history', { chat_id: message.chat_id })
  const chats = await child.result('chats.list')
  const sent = await child.result('send', { chat_id: message.chat_id, text: 'At seven.' })

  expect(message).toMatchObject({
    sender: ANNA,
    text: 'Do you have a table?',
    is_from_me: false,
    is_group: false,
    chat_identifier: ANNA,
    chat_guid: `any;-;${ANNA}`,
    destination_caller_id: '+12025550801',
    participants: [ANNA],
  })
  expect(history.messages).toEqual([message])
  expect(chats.chats).toMatchObject([{ id: message.chat_id, identifier: ANNA, unread_count: 1 }])
  expect(sent).toMatchObject({ ok: true, send_state: 'sent', chat_id: message.chat_id })
  expect(relay.texts()).toEqual(['At seven.'])
  expect(sent.id).toBeGreaterThan(message.id)
  await child.server.end()
})

test('a client that comes back with its last number gets each later message once, in the order of numbers', async () => {
  await using relay = await startScripted()
  const key = await imsgKey(relay)
  const first = startChild(() => relay, key)
  await first.ask('watch.subscribe')
  await receive(relay, 1, 'one')
  const [one] = await first.heard(1)
  await first.server.end()

  for (const [index, text] of ['two', 'three', 'four'].entries()) {
    await receive(relay, 2 + index, text)
  }
  const second = startChild(() => relay, key)
  await second.ask('watch.subscribe', { since_rowid: one.id })
  const heard = await second.heard(3)
  const page = await second.result('messages.after', { since_rowid: one.id, limit: 2 })
  const rest = await second.result('messages.after', { since_rowid: page.next_rowid })

  const numbers = heard.map(({ id }) => id)
  expect(new Set(second.texts())).toEqual(new Set(['two', 'three', 'four']))
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(Math.min(...numbers)).toBeGreaterThan(one.id)
  expect([...page.messages, ...rest.messages]).toEqual(heard)
  expect([page.has_more, rest.has_more]).toEqual([true, false])
  await second.server.end()
})

test('while the relay is away nothing is lost, and nothing comes twice', async () => {
  await using relay = await startScripted()
  let now: ScriptedRelay | null = relay
  const child = startChild(() => now, await imsgKey(relay))
  await child.ask('watch.subscribe')
  await receive(relay, 1, 'before')
  await child.heard(1)

  now = null
  await receive(relay, 2, 'meanwhile')
  const refused = await child.ask('chats.list')
  now = relay
  await receive(relay, 3, 'after')
  await child.heard(3)

  expect(refused.error).toMatchObject({ code: -32_002, data: { retryable: true } })
  expect(child.texts()).toEqual(['before', 'meanwhile', 'after'])
  await child.server.end()
})

test('a later message waits for one whose file is on its way, because clients go on behind the highest number', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  await child.ask('watch.subscribe', { attachments: true })
  const file = { guid: 'F1', filename: 'menu.pdf', declaredType: null, sizeBytes: 3, part: 0 }
  const attachments = [{ ...file, file: { state: 'pending' } }]

  await receive(relay, 1, 'the menu', { attachments })
  await relay.clock.advance(1_000)
  await receive(relay, 2, 'did it come?')
  const looks = () => child.paths.filter((path) => path.includes('created_before'))
  await eventually('a look for earlier ones', () => (looks().length > 0 ? true : null))
  const before = child.texts()
  await relay.clock.advance(30_000)
  await child.heard(2)

  expect(before).toEqual([])
  expect(child.texts()).toEqual(['the menu', 'did it come?'])
  await child.server.end()
})

test('after a restore the numbers mean the same, and what is received then is heard', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const before = await startScripted({ path: directory.database })
  const { clock, key: owner } = before
  let now: ScriptedRelay | null = before
  const child = startChild(() => now, await imsgKey(before))
  await child.ask('watch.subscribe')
  await receive(before, 1, 'kept')
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  await receive(before, 2, 'lost')
  const [kept] = await child.heard(2)

  now = null
  await before[Symbol.asyncDispose]()
  const file = folder.file('backup.db')
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })
  await using after = await startScripted({ path: directory.database, clock, key: owner })
  now = after
  await receive(after, 3, 'new')
  await receive(after, 2, 'lost')
  await child.heard(3)
  await receive(after, 4, 'newer')
  await child.heard(4)
  const history = await child.result('messages.history', { chat_id: kept.chat_id })

  expect(child.texts()).toEqual(['kept', 'lost', 'new', 'newer'])
  expect(history.messages.at(-1)).toEqual(kept)
  expect(history.messages).toHaveLength(4)
  await child.server.end()
})

test('a tracked send is one message, however often its attempt is repeated, and its answer is the same', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  const params = { to: ANNA, text: 'Your table is ready.', attempt_id: ATTEMPT }

  child.cut.path = '/messages/send'
  const first = await child.result('send.tracked', params)
  const again = await child.result('send.tracked', params)
  const other = await child.ask('send.tracked', { ...params, text: 'Something else' })
  const bad = await child.ask('send.tracked', { ...params, attempt_id: 'x' })

  expect(first).toMatchObject({ ok: true, send_state: 'sent', attempt_id: ATTEMPT })
  expect(again).toEqual(first)
  expect(other.error.data).toMatchObject({ disposition: 'not_started', retry_safe: true })
  expect(bad.error).toMatchObject({ code: -32_602 })
  expect(relay.texts()).toEqual(['Your table is ready.'])
})

test('a failure whose first answer was lost is as certain as one that was heard at once, and names its message', async () => {
  const script = ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' })
  await using relay = await startScripted({ script })
  const child = startChild(() => relay, await imsgKey(relay))

  child.cut.path = '/messages/send'
  const asked = child.ask('send.tracked', { to: ANNA, text: 'hello', attempt_id: ATTEMPT })
  await settle()
  await relay.clock.advance(60_000)
  const { error } = await asked
  const { data } = await relay.get('/api/v1/messages')

  expect(error.data).toMatchObject({
    disposition: 'not_started',
    retry_safe: true,
    message_id: data[0].id,
  })
  expect(data).toHaveLength(1)
})

const outcomes: [what: string, script: SendScript, expected: Json][] = [
  [
    'failed',
    ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' }),
    { code: -32_603, data: { disposition: 'not_started', retry_safe: true } },
  ],
  [
    'uncertain',
    ends({ outcome: 'unknown', reason: 'outcome_unknown' }),
    { code: -32_001, data: { disposition: 'may_have_completed', retry_safe: false } },
  ],
]

test.each(outcomes)(
  'a message that is %s is reported as that and nothing else',
  async (status, script, expected) => {
    await using relay = await startScripted({ script })
    const child = startChild(() => relay, await imsgKey(relay))

    const asked = child.ask('send', { to: ANNA, text: 'hello' })
    await settle()
    await relay.clock.advance(60_000)
    const { error } = await asked
    const list = await relay.request('GET', '/api/v1/messages')
    const guid = list.body.data[0].id
    const state = await child.result('message.send_status', { guid })

    expect(list.body.data[0].status).toBe(status)
    expect(error).toMatchObject(expected)
    expect(state.send_state).toBe(status === 'failed' ? 'failed' : 'pending')
  },
)

test('a client whose key is revoked gets that answer, and its process ends', async () => {
  await using relay = await startScripted()
  const made = await imsgKey(relay)
  const child = startChild(() => relay, made)
  await child.ask('watch.subscribe')

  const { body } = await relay.request('GET', '/api/v1/keys')
  const { id } = body.data.find((key: Json) => key.for === 'imsg')
  await relay.request('DELETE', `/api/v1/keys/${id}`)
  await receive(relay, 1, 'hello')
  await eventually('the end', () => (child.refusals.length > 0 ? true : null))

  expect(child.texts()).toEqual([])
  expect(child.written.at(-1).method).toBe('error')
})

test('what no line can do, and what nobody understands, is answered in the form of imsg', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  const codeOf = async (method: string, params: object = {}) =>
    (await child.ask(method, params)).error.code

  child.server.take('{')
  const codes = [
    await codeOf('typing', { to: ANNA }),
    await codeOf('teleport'),
    await codeOf('constructor'),
    await codeOf('chats.get', { chat_id: 42 }),
    await codeOf('send', { to: ANNA }),
    await codeOf('send', { to: ANNA, chat_id: 42, text: 'hello' }),
    await codeOf('initialize', { protocol_version: 2 }),
    await codeOf('message.send_status', { guid: ATTEMPT }),
  ]

  expect(codes).toEqual([-32_003, -32_601, -32_601, -32_602, -32_602, -32_602, -32_602, -32_602])
  expect(child.written.find(({ id }) => id === null).error.code).toBe(-32_700)
})

test('a reaction and a file come as imsg has them', async () => {
  await using world = await startRich()
  const { relay, clock } = world
  const child = startChild(() => relay, await imsgKey(relay))
  await child.ask('watch.subscribe', { include_reactions: true, attachments: true })

  await clock.advance(1)
  const attachments = [photo('F1', world.fileOf('a picture'), 'menu.jpg')]
  await world.receive(guidOf(1), { text: 'Look!', attachments })
  const [message] = await child.heard(1)
  await clock.advance(1)
  await world.change(reaction('row-1', guidOf(1)))
  const [, liked] = await child.heard(2)

  const [file] = message.attachments
  expect(file).toMatchObject({ transfer_name: 'menu.jpg', missing: false })
  expect(file.original_path).toStartWith('/files/att_')
  expect(liked).toMatchObject({
    is_reaction: true,
    is_reaction_add: true,
    reaction_emoji: '👍',
    reacted_to_guid: message.guid,
    chat_id: message.chat_id,
    sender: ANNA_OF_WORLD,
  })
  expect(liked.id).toBeGreaterThan(message.id)
  await child.server.end()
})

test('a file goes out with its text, once', async () => {
  using folder = new ScratchFolder()
  const capabilities = FULL_CAPABILITIES
  await using relay = await startScripted({ capabilities, folder: folder.path })
  const child = startChild(() => relay, await imsgKey(relay))

  child.cut.path = '/messages/send'
  const asked = child.ask('send', { to: ANNA, text: 'Here.', file: '/tmp/menu.pdf' })
  await settle()
  await relay.clock.advance(1_000)
  const { result, error } = await asked
  const { body } = await relay.request('GET', '/api/v1/messages')

  expect(error).toBeUndefined()
  expect(result).toMatchObject({ ok: true })
  expect(body.data).toMatchObject([{ text: 'Here.', attachments: [{ filename: 'menu.pdf' }] }])
})
