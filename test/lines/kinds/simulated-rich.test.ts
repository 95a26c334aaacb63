// Files, groups, reactions, edits and services on the simulated network: what the last four digits of a
// number mean for them.

import { expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { changesOf, guidOf, messagesOf, receiptsOf, settledOf } from '../../contract/line-rig.ts'
import { bytesOf, endsOf, hashOf, idOf, startWorld } from './simulated-world.ts'

test('the ledger has each file that was sent, in order, and the text has the guid', async () => {
  await using world = await startWorld()

  const outcome = await world.send('+15550001234', {
    attachments: [world.file('menu.pdf'), world.file('map.png')],
  })

  const parts = world.parts()
  expect(parts.map(({ filename, sha256: hash }) => [filename, hash])).toEqual([
    ['menu.pdf', hashOf('menu.pdf')],
    ['map.png', hashOf('map.png')],
  ])
  expect(outcome).toEqual({
    outcome: 'accepted',
    guid: expect.any(String),
    partGuids: parts.map(({ guid }) => guid),
  })
})

test('a message without a text is known by its last file', async () => {
  await using world = await startWorld()

  const outcome = await world.send('+15550001234', {
    text: '',
    attachments: [world.file('a.png'), world.file('b.png')],
  })
  await world.clock.advance(800)

  const [first, last] = world.parts().map(({ guid }) => guid)
  expect(outcome).toEqual({ outcome: 'accepted', guid: last ?? '', partGuids: [first ?? ''] })
  expect(receiptsOf(world.line.events).map(({ guid, kind }) => [guid, kind])).toEqual([
    [last ?? '', 'delivered'],
    [last ?? '', 'read'],
  ])
})

for (const [harm, spoil] of Object.entries({
  'is gone': (path: string) => rmSync(path),
  'has other bytes': (path: string) => writeFileSync(path, 'other'),
})) {
  test(`a file that ${harm} is refused before anything leaves`, async () => {
    await using world = await startWorld()
    const file = world.file('menu.pdf')
    spoil(file.path)
    let asked = 0

    const ask = async () => {
      asked += 1
      return true
    }
    const outcome = await world.send('+15550001234', { attachments: [file], ask })

    expect(outcome).toEqual({ outcome: 'not_sent', reason: 'attachment_missing', blame: 'message' })
    expect([asked, world.parts().length, world.rig.carried('hello')]).toEqual([0, 0, 0])
  })
}

const ENDS = {
  '0198': ['refuses the rest', { outcome: 'partly_sent', reason: 'partly_sent' }, 0],
  '0199': ['nobody knows of the rest', { outcome: 'unknown', reason: 'no_answer' }, 1],
} as const

for (const [digits, [what, end, carried]] of Object.entries(ENDS)) {
  test(`${digits} gets the first file, and ${what}; after a crash the ledger says so too`, async () => {
    await using world = await startWorld()
    const attachments = [world.file('a.png'), world.file('b.png')]

    const outcome = await world.send(`+1555000${digits}`, { attachments })
    const message = world.outgoing(`+1555000${digits}`, { attachments })
    const second = await world.again({ unsettled: [{ message, note: 'any' }] })

    const expected = { ...end, sent: [idOf('a.png')] }
    expect(outcome).toEqual(expected)
    const settled = { type: 'settled', messageId: message.id, outcome: expected } as const
    expect(settledOf(second.events)).toEqual([settled])
    expect([world.parts().length, world.rig.carried('hello')]).toEqual([1, carried])
  })
}

test('after a crash a message with files is found with all of its parts', async () => {
  await using world = await startWorld()
  const more = { attachments: [world.file('a.png'), world.file('b.png')] }
  const sent = await world.send('+15550001234', { ...more, service: 'SMS' })

  const message = world.outgoing('+15550001234', { ...more, service: 'SMS' })
  const second = await world.again({ unsettled: [{ message, note: 'any' }] })

  expect(sent.outcome).toBe('accepted')
  expect(settledOf(second.events).map(({ outcome }) => outcome as unknown)).toEqual([sent])
})

const SERVICES: readonly (readonly [to: string, service: 'SMS' | 'iMessage', expected: string])[] =
  [
    ['+15550001234', 'SMS', 'accepted by SMS'],
    ['+15550001234', 'iMessage', 'accepted by its own service'],
    ['+15550000192', 'SMS', 'accepted by SMS'],
    ['+15550000192', 'iMessage', 'not_on_imessage'],
    ['+15550000189', 'SMS', 'no_sms'],
    ['+15550000189', 'iMessage', 'not_on_imessage'],
    ['somebody@example.org', 'SMS', 'no_sms'],
  ]

for (const [to, service, expected] of SERVICES) {
  test(`to ${to} by ${service}: ${expected}`, async () => {
    await using world = await startWorld()

    const outcome = await world.send(to, { service })
    await world.clock.advance(60_000)

    const said =
      outcome.outcome === 'accepted'
        ? `accepted by ${outcome.service ?? 'its own service'}`
        : 'reason' in outcome && outcome.reason
    const hasReceipts = receiptsOf(world.line.events).length > 0
    expect([said, hasReceipts]).toEqual([expected, expected === 'accepted by its own service'])
  })
}

test('0196 answers with the same text and files, by the same service', async () => {
  await using world = await startWorld()
  const file = world.file('menu.pdf')
  const more = { text: 'anybody there?', service: 'SMS' } as const

  await world.send('+15550000196', { ...more, attachments: [file] })
  rmSync(file.path)
  await world.clock.advance(800)

  const [answer] = messagesOf(world.line.events)
  expect(answer).toMatchObject({ ...more, handle: deviceHandle('+15550000196') })
  expect(answer?.attachments?.map(bytesOf)).toEqual(['menu.pdf: bytes of menu.pdf'])
})

test('a message from one line to another arrives there, with its file', async () => {
  await using world = await startWorld()
  const second = await world.neighbor()
  const text = 'hello neighbor'

  await world.send('+12025550102', { text, attachments: [world.file('menu.pdf')] })
  await world.clock.advance(400)

  const [message] = messagesOf(second.events)
  expect(message).toMatchObject({ text, handle: deviceHandle('+12025550101') })
  expect(message?.attachments?.map(bytesOf)).toEqual(['menu.pdf: bytes of menu.pdf'])
  expect(messagesOf(world.line.events)).toEqual([])
})

const PICTURES = { '0188': ['image/jpeg', 'ffd8ff'], '0187': ['image/heic', '0000001c66747970'] }

for (const [digits, [type, start = '']] of Object.entries(PICTURES)) {
  test(`${digits} answers with a picture: ${type}`, async () => {
    await using world = await startWorld()

    await world.send(`+1555000${digits}`)
    await world.clock.advance(800)

    const file = messagesOf(world.line.events)[0]?.attachments?.[0]
    const bytes = file?.file.state === 'available' ? readFileSync(file.file.path) : Buffer.of()
    expect([file?.declaredType, file?.size]).toEqual([type, bytes.length])
    expect(bytes.toString('hex')).toStartWith(start)
  })
}

const WAITED_FOR = { '0186': 'available', '0185': 'failed' } as const

for (const [digits, state] of Object.entries(WAITED_FOR)) {
  test(`${digits} answers with a file that is pending for 15 seconds, and then ${state}`, async () => {
    await using world = await startWorld()

    await world.send(`+1555000${digits}`)
    await world.clock.advance(800)
    const [announced] = messagesOf(world.line.events)
    await world.clock.advance(14_999)
    const early = endsOf(world.line.events)
    await world.clock.advance(1)

    expect(announced?.attachments?.map(({ file }) => file.state)).toEqual(['pending'])
    const guid = announced?.attachments?.[0]?.guid ?? ''
    const end = { messageGuid: announced?.guid ?? '', guid, state }
    expect([early, endsOf(world.line.events)]).toEqual([[], [end]])
  })
}

test('a file that is waited for comes after a crash too; without its ledger it is missing', async () => {
  await using world = await startWorld()
  await world.send('+15550000186')
  await world.clock.advance(800)
  const [announced] = messagesOf(world.line.events)
  const messageGuid = announced?.guid ?? ''
  const attachmentGuid = announced?.attachments?.[0]?.guid ?? ''
  const awaited = [
    { messageGuid, attachmentGuid },
    { messageGuid, attachmentGuid: 'of another ledger' },
  ]
  const checkpoint = world.line.checkpoint()

  const second = await world.again({ checkpoint, awaited })
  await world.clock.advance(15_000)

  expect(endsOf(second.events)).toEqual([
    { messageGuid, guid: 'of another ledger', state: 'missing' },
    { messageGuid, guid: attachmentGuid, state: 'available' },
  ])
})

test('0184 reacts to the message, and 0181 replies to it', async () => {
  await using world = await startWorld()

  const loved = await world.send('+15550000184')
  const quoted = await world.send('+15550000181')
  await world.clock.advance(800)

  expect(changesOf(world.line.events)).toMatchObject([
    {
      kind: 'reaction',
      targetGuid: guidOf(loved),
      action: 'added',
      type: 'love',
      handle: deviceHandle('+15550000184'),
      isFromMe: false,
    },
  ])
  const replies = messagesOf(world.line.events).map(({ replyTo }) => replyTo)
  expect(replies).toEqual([{ guid: guidOf(quoted) ?? '', part: 0 }])
})

test('0183 edits its answer, and 0182 takes it back', async () => {
  await using world = await startWorld()
  const since = world.clock.now()

  await world.send('+15550000183')
  await world.send('+15550000182')
  await world.clock.advance(1_200)

  const [edited, unsent] = messagesOf(world.line.events).map(({ guid }) => guid)
  const edits = [{ text: 'See you at 7.', at: since + 800 }]
  expect(changesOf(world.line.events)).toMatchObject([
    { kind: 'edited', targetGuid: edited, text: 'See you at 8.', edits, at: since + 1_200 },
    { kind: 'unsent', targetGuid: unsent },
  ])
})

test('0180 writes from a group, whose people answer there', async () => {
  await using world = await startWorld()
  await world.send('+15550000180')
  await world.clock.advance(800)
  const group = messagesOf(world.line.events)[0]?.group
  const chatGuid = group?.chatGuid ?? ''

  const outcome = await world.send(group?.identifier ?? '', { chatGuid, text: 'Who comes?' })
  await world.clock.advance(800)

  expect(group).toMatchObject({
    name: 'Weekend',
    participants: ['+15550000180', '+15550000196', '+15550000184'].map(deviceHandle),
  })
  const [, answer] = messagesOf(world.line.events)
  expect(answer).toMatchObject({ handle: deviceHandle('+15550000196'), text: 'Who comes?', group })
  expect(changesOf(world.line.events)).toMatchObject([
    { kind: 'reaction', targetGuid: guidOf(outcome), handle: deviceHandle('+15550000184'), group },
  ])
  expect(receiptsOf(world.line.events).some(({ guid }) => guid === guidOf(outcome))).toBe(false)
  expect(await world.line.session().knows(deviceHandle('+15550000196'))).toBe(false)
})

test('a group that the line does not have, or has left, is never exchanged for a person', async () => {
  await using world = await startWorld()
  const group = { identifier: 'chat2', participants: ['+15550001234'] }
  await world.rig.play({ type: 'group_change', group, change: 'left' })

  const outcomes = [
    await world.send('+15550001234', { chatGuid: 'iMessage;+;chat1' }),
    await world.send('+15550001234', { chatGuid: 'iMessage;+;chat2' }),
  ]

  const refused = { outcome: 'not_sent', reason: 'group_not_reachable', blame: 'message' } as const
  expect(outcomes).toEqual([refused, refused])
  expect(world.rig.carried('hello')).toBe(0)
})
