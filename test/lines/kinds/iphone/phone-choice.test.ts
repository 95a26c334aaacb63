// Which phones become lines: those on a cable, and others only by their UDID.

import { expect, test } from 'bun:test'

import type { PhoneChoice } from '../../../../src/lines/kinds/iphone/options.ts'
import { OTHER_UDID, UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { NEVER } from '../../../support/iphone/ui-rig.ts'

const ALL = { udid: null, number: null }
const named = (udid: string) => ({ udid, number: null })

/** What becomes of a phone on a cable, and of another one that is in the network only. */
async function found(choices: readonly PhoneChoice[]) {
  const rig = new PhoneLineRig([])
  rig.cable.attach(UDID)
  rig.cable.attach(OTHER_UDID)
  rig.cable.moveToNetwork(OTHER_UDID)
  const driver = rig.driver(choices)
  return {
    lines: (await driver.discover(NEVER)).map(({ key }) => key),
    reports: driver.reports().map(({ key }) => key),
    findings: (await driver.checkup(NEVER)).map(({ code }) => code),
  }
}

test.each<readonly [string, readonly PhoneChoice[], readonly string[]]>([
  ['all: the one on the cable', [ALL], [UDID]],
  ['the one in the network, by its UDID', [named(OTHER_UDID)], [OTHER_UDID]],
  [
    'the one in the network, by its UDID in capitals',
    [named(OTHER_UDID.toUpperCase())],
    [OTHER_UDID],
  ],
  ['all, and the one in the network', [ALL, named(OTHER_UDID)], [UDID, OTHER_UDID]],
])('a line is %s', async (_what, choices, lines) => {
  expect(await found(choices)).toEqual({ lines: [...lines], reports: [...lines], findings: [] })
})

test('a phone in the network only is none of all, and the doctor misses one', async () => {
  const rig = new PhoneLineRig([])
  rig.cable.attach(UDID)
  rig.cable.moveToNetwork(UDID)
  const driver = rig.driver([ALL])

  expect([await driver.discover(NEVER), driver.reports()]).toEqual([[], []])
  expect((await driver.checkup(NEVER)).map(({ code }) => code)).toEqual(['iphone_not_seen'])
})

test('a line of all whose cable comes out is unplugged, though its phone is in the network', async () => {
  const host = await PhoneHost.online()
  const { cable } = host.rig

  cable.moveToNetwork(UDID)
  await host.until(() => host.state === 'absent')
  cable.attach(UDID)
  await host.until(() => host.state === 'online')

  expect(host.report.stop).toBeNull()
})
