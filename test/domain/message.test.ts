import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { failBy, progressBy, sentencesOf, type MessageStatus } from '../../src/domain/message.ts'

const sentenceOf = sentencesOf([])
const at = timestamp(1_000)
const later = timestamp(2_000)

function stamped(status: MessageStatus, sentAt = false, deliveredAt = false) {
  return {
    status,
    sentAt: sentAt ? at : null,
    deliveredAt: deliveredAt ? at : null,
    readAt: null,
  }
}

test('a read receipt on a queued message fills in the skipped steps, their events first', () => {
  const progress = progressBy(
    stamped('queued'),
    { kind: 'read', at: later, reason: null },
    sentenceOf,
  )

  expect(progress).toEqual({
    status: 'read',
    sentAt: later,
    deliveredAt: later,
    readAt: later,
    error: null,
    events: ['message.sent', 'message.delivered', 'message.read'],
  })
})

test('a step is never dated before the one below it: a phone may report the minute only', () => {
  const receipt = { kind: 'read', at: timestamp(500), reason: null } as const

  const progress = progressBy(stamped('delivered', true, true), receipt, sentenceOf)

  expect(progress?.readAt).toBe(at)
})

test('a status only rises', () => {
  const by = (kind: 'sent' | 'delivered' | 'read') =>
    progressBy(stamped('delivered', true, true), { kind, at: later, reason: null }, sentenceOf)

  expect([by('sent'), by('delivered')]).toEqual([null, null])
  expect(by('read')).toEqual({
    status: 'read',
    sentAt: at,
    deliveredAt: at,
    readAt: later,
    error: null,
    events: ['message.read'],
  })
})

test.each(['failed', 'uncertain'] as const)('%s yields to proof', (status) => {
  const receipt = { kind: 'sent', at: later, reason: null } as const
  const progress = progressBy(stamped(status), receipt, sentenceOf)

  expect(progress).toMatchObject({ status: 'sent', error: null })
})

test('a message that was sent and then failed was sent when it was, also where proof comes later', () => {
  const receipt = { kind: 'delivered', at: later, reason: null } as const
  const progress = progressBy(stamped('failed', true), receipt, sentenceOf)

  expect(progress).toMatchObject({ status: 'delivered', sentAt: at, deliveredAt: later })
  expect(progress?.events).toEqual(['message.sent', 'message.delivered'])
})

test('failed never follows delivered, and nothing follows expired', () => {
  expect(failBy(stamped('delivered', true, true), 'x', sentenceOf)).toBeNull()
  expect(failBy(stamped('expired'), 'x', sentenceOf)).toBeNull()
  expect(
    progressBy(stamped('expired'), { kind: 'read', at: later, reason: null }, sentenceOf),
  ).toBeNull()
})

test('a failure of a sent message keeps when it was sent and says why', () => {
  expect(failBy(stamped('sent', true), 'not_on_imessage', sentenceOf)).toEqual({
    status: 'failed',
    sentAt: at,
    deliveredAt: null,
    readAt: null,
    error: { code: 'not_on_imessage', message: 'The recipient is not on iMessage.' },
    events: ['message.failed'],
  })
})
