// A message that failed and is sent once more: what the page offers, and what it says afterwards.

import { expect, test } from 'bun:test'

import type { Message } from '../../src/api/messages.ts'
import type { Answer } from '../../src/dashboard/api.ts'
import { sendAgain } from '../../src/dashboard/outbox.ts'
import { againWords, goesAsSms } from '../../src/dashboard/words/message-states.ts'
import { fakeApi, ok } from './page-rig.ts'
import { message, phoneLine } from './samples.ts'

const NO_IMESSAGE = {
  code: 'not_on_imessage',
  message: 'The recipient is not on iMessage.',
} as Message['error']

const outbound = (fields: Partial<Message>) => message({ direction: 'outbound', ...fields })

const SAID: readonly (readonly [Partial<Message>, 'good' | 'bad', string])[] = [
  [{ status: 'sent' }, 'good', 'Sent again as a new message.'],
  [{ status: 'read' }, 'good', 'Sent again as a new message.'],
  [{ status: 'queued' }, 'good', 'Queued as a new message.'],
  [{ status: 'sending' }, 'good', 'Queued as a new message.'],
  [
    { status: 'queued', queued_reason: 'quiet_hours' },
    'good',
    'Queued as a new message: Quiet hours. It will be sent when they end.',
  ],
  [{ status: 'failed', error: NO_IMESSAGE }, 'bad', 'Failed: The recipient is not on iMessage.'],
  [{ status: 'expired' }, 'bad', 'Expired.'],
  [
    { status: 'uncertain' },
    'bad',
    "Uncertain: We handed this to the device but couldn't confirm it was sent.",
  ],
]

test.each(SAID)(
  'a new message that is %j is reported as it is, not as sent',
  (fields, mood, text) => {
    expect(againWords(outbound(fields))).toEqual({ isBad: mood === 'bad', text })
  },
)

test('SMS is offered for a number that is not on iMessage, if its line can choose the service', () => {
  const failed = outbound({ status: 'failed', error: NO_IMESSAGE })
  const line = phoneLine()
  const able = phoneLine({ capabilities: { ...line.capabilities, choose_service: true } })

  const offers = [
    goesAsSms(failed, able),
    goesAsSms(failed, line),
    goesAsSms(failed, undefined),
    goesAsSms({ ...failed, error: null }, able),
    goesAsSms({ ...failed, handle: 'ana@example.com' }, able),
  ]

  expect(offers).toEqual([true, false, false, false, false])
})

/** Answers a send with `first`, and reads of a message with `now`. */
function apiOf(first: Answer<Message>, now: Answer<Message>) {
  const posts: unknown[] = []
  const api = fakeApi((id, { body, headers }) => {
    if (id === 'getMessage') return now
    posts.push([headers?.['idempotency-key'], headers?.['x-hookline-resends'], body])
    return first
  })
  return { api, posts }
}

test('the answer is the new message as it is now, once for each service', async () => {
  const accepted = outbound({ id: 'msg_2', status: 'queued' })
  const failed = { ...accepted, status: 'failed', error: NO_IMESSAGE } as const
  const { api, posts } = apiOf(ok(accepted), ok(failed))
  const old = outbound({ status: 'failed', text: 'hello', service_requested: 'iMessage' })

  const again = await sendAgain(api, old)
  await sendAgain(api, old, 'SMS')

  expect(again).toEqual(ok(failed))
  const body = { to: old.handle, text: 'hello', phone_line_id: 'line_1' }
  expect(posts).toEqual([
    ['again-msg_1', 'msg_1', { ...body, service: 'iMessage' }],
    ['SMS-msg_1', 'msg_1', { ...body, service: 'SMS' }],
  ])
})
