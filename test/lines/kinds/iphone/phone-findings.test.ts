import { expect, test } from 'bun:test'

import { PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const UDID = '00008110-001A2B3C4D5E001E'
const OTHER = '00008130-001C25D40C62001C'
const NEVER = new AbortController().signal

/** What is found about phones of which `udids` shall be lines, and one is plugged in. */
async function findingsOf(udids: readonly (string | null)[], attached: readonly string[]) {
  const rig = new PhoneLineRig([])
  for (const udid of attached) rig.cable.attach(udid)
  const driver = rig.driver(udids.map((udid) => ({ udid, number: null })))
  return await driver.checkup(NEVER)
}

test('a phone that shall be a line and was never plugged in is missed, by the end of its UDID', async () => {
  const found = await findingsOf([UDID, OTHER], [UDID])

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

test('where the system refuses the cable, that is the reason and nothing else', async () => {
  const rig = new PhoneLineRig([])
  rig.cable.isDenied = true

  const found = await rig.driver().checkup(NEVER)

  expect(found.map(({ code, severity }) => [code, severity])).toEqual([['usbmux_denied', 'error']])
})
