// Files, groups, reactions, edits and services on the simulated network: what the last four digits of a
// number mean for them.

import { expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { messagesOf, receiptsOf, runLine, settledOf } from '../../contract/line-rig.ts'
import { makeSimulatedRig } from '../../contract/simulated-rig.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import {
  bytesOf,
  changesOf,
  endsOf,
  fileOf,
  guidIn,
  hashOf,
  idOf,
  outgoing,
  partsOf,
  send,
} from './simulated-rich-sends.ts'

test('the ledger has each file that was sent, in order, and the text has the guid', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using line = await runLine(rig, rig.driver)

  const outcome = await send(rig, line, '+15550001234', {
    attachments: [fileOf(folder, 'menu.pdf'), fileOf(folder, 'map.png')],
  })

  const parts = partsOf(rig)
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
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using line = await runLine(rig, rig.driver)

  const outcome = await send(rig, line, '+15550001234', {
    text: '',
    attachments: [fileOf(folder, 'a.png'), fileOf(folder, 'b.png')],
  })
  await rig.clock.advance(800)

  const [first, last] = partsOf(rig).map(({ guid }) => guid)
  expect(outcome).toEqual({ outcome: 'accepted', guid: last ?? '', partGuids: [first ?? ''] })
  expect(receiptsOf(line.events).map(({ guid, kind }) => [guid, kind])).toEqual([
    [last ?? '', 'delivered'],
    [last ?? '', 'read'],
  ])
})

for (const [harm, spoil] of Object.entries({
  'is gone': (path: string) => rmSync(path),
  'has other bytes': (path: string) => writeFileSync(path, 'other'),
})) {
  test(`a file that ${harm} is refused before anything leaves`, async () => {
    using rig = makeSimulatedRig()
    using folder = new ScratchFolder()
    await using line = await runLine(rig, rig.driver)
    const file = fileOf(folder, 'menu.pdf')
    spoil(file.path)
    let asked = 0

    const ask = async () => {
      asked += 1
      return true
    }
    const outcome = await send(rig, line, '+15550001234', { attachments: [file], ask })

    expect(outcome).toEqual({ outcome: 'not_sent', reason: 'attachment_missing', blame: 'message' })
    expect([asked, partsOf(rig).length, rig.carried('hello')]).toEqual([0, 0, 0])
  })
}

test('0198 gets the first file, and refuses the rest; after a crash the ledger says so too', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using first = await runLine(rig, rig.driver)
  const attachments = [fileOf(folder, 'a.png'), fileOf(folder, 'b.png')]

  const outcome = await send(rig, first, '+15550000198', { attachments })
  await first.end()
  const message = outgoing(rig, '+15550000198', { attachments })
  await using second = await runLine(rig, rig.restart(), { unsettled: [{ message, note: 'any' }] })

  const partly = { outcome: 'partly_sent', reason: 'partly_sent', sent: [idOf('a.png')] } as const
  expect(outcome).toEqual(partly)
  expect(settledOf(second.events)).toEqual([
    { type: 'settled', messageId: message.id, outcome: partly },
  ])
  expect([partsOf(rig).length, rig.carried('hello')]).toEqual([1, 0])
})

test('0199 gets the first file, and nobody knows of the rest', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using first = await runLine(rig, rig.driver)
  const attachments = [fileOf(folder, 'a.png'), fileOf(folder, 'b.png')]

  const outcome = await send(rig, first, '+15550000199', { attachments })
  await first.end()
  const message = outgoing(rig, '+15550000199', { attachments })
  await using second = await runLine(rig, rig.restart(), { unsettled: [{ message, note: 'any' }] })

  const unknown = { outcome: 'unknown', reason: 'no_answer', sent: [idOf('a.png')] } as const
  expect(outcome).toEqual(unknown)
  expect(settledOf(second.events).map((event) => event.outcome)).toEqual([unknown])
})

test('after a crash a message with files is found with all of its parts', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using first = await runLine(rig, rig.driver)
  const more = { attachments: [fileOf(folder, 'a.png'), fileOf(folder, 'b.png')] }
  const sent = await send(rig, first, '+15550001234', { ...more, service: 'SMS' })
  await first.end()

  const message = outgoing(rig, '+15550001234', { ...more, service: 'SMS' })
  await using second = await runLine(rig, rig.restart(), { unsettled: [{ message, note: 'any' }] })

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
    using rig = makeSimulatedRig()
    await using line = await runLine(rig, rig.driver)

    const outcome = await send(rig, line, to, { service })
    await rig.clock.advance(60_000)

    const said =
      outcome.outcome === 'accepted'
        ? `accepted by ${outcome.service ?? 'its own service'}`
        : 'reason' in outcome && outcome.reason
    const hasReceipts = receiptsOf(line.events).length > 0
    expect([said, hasReceipts]).toEqual([expected, expected === 'accepted by its own service'])
  })
}

test('0196 answers with the same files, by the same service', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using line = await runLine(rig, rig.driver)
  const file = fileOf(folder, 'menu.pdf')

  await send(rig, line, '+15550000196', { attachments: [file], service: 'SMS' })
  rmSync(file.path)
  await rig.clock.advance(800)

  const [answer] = messagesOf(line.events)
  expect([answer?.text, answer?.service]).toEqual(['hello', 'SMS'])
  expect(answer?.attachments?.map(bytesOf)).toEqual(['menu.pdf: bytes of menu.pdf'])
})

test('a file from one line arrives at the other', async () => {
  using rig = makeSimulatedRig()
  using folder = new ScratchFolder()
  await using first = await runLine(rig, rig.driver)
  await using second = await runLine(rig, rig.driver, { key: '2', number: '+12025550102' })

  await send(rig, first, '+12025550102', { attachments: [fileOf(folder, 'menu.pdf')] })
  await rig.clock.advance(400)

  const [message] = messagesOf(second.events)
  expect(message?.attachments?.map(bytesOf)).toEqual(['menu.pdf: bytes of menu.pdf'])
})

