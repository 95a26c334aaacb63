// Findings that the owner puts off, on a relay whose line has lost its device.

import { expect, test } from 'bun:test'

import { startDashboard } from '../http/dashboard-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A signed-in owner who sees `line_offline`, and the call that snoozes it for so long. */
async function lineWithoutDevice() {
  const driver = new ScriptedDriver('simulated')
  driver.add('+12025550801')
  driver.add('+12025550802')
  const relay = await startDashboard({ drivers: [driver] })
  await relay.claim()
  const browser = await relay.logIn()
  driver.devices.shift()
  await relay.clock.advance(10_000)
  const state = async () => (await browser.get('/dashboard/state')).body
  const snooze = async (ms: number | null, code = 'line_offline') => {
    const { data } = (await browser.get('/dashboard/api/health')).body
    const found = data.find((each: { readonly code: string }) => each.code === code)
    const about = found?.about ?? { kind: 'relay', id: null }
    const until = ms === null ? null : new Date(relay.clock.now() + ms).toISOString()
    return browser.put('/dashboard/api/snoozes', { code, about, until })
  }
  return { relay, driver, state, snooze, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() }
}

test('a snoozed finding leaves the headline until its time has come, or its owner shows it again', async () => {
  await using stage = await lineWithoutDevice()
  const { relay, state, snooze } = stage
  const before = await state()

  const answer = await snooze(MINUTE_MS)
  const during = await state()
  await relay.clock.advance(MINUTE_MS + 1_000)
  const after = await state()
  await snooze(DAY_MS)
  const shown = await snooze(null)
  const again = await state()

  expect(answer.body).toMatchObject({ code: 'line_offline', snoozed_until: expect.any(String) })
  expect(
    [before, during, after, again].map(({ findings, snoozed }) => [
      findings.length,
      snoozed.length,
    ]),
  ).toEqual([
    [1, 0],
    [0, 1],
    [1, 0],
    [1, 0],
  ])
  expect(shown.body.snoozed_until).toBeUndefined()
  expect(during.title).toBe('Everything works')
})

test('a time that is past, an error for more than 30 days, and a finding that is none, are refused', async () => {
  await using stage = await lineWithoutDevice()
  const lost = {
    code: 'messages_may_be_missing',
    severity: 'error',
    title: 'Lost',
    why: '',
    fix: '',
  } as const
  stage.driver.checkup = async () => [{ ...lost, key: '+12025550801', depends_on: null }]

  const answers = [
    await stage.snooze(-MINUTE_MS),
    await stage.snooze(31 * DAY_MS, 'messages_may_be_missing'),
    await stage.snooze(DAY_MS, 'storage_low'),
    await stage.snooze(30 * DAY_MS, 'messages_may_be_missing'),
  ]

  expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual([
    [400, 'invalid_request'],
    [400, 'invalid_request'],
    [404, 'not_found'],
    [200, undefined],
  ])
})
