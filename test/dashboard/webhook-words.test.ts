import { expect, test } from 'bun:test'

import type { SeenDelivery } from '../../src/api/dashboard.ts'
import {
  confirmation,
  deliveryState,
  isConfirmed,
  nextTryWords,
  personWords,
  hostAndPathOf,
  refusalWords,
} from '../../src/dashboard/words/deliveries.ts'
import { EVENT_GROUPS, USUAL_EVENTS } from '../../src/dashboard/words/webhook-form.ts'
import { figureWords, probeWords, webhookState } from '../../src/dashboard/words/webhooks.ts'
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

  expect(paused).toContain('Resume it first')
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

test('a delivery is named after its person as the owner knows them, else as the event does', () => {
  const of = (person: SeenDelivery['person']) => personWords(delivery({ person }))
  const handle = '+12025550147'

  expect(of({ handle, name: 'Ana', is_group: false })).toBe('Ana')
  expect(of({ handle, name: null, is_group: false })).toBe(handle)
  expect(of({ handle: null, name: null, is_group: true })).toBe('Group')
  expect(of(null)).toBe('This event is no longer kept.')
  expect(personWords(delivery({ event_id: 'evt_test_1' }))).toBe('Test')
})

test('the next probe is reported with its time, and with what follows it', () => {
  const day = {
    webhook_id: 'wh_1',
    waiting: 41,
    failing_since: null,
    failing: null,
    is_test_inbox: false,
    stopped: null,
  }

  const later = probeWords({ ...day, next_probe_at: '2026-11-21T10:03:00.000Z' }, NOW)
  const due = probeWords({ ...day, waiting: 1, next_probe_at: '2026-11-21T09:00:00.000Z' }, NOW)

  expect(later).toContain('(next: in 3 min.). Once it succeeds, all 41 pending deliveries')
  expect(due).toContain('any moment now). Once it succeeds, the pending delivery goes out.')
})

test('the figures of a day are the share that was delivered, and how long that took', () => {
  const strip = { webhook_id: 'wh_1', from: '', causes: [], p50_ms: 50, p95_ms: null }

  expect(figureWords({ ...strip, cells: [{ ok: 0, failed: 0 }] })).toBe('')
  expect(figureWords({ ...strip, cells: [{ ok: 0, failed: 3 }] })).toBe('0% delivered')
  expect(figureWords({ ...strip, cells: [{ ok: 3, failed: 1 }] })).toBe(
    '75% delivered, p50 ≤ 50 ms, p95 > 5 s',
  )
})
