// What Home shows: the state of the relay in words, and findings under their causes.

import { expect, test } from 'bun:test'

import { relayState as relayStateOf } from '../../src/health/relay-state.ts'
import { branchesOf } from '../../src/http/dashboard-health.ts'
import { phoneLine, webhook } from '../dashboard/samples.ts'
import { finding } from '../http/dashboard-samples.ts'

const [LINE, WEBHOOK] = [phoneLine(), webhook()]
const NOTHING = { lines: [LINE], findings: [], webhooks: [] }

function relayState(known: Omit<Parameters<typeof relayStateOf>[0], 'branches'>) {
  return relayStateOf({ ...known, branches: branchesOf(known.findings) })
}

test('where all is well, one sentence says so; a line is ready if a message could go out by it', () => {
  const lines = [
    LINE,
    { ...LINE, status: 'offline' },
    { ...LINE, is_enabled: false },
    { ...LINE, imessage_active: false },
  ] as const

  expect(relayState({ ...NOTHING, lines }).lines).toBe('1 of 4 lines ready')
  expect(relayState(NOTHING)).toEqual({
    tone: 'ok',
    title: 'Everything works',
    lines: 'The line is ready',
    webhooks: 'no webhooks',
    findings: [],
    snoozed: [],
  })
})

test('an error comes before a warning, and no line that is ready before both', () => {
  const warning = finding({ code: 'sleep_enabled' })
  const error = finding({ code: 'storage_full', severity: 'error' })
  const offline = { ...LINE, status: 'offline' } as const

  const states = [
    relayState({ ...NOTHING, findings: [warning, warning] }),
    relayState({ ...NOTHING, findings: [warning, error, warning] }),
    relayState({ ...NOTHING, findings: [error], lines: [offline] }),
    relayState({ ...NOTHING, lines: [] }),
  ]

  expect(states.map(({ tone, title }) => `${tone}: ${title}`)).toEqual([
    'warn: 2 issues need attention',
    'bad: 3 issues need attention',
    'bad: No line can send',
    'warn: No phone line yet',
  ])
})

test('webhooks are fine, fail, are paused, or have stopped', () => {
  const stopped = { ...WEBHOOK, disabled_reason: 'gone' } as const
  const failing = { ...WEBHOOK, is_failing: true } as const

  const words = [
    [WEBHOOK],
    [failing],
    [WEBHOOK, failing],
    [WEBHOOK, failing, failing, stopped],
    [WEBHOOK, { ...failing, is_active: false }],
  ].map((webhooks) => relayState({ ...NOTHING, webhooks }).webhooks)

  expect(words).toEqual([
    'all webhooks working',
    'the webhook is failing',
    '1 of 2 webhooks is failing',
    '1 of 4 webhooks is stopped, 2 of 4 webhooks are failing',
    '1 of 2 webhooks is paused',
  ])
})

test('a finding stands under its cause, of its own line or of the relay, unless that is gone or itself', () => {
  const off = finding({ code: 'device_absent', line_id: 'line_1' })
  const late = finding({ code: 'line_offline', line_id: 'line_1', depends_on: 'device_absent' })
  const other = finding({ code: 'line_offline', line_id: 'line_2', depends_on: 'device_absent' })
  const deeper = finding({ code: 'queue', line_id: 'line_1', depends_on: 'line_offline' })
  const alone = finding({ code: 'a', depends_on: 'gone' })
  const itself = finding({ code: 'b', depends_on: 'b' })

  expect(branchesOf([late, deeper, off, other])).toEqual([
    {
      cause: off,
      consequences: [late, deeper],
      place: { name: 'line', href: '#/lines/line_1' },
      guide: null,
    },
    {
      cause: other,
      consequences: [],
      place: { name: 'line', href: '#/lines/line_2' },
      guide: null,
    },
  ])
  expect(branchesOf([alone, itself]).map(({ cause }) => cause)).toEqual([alone, itself])
})

test('each finding leads to the page on which it can be mended, and to the manual that explains it', () => {
  const findings = [
    finding({ code: 'line_offline', line_id: 'line_1' }),
    finding({ code: 'webhook_failing', about: { kind: 'webhook', id: 'wh_1' } }),
    finding({ code: 'storage_full' }),
    finding({ code: 'possible_loop', line_id: 'line_1' }),
    finding({ code: 'messages_uncertain', line_id: 'line_1' }),
    finding({ code: 'sleep_enabled' }),
  ]

  expect(branchesOf([finding({ code: 'full_disk_access' })])[0]?.guide).toBe(
    '/guide/mac#when-a-permission-or-a-connection-is-lost',
  )
  expect(branchesOf(findings).map(({ place }) => place.href)).toEqual([
    '#/lines/line_1',
    '#/webhooks/wh_1',
    '#/settings',
    '#/conversations',
    '#/messages?status=uncertain&line=line_1',
    '#/lines',
  ])
})
