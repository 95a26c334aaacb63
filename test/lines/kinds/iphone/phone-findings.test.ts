// What the doctor reports about a phone: how far it has come, and what stops it.

import { describe, expect, test } from 'bun:test'

import type { Phone as PhoneReport } from '../../../../src/api/owner.ts'
import type { PhoneFacts } from '../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import {
  type BlockerCode,
  BLOCKERS,
  fitnessBlocker,
  offlineReason,
  PHONE_STAGES,
  stageIndex,
} from '../../../../src/lines/kinds/iphone/phone-blockers.ts'
import { phoneReport } from '../../../../src/lines/kinds/iphone/phone-findings.ts'
import { FakeCable } from '../../../support/iphone/fake-cable.ts'
import { OTHER_UDID, UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { FRIEND, NEVER, OTHER } from '../../../support/iphone/ui-rig.ts'

// The table has no other keys.
const CODES = Object.keys(BLOCKERS) as readonly BlockerCode[]

function reached({ states }: PhoneReport): readonly string[] {
  return states.filter((stage) => stage.is_reached).map(({ state }) => state)
}

function ladder(udidOf: FakeCable): PhoneReport {
  const [phone] = udidOf.phones()
  if (phone === undefined) throw new Error('There is no phone.')
  return phoneReport(phone, null)
}

describe('of a phone that is no line yet', () => {
  test.each<readonly [string, (cable: FakeCable) => void, string, BlockerCode | null]>([
    ['not attached', (cable) => cable.detach(UDID), 'absent', 'device_absent'],
    ['not trusted', (cable) => cable.refuse(UDID, 'not_trusted'), 'attached', 'not_trusted'],
    ['not read yet', (cable) => cable.attach(UDID, null), 'attached', 'unreadable'],
    ['too old', (cable) => cable.tell(UDID, { iosVersion: '16.7' }), 'trusted', 'ios_too_old'],
    ['fit', () => {}, 'trusted', null],
  ])('the ladder ends where it stands: %s', (_what, happens, state, code) => {
    const cable = new FakeCable()
    cable.attach(UDID)

    happens(cable)

    const report = ladder(cable)
    expect(reached(report)).toEqual(PHONE_STAGES.slice(0, stageIndex(state as never) + 1))
    expect(report.stop?.code ?? null).toBe(code)
  })
})

test.each<readonly [Partial<PhoneFacts>, BlockerCode | null]>([
  [{ iosVersion: '16.7.2' }, 'ios_too_old'],
  [{ iosVersion: '17.3.1' }, 'ios_too_old'],
  [{ iosVersion: '17.4' }, 'ios_too_old'],
  [{ iosVersion: '17.4.1' }, null],
  [{ iosVersion: '17.5' }, null],
  [{ iosVersion: '17.10' }, null],
  [{ iosVersion: '18' }, null],
  [{ iosVersion: '26.1' }, null],
  [{ language: 'en' }, null],
  [{ language: 'en-US' }, null],
  [{ language: null }, null],
  [{ language: 'es' }, 'language_not_english'],
  [{ language: 'de-DE' }, 'language_not_english'],
])('a phone that reports %j is stopped by %p', (facts, code) => {
  const cable = new FakeCable()
  cable.attach(UDID, facts)

  const stop = fitnessBlocker(cable.phones()[0] ?? null)

  expect(stop?.code ?? null).toBe(code)
})

test('every stop says what is wrong, why, and what its owner does, and the line says the same', () => {
  for (const code of CODES) {
    const { title, why, fix } = BLOCKERS[code]

    expect(title).toMatch(/^[A-Za-z].*[a-zA-Z]$/)
    for (const sentence of [why, fix]) expect(sentence).toMatch(/^[A-Z].*\.$/)
    expect(offlineReason({ code, detail: 'Detail.' }).hint).toStartWith(fix)
  }
})

test('where the system refuses the socket of usbmuxd that is one finding, of no phone', async () => {
  const rig = new PhoneLineRig([])
  rig.cable.isDenied = true

  const findings = await rig.driver().checkup(NEVER)

  expect(findings.map(({ code, severity, key }) => ({ code, severity, key }))).toEqual([
    { code: 'usbmux_denied', severity: 'error', key: null },
  ])
})

test('conversations that are left unread are a finding until they are read', async () => {
  const host = await PhoneHost.online()
  const { phone } = host.rig
  const open = phone.open.bind(phone)
  phone.open = (key) => {
    if (key !== OTHER) open(key)
  }
  phone.receive(OTHER, 'cannot be opened')
  phone.receive(FRIEND, 'hello')

  await host.until(() => host.texts.length === 1)
  await host.rig.clock.advance(10_000)
  const during = { texts: host.texts, findings: await host.findings() }
  phone.open = open
  await host.rig.clock.advance(90_000)

  expect(during).toEqual({ texts: ['hello'], findings: ['conversations_not_read'] })
  expect(host.texts).toEqual(['hello', 'cannot be opened'])
  expect(await host.findings()).toEqual([])
})

test('a line that was thrown further down than its stop is reported where it is', async () => {
  const host = await PhoneHost.online()
  const { rig } = host
  const { phone } = rig
  phone.screen = { on: 'elsewhere' }
  phone.activate = () => {}
  await host.until(() => rig.launcher.launched.length > 1)

  rig.launcher.preparesForEver.add(UDID)
  await host.until(() => reached(host.report).at(-1) === 'trusted')

  expect(host.report.stop?.code).toBe('ui_unknown')
})

test('facts of the phone are reported, and without them what is known of its trouble', async () => {
  const cable = new FakeCable()
  cable.attach(UDID, { name: 'Line one', iosVersion: '18.6.2' })
  const fit = ladder(cable)
  cable.attach(UDID, null)
  cable.refuse(UDID, 'not_trusted')

  const untrusted = ladder(cable)

  expect(fit).toMatchObject({
    key: UDID,
    name: 'Line one',
    ios_version: '18.6.2',
    battery_percent: 87,
    unknown_screen: null,
  })
  expect(untrusted).toMatchObject({ name: null, ios_version: null, battery_percent: null })
})

/** What is found about phones of which `udids` shall be lines, and one is plugged in. */
async function findingsOf(udids: readonly (string | null)[], attached: readonly string[]) {
  const rig = new PhoneLineRig([])
  for (const udid of attached) rig.cable.attach(udid)
  const driver = rig.driver(udids.map((udid) => ({ udid, number: null })))
  return await driver.checkup(NEVER)
}

test('a phone that shall be a line and was never plugged in is missed, by the end of its UDID', async () => {
  const found = await findingsOf([UDID, OTHER_UDID], [UDID])

  expect(found.map(({ code, key, why }) => [code, key, why])).toEqual([
    [
      'iphone_not_seen',
      null,
      'The option iphone-lines asks for it. None of those ending in 62001C was plugged in since ' +
        'the relay started.',
    ],
  ])
})

test('where any phone shall be a line, one is enough', async () => {
  const [none, one] = [await findingsOf([null], []), await findingsOf([null], [UDID])]

  expect(none.map(({ code }) => code)).toEqual(['iphone_not_seen'])
  expect(one).toEqual([])
})
