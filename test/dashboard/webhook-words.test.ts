import { expect, test } from 'bun:test'

import {
  EVENT_GROUPS,
  USUAL_EVENTS,
  confirmation,
  deliveryState,
  isConfirmed,
  nextTryWords,
  hostAndPathOf,
  refusalWords,
  webhookState,
} from '../../src/dashboard/words/webhooks.ts'
import { countWords } from '../../src/domain/number-words.ts'
import { webhookName } from '../../src/domain/webhook-url.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { delivery, webhook } from './samples.ts'

test('every event has its place in the form, and a new webhook gets those of text messages', () => {
  const listed = [...EVENT_GROUPS.values()].flat()

  expect(listed.toSorted()).toEqual([...EVENT_NAMES].toSorted())
  expect(USUAL_EVENTS).toEqual([
    'message.received',
    'message.sent',
    'message.delivered',
    'message.read',
    'message.failed',
  ])
})

const NOW = Date.parse('2026-11-21T10:00:00.000Z')

test('a webhook is stopped before it is paused, paused before it fails', () => {
  const states = [
    webhookState(webhook({ is_active: false, disabled_reason: 'gone' })),
    webhookState(webhook({ is_active: false })),
    webhookState(webhook({ is_failing: true })),
    webhookState(webhook()),
  ]

  expect(states.map(({ text, tone }) => `${text} ${tone}`)).toEqual([
    'Stopped bad',
    'Paused plain',
    'Failing warn',
    'Active ok',
  ])
})

test('a delivery that was tried in vain is retrying, another one pending', () => {
  const states = [
    deliveryState(delivery({ status: 'pending' })),
    deliveryState(delivery({ status: 'pending', attempt_count: 2 })),
    deliveryState(delivery({ status: 'succeeded', attempt_count: 1 })),
    deliveryState(delivery({ status: 'exhausted', attempt_count: 12 })),
  ]

  expect(states.map(({ text }) => text)).toEqual(['Pending', 'Retrying', 'Delivered', 'Failed'])
})

test('the next attempt is shown only while a delivery is pending', () => {
  const soon = delivery({ next_attempt_at: '2026-11-21T10:00:20.000Z' })
  const later = delivery({ next_attempt_at: '2026-11-21T10:10:00.000Z' })
  const due = delivery({ next_attempt_at: '2026-11-21T09:59:00.000Z' })
  const over = delivery({ status: 'succeeded', next_attempt_at: null })

  expect(nextTryWords(soon, webhook(), NOW)).toBe('Next attempt within a minute')
  expect(nextTryWords(later, webhook(), NOW)).toBe('Next attempt in 10 min.')
  expect(nextTryWords(due, webhook(), NOW)).toBe('Queued: waiting for the endpoint to recover')
  expect(nextTryWords(over, webhook(), NOW)).toBeNull()
  expect(nextTryWords(later, webhook({ is_active: false }), NOW)).toBe(
    'On hold until the webhook is active',
  )
})

test('a refusal because of the pause says where to end it; any other speaks for itself', () => {
  const failure = { status: 409, details: {}, retryAfterSeconds: null }

  const paused = refusalWords({ ...failure, code: 'webhook_inactive', message: 'Not active.' })
  const full = refusalWords({ ...failure, code: 'storage_full', message: 'The disk is full.' })

  expect(paused).toContain('Turn it on in its settings first')
  expect(full).toBe('The disk is full.')
})

test('a webhook is named after its short description, else after its host and first segment', () => {
  const url = 'https://shop.example.com:8443/hook/a?token=abc'
  const key = `https://shop.example.com/${'k'.repeat(40)}`

  expect(webhookName({ url, description: 'CRM' })).toBe('CRM')
  expect(webhookName({ url, description: null })).toBe('shop.example.com:8443/hook')
  expect(webhookName({ url: key, description: 'long '.repeat(20) })).toBe('shop.example.com')
})

test('a large number is typed before so many are sent, with or without its commas', () => {
  expect([1, 999].map(confirmation)).toEqual([null, null])
  expect(isConfirmed('', 999)).toBe(true)
  expect(confirmation(30_020)).toBe('30020')
  expect(
    ['', '30', '30021', '30020', ' 30,020 '].map((typed) => isConfirmed(typed, 30_020)),
  ).toEqual([false, false, false, true, true])
})

test('what is sent is counted, and its address leaves out what may be secret', () => {
  const words = [
    countWords(1, 'event'),
    countWords(30_020, 'event'),
    countWords(2, 'delivery'),
    countWords(3, 'day'),
  ]

  expect(words).toEqual(['1 event', '30,020 events', '2 deliveries', '3 days'])
  expect(hostAndPathOf('https://n8n.example/hook/erp?token=secret')).toBe('n8n.example/hook/erp')
  expect(hostAndPathOf('https://n8n.example')).toBe('n8n.example')
})
