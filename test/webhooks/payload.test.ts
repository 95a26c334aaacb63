import { expect, test } from 'bun:test'

import { Compile } from 'typebox/compile'

import { EventList } from '../../src/api/events.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { payloadOf } from '../../src/webhooks/payload.ts'
import { samplePayload } from '../../src/webhooks/sample.ts'
import { TestClock } from '../support/test-clock.ts'
import { messageOf } from '../support/webhook-rig.ts'

const clock = new TestClock()
const ids = new LogicalClock(clock, systemRandom, 0)
const inbound = messageOf(1, { conversation: 'a', at: clock.now(), ids })
const outbound = { ...inbound, direction: 'outbound', source: 'api' } as const

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

test('the body of every event fits what readers of events are promised', () => {
  const page = Compile(EventList)

  for (const name of EVENT_NAMES) {
    const payload: unknown = JSON.parse(samplePayload(name, ids))
    const event = { id: 'evt_1', created_at: '2026-11-21T10:00:00.000Z', payload }
    const list = { data: [event], has_more: false, next_cursor: 'evt_1' }
    expect([name, page.Errors(list)]).toEqual([name, []])
  }
})

function flagsOf(...given: Parameters<typeof payloadOf>): readonly boolean[] {
  const { message } = JSON.parse(payloadOf(...given))
  return [message.isFromMe, message.isSent, message.isDelivered, message.isRead]
}
