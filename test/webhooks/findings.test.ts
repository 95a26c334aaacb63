import { expect, test } from 'bun:test'

import { CLOSED } from '../../src/domain/breaker.ts'
import { timestamp, type WebhookId } from '../../src/domain/ids.ts'
import type { StoredWebhook } from '../../src/storage/webhooks.ts'
import { findingsOf } from '../../src/webhooks/findings.ts'

/** A field of the API, a column or a code, as no person says it. */
const API_NAME = /\b[a-z]+_[a-z_]+\b|\burl\b/

const WEBHOOK: StoredWebhook = {
  id: 'wh_1' as WebhookId,
  url: 'https://shop.example.com/hooks',
  events: ['message.received'],
  isActive: true,
  description: null,
  attachmentLinks: false,
  format: null,
  keyId: null,
  isCallback: false,
  lineIds: null,
  siteIds: null,
  isPublicOnly: false,
  disabledReason: null,
  pausedAt: null,
  createdBy: 'cli',
  createdAt: timestamp(0),
  updatedAt: timestamp(0),
  seq: 1,
  breaker: CLOSED,
}

test('findings about webhooks are written for people, without a name of the API', () => {
  const id = (name: string) => name as WebhookId
  const webhooks: readonly StoredWebhook[] = [
    { ...WEBHOOK, id: id('wh_gone'), disabledReason: 'gone' },
    { ...WEBHOOK, id: id('wh_failing'), disabledReason: 'failing' },
    { ...WEBHOOK, id: id('wh_sealed'), disabledReason: 'secret_unreadable' },
    { ...WEBHOOK, id: id('wh_cut'), isActive: true },
    { ...WEBHOOK, description: 'CRM', breaker: { ...CLOSED, failuresInRow: 6 } },
    { ...WEBHOOK, id: id('wh_open'), breaker: { ...CLOSED, failuresInRow: 30_020 } },
  ]

  const findings = findingsOf(webhooks, (each) => each === 'wh_cut')

  expect(findings).toHaveLength(6)
  for (const { title, why, fix } of findings) expect(`${title} ${why} ${fix}`).not.toMatch(API_NAME)
  expect(findings[0]?.fix).toBe(
    'Correct the URL and turn it back on, or delete it. Its events are kept for 30 days.',
  )
  expect(findings.slice(-2).map(({ title }) => title)).toEqual([
    'CRM webhook is failing',
    'shop.example.com/hooks webhook is failing',
  ])
  expect(findings.at(-1)?.why).toBe('shop.example.com failed 30,020 times in a row.')
})