const PICTURES = { '0188': ['image/jpeg', 'ffd8ff'], '0187': ['image/heic', '0000001c66747970'] }

for (const [digits, [type, start = '']] of Object.entries(PICTURES)) {
  test(`${digits} answers with a picture: ${type}`, async () => {
    using rig = makeSimulatedRig()
    await using line = await runLine(rig, rig.driver)

    await send(rig, line, `+1555000${digits}`)
    await rig.clock.advance(800)

    const file = messagesOf(line.events)[0]?.attachments?.[0]
    const bytes = file?.file.state === 'available' ? readFileSync(file.file.path) : Buffer.of()
    expect([file?.declaredType, file?.size]).toEqual([type, bytes.length])
    expect(bytes.toString('hex')).toStartWith(start)
  })
}

const WAITED_FOR = { '0186': 'available', '0185': 'failed' } as const

for (const [digits, state] of Object.entries(WAITED_FOR)) {
  test(`${digits} answers with a file that is pending for 15 seconds, and then ${state}`, async () => {
    using rig = makeSimulatedRig()
    await using line = await runLine(rig, rig.driver)

    await send(rig, line, `+1555000${digits}`)
    await rig.clock.advance(800)
    const [announced] = messagesOf(line.events)
    await rig.clock.advance(14_999)
    const early = endsOf(line.events)
    await rig.clock.advance(1)

    expect(announced?.attachments?.map(({ file }) => file.state)).toEqual(['pending'])
    const guid = announced?.attachments?.[0]?.guid ?? ''
    const end = { messageGuid: announced?.guid ?? '', guid, state }
    expect([early, endsOf(line.events)]).toEqual([[], [end]])
  })
}

test('a file that is waited for comes after a crash too; without its ledger it is missing', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  await send(rig, first, '+15550000186')
  await rig.clock.advance(800)
  const [announced] = messagesOf(first.events)
  const messageGuid = announced?.guid ?? ''
  const attachmentGuid = announced?.attachments?.[0]?.guid ?? ''
  const awaited = [
    { messageGuid, attachmentGuid },
    { messageGuid, attachmentGuid: 'of another ledger' },
  ]
  const checkpoint = first.checkpoint()
  await first.end()

  await using second = await runLine(rig, rig.restart(), { checkpoint, awaited })
  await rig.clock.advance(15_000)

  expect(endsOf(second.events)).toEqual([
    { messageGuid, guid: 'of another ledger', state: 'missing' },
    { messageGuid, guid: attachmentGuid, state: 'available' },
  ])
})

test('0184 reacts to the message, and 0181 replies to it', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)

  const loved = await send(rig, line, '+15550000184')
  const quoted = await send(rig, line, '+15550000181')
  await rig.clock.advance(800)

  expect(changesOf(line.events)).toMatchObject([
    {
      kind: 'reaction',
      targetGuid: guidIn(loved),
      action: 'added',
      type: 'love',
      handle: deviceHandle('+15550000184'),
      isFromMe: false,
    },
  ])
  const replies = messagesOf(line.events).map(({ replyTo }) => replyTo)
  expect(replies).toEqual([{ guid: guidIn(quoted), part: 0 }])
})

test('0183 edits its answer, and 0182 takes it back', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const since = rig.clock.now()

  await send(rig, line, '+15550000183')
  await send(rig, line, '+15550000182')
  await rig.clock.advance(1_200)

  const [edited, unsent] = messagesOf(line.events).map(({ guid }) => guid)
  const edits = [{ text: 'See you at 7.', at: since + 800 }]
  expect(changesOf(line.events)).toMatchObject([
    { kind: 'edited', targetGuid: edited, text: 'See you at 8.', edits, at: since + 1_200 },
    { kind: 'unsent', targetGuid: unsent },
  ])
})

test('0180 writes from a group, whose people answer there', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  await send(rig, line, '+15550000180')
  await rig.clock.advance(800)
  const group = messagesOf(line.events)[0]?.group
  const chatGuid = group?.chatGuid ?? ''

  const outcome = await send(rig, line, group?.identifier ?? '', { chatGuid, text: 'Who comes?' })
  await rig.clock.advance(800)

  expect(group).toMatchObject({
    name: 'Weekend',
    participants: ['+15550000180', '+15550000196', '+15550000184'].map(deviceHandle),
  })
  const [, answer] = messagesOf(line.events)
  expect(answer).toMatchObject({ handle: deviceHandle('+15550000196'), text: 'Who comes?', group })
  expect(changesOf(line.events)).toMatchObject([
    { kind: 'reaction', targetGuid: guidIn(outcome), handle: deviceHandle('+15550000184'), group },
  ])
  expect(receiptsOf(line.events).some(({ guid }) => guid === guidIn(outcome))).toBe(false)
  expect(await line.session().knows(deviceHandle('+15550000196'))).toBe(false)
})

test('a group that the line does not have, or has left, is never exchanged for a person', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const group = { identifier: 'chat2', participants: ['+15550001234'] }
  await rig.play({ type: 'group_change', group, change: 'left' })

  const outcomes = [
    await send(rig, line, '+15550001234', { chatGuid: 'iMessage;+;chat1' }),
    await send(rig, line, '+15550001234', { chatGuid: 'iMessage;+;chat2' }),
  ]

  const refused = { outcome: 'not_sent', reason: 'group_not_reachable', blame: 'message' } as const
  expect(outcomes).toEqual([refused, refused])
  expect(rig.carried('hello')).toBe(0)
})
