// How many issues there are, by Home and by the command line, if some of them are snoozed.

import { expect, test } from 'bun:test'

import { findingWords } from '../../src/domain/finding.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { findingName, HealthCatalogue, ofRelay } from '../../src/health/catalogue.ts'
import { relayState } from '../../src/health/relay-state.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { phoneLine } from '../dashboard/samples.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const DAY_MS = 86_400_000

/** A warning, what follows from it, and what is worse and follows from that. */
const FOUND = [
  { code: 'filevault_on', severity: 'warning', depends_on: null },
  { code: 'auto_login_off', severity: 'warning', depends_on: 'filevault_on' },
  { code: 'line_offline', severity: 'error', depends_on: 'auto_login_off' },
  { code: 'heartbeat_failed', severity: 'warning', depends_on: null },
] as const

const ROWS: readonly { snoozed: readonly string[]; home: string; command: string | null }[] = [
  { snoozed: [], home: '4 issues need attention', command: '1 problem, 3 warnings' },
  {
    snoozed: ['heartbeat_failed'],
    home: '3 issues need attention',
    command: '1 problem, 2 warnings',
  },
  {
    snoozed: ['auto_login_off'],
    home: '3 issues need attention',
    command: '1 problem, 2 warnings',
  },
  { snoozed: ['filevault_on'], home: '2 issues need attention', command: '1 problem, 1 warning' },
  {
    snoozed: ['filevault_on', 'line_offline'],
    home: '1 issue needs attention',
    command: '1 warning',
  },
  {
    snoozed: ['filevault_on', 'line_offline', 'heartbeat_failed'],
    home: 'Everything works',
    command: null,
  },
]

for (const { snoozed, home, command } of ROWS) {
  test(`with ${snoozed.join(', ') || 'nothing'} snoozed, Home and the command line count alike`, async () => {
    const ids = new LogicalClock(new TestClock(), systemRandom, 0)
    const snoozes = FOUND.filter(({ code }) => snoozed.includes(code)).map(({ code, severity }) => {
      const finding = findingName(code, { kind: 'relay', id: null })
      return [finding, { finding, severity, until: timestamp(TEST_START + DAY_MS) }] as const
    })
    const health = new HealthCatalogue(ids, () => new Map(snoozes))
    const words = { title: 'Title', why: 'Why.', fix: 'Fix.', key: null }
    health.include(async () => FOUND.map((one) => ofRelay({ ...one, ...words })))

    const findings = await health.list()

    const known = { lines: [phoneLine()], webhooks: [], findings, branches: [] }
    expect(relayState(known).title).toBe(home)
    expect(findingWords(findings)).toBe(command)
  })
}
