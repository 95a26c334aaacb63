// Every cause of alerts: from the cause to a text, an event and a POST, and to their ends.

import { expect, test } from 'bun:test'

import type { AlertCause } from '../../src/domain/alert.ts'
import type { Finding } from '../../src/domain/finding.ts'
import { makeKey } from '../support/limited-keys.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { noBackups, type Json } from '../support/test-relay.ts'
import { MINUTE, PHONE, startAlerts, type AlertStage } from './alerts-stage.ts'

const BROKEN = 'https://broken.example.com/hook'

/** Makes a cause, and gives what ends it. */
type Case = {
  readonly title: string
  readonly make: (at: AlertStage) => Promise<() => Promise<unknown>>
  /** Until the alert is raised, from the making on. */
  readonly afterMs: number
  readonly endMs?: number
  readonly options?: (faults: Faults) => Parameters<typeof startAlerts>[0]
}

type Faults = { isBackupBroken: boolean; isCertificateOld: boolean }

const OLD_CERTIFICATE: Finding = {
  code: 'certificate_expires',
  severity: 'warning',
  title: 'The certificate expires soon',
  why: 'In 10 days.',
  fix: 'Renew it.',
  key: null,
  depends_on: null,
}

const ASYNC = { Prefer: 'respond-async' }

const CASES: Readonly<Record<Exclude<AlertCause, 'disk'>, Case>> = {
  line_off: {
    title: 'The line +12025550801 is offline',
    afterMs: 6 * MINUTE,
    make: async ({ device }) => {
      await device.goOffline()
      return () => device.goOnline()
    },
  },
  webhook_failing: {
    title: 'broken.example.com/hook webhook is failing',
    afterMs: 90 * MINUTE,
    endMs: 30 * MINUTE,
    make: async (at) => {
      const answers = { code: 500 }
      at.sink.answer = ({ url }) => (url === BROKEN ? answers.code : 200)
      await at.post('/api/v1/webhooks', { url: BROKEN, events: ['message.sent'] })
      await at.send({ to: '+12025550701', text: 'hello' }, ASYNC)
      return async () => (answers.code = 200)
    },
  },
  approval_waiting: {
    title: 'Messages of line +12025550801 wait for an approval',
    afterMs: 16 * MINUTE,
    make: async (at) => {
      const key = await makeKey(at, { name: 'agent', rules: { approval: 'always' } })
      const { body } = await key.call(
        'POST',
        '/messages/send',
        { to: '+12025550701', text: 'held', phone_line_id: at.line.id },
        ASYNC,
      )
      return () => at.owner('POST', `/messages/${body.id}/approve`, {})
    },
  },
  backup: {
    title: 'Scheduled job "backup" is failing',
    // A quarter of an hour after the start, and then at 3:17 of the local time.
    afterMs: 28 * MINUTE,
    endMs: 15 * MINUTE,
    options: (faults) => ({
      clock: new TestClock(new Date(TEST_START).setHours(2, 45)),
      parts: {
        backupWorker: {
          ...noBackups,
          take: async ({ to }) => {
            if (faults.isBackupBroken) throw new Error('The disk says no.')
            return { path: to, sizeBytes: 0 }
          },
        },
      },
    }),
    make: async () => async () => {},
  },
  certificate: {
    title: 'The certificate expires soon',
    afterMs: 12 * MINUTE,
    options: (faults) => ({
      parts: { checkHost: async () => (faults.isCertificateOld ? [OLD_CERTIFICATE] : []) },
    }),
    make: async () => async () => {},
  },
  alerts_not_delivered: {
    title: '1 alert reached nobody',
    afterMs: 30 * MINUTE,
    make: async (at) => {
      // The phone wants no texts, and ntfy refuses, until the alert of the line has failed everywhere.
      await at.put(`/api/v1/opt-outs/${PHONE}`, {})
      at.sink.answer = ({ url }) => (url.startsWith('https://ntfy') ? 404 : 200)
      await at.device.goOffline()
      await at.passes(10 * MINUTE)
      at.sink.answer = () => 200
      await at.request('DELETE', `/api/v1/opt-outs/${PHONE}`)
      return () => at.device.goOnline()
    },
  },
}

for (const [cause, { title, make, afterMs, endMs = 5 * MINUTE, options }] of Object.entries(
  CASES,
)) {
  test(`the cause ${cause} is reported by text, event and POST, and so is its end`, async () => {
    const faults: Faults = { isBackupBroken: true, isCertificateOld: true }
    await using at = await startAlerts(options?.(faults))
    await at.phone()
    await at.ntfy()
    await at.hook()

    const end = await make(at)
    await at.passes(afterMs)
    const of = (all: readonly Json[]) =>
      all.filter((one) => JSON.stringify(one).includes(JSON.stringify(title).slice(1, -1)))
    const raised = [at.texts(), at.posts(), at.heard()].map((all) => of(all).length)
    const named = at.heard().filter((event) => event.alert.cause === cause)
    Object.assign(faults, { isBackupBroken: false, isCertificateOld: false })
    await end()
    await at.passes(endMs)
    const over = [at.texts(), at.posts(), at.heard()].map((all) => of(all).length)

    expect(raised).toEqual([1, 1, 1])
    expect(named).toMatchObject([{ event: 'alert.raised', alert: { cause, resolved_at: null } }])
    expect(over).toEqual([2, 2, 2])
    expect(at.heard().at(-1)).toMatchObject({ event: 'alert.resolved' })
  }, 120_000)
}

test('a full disk is reported by POST at once; no text can leave before there is room, and then says the truth', async () => {
  const faults = { isDiskFull: false }
  await using at = await startAlerts({
    parts: { disk: { freeBytes: () => (faults.isDiskFull ? 1_000 : Number.MAX_SAFE_INTEGER) } },
  })
  await at.phone()
  await at.ntfy()
  await at.hook()

  faults.isDiskFull = true
  await at.passes(7 * MINUTE)
  const full = [at.texts().length, at.posts().length]
  faults.isDiskFull = false
  await at.passes(2 * MINUTE)

  expect(full).toEqual([0, 1])
  expect(at.texts().at(-1)?.text).toMatch(
    /^Hookline: 1 over\nOver: The disk is almost full \(after 7 minutes\)/,
  )
  expect(at.posts()).toHaveLength(2)
  expect(at.heard().map(({ event }) => event)).toEqual(['alert.raised', 'alert.resolved'])
})
