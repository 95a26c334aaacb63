import { expect, test } from 'bun:test'

import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { payloadOf } from '../../src/webhooks/payload.ts'
import { TestClock } from '../support/test-clock.ts'
import { messageOf } from '../support/webhook-rig.ts'

const clock = new TestClock()
const stamps = new LogicalClock(clock, systemRandom, 0)
const inbound = messageOf(1, { conversation: 'a', at: clock.now(), stamps })
const outbound = { ...inbound, direction: 'outbound', source: 'api' } as const

test('a payload has the ten fields of the specification, in their names and types', () => {
  const payload = JSON.parse(payloadOf('message.received', inbound))

  expect(payload).toEqual({
    event: 'message.received',
    phone_line_id: inbound.lineId,
    message: {
      id: inbound.id,
      guid: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
      text: 'Message 1',
      handle: '+12025550147',
      chatIdentifier: '+12025550147',
      isFromMe: false,
      service: 'iMessage',
      isSent: true,
      isDelivered: true,
      isRead: false,
    },
  })
})

test('the flags say what the event says, whatever has become of the message since', () => {
  const read = { ...outbound, deliveredAt: outbound.sentAt, readAt: outbound.sentAt }

  expect(flagsOf('message.sent', read)).toEqual([true, true, false, false])
  expect(flagsOf('message.delivered', read)).toEqual([true, true, true, false])
  expect(flagsOf('message.read', outbound)).toEqual([true, true, true, true])
})

test('a failed message says what is known of it, and why it failed', () => {
  const error = { code: 'expired', message: 'It waited for too long.' }
  const failed = { ...outbound, sentAt: null, error }

  expect(flagsOf('message.failed', failed)).toEqual([true, false, false, false])
  expect(JSON.parse(payloadOf('message.failed', failed)).message.error).toEqual(error)
})

function flagsOf(...given: Parameters<typeof payloadOf>): readonly boolean[] {
  const { message } = JSON.parse(payloadOf(...given))
  return [message.isFromMe, message.isSent, message.isDelivered, message.isRead]
}
