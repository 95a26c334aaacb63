import { expect, test } from 'bun:test'

import type {
  Phone,
  PhoneFacts,
  PhoneTroubleReason,
} from '../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { anchorFindings } from '../../../../src/lines/kinds/iphone/phone-findings.ts'
import { FACTS } from '../../../support/iphone/fake-cable.ts'
import { NUMBER, OTHER_UDID, UDID } from '../../../support/iphone/fake-phones.ts'

const OTHER_NUMBER = '+15559990002'
const LINE = { key: 'mac:501', number: NUMBER }
const DEVICE = { udid: UDID, serial: UDID, deviceId: 1, transport: 'usb' } as const

function phone(change: Partial<Phone> & { readonly say?: Partial<PhoneFacts> } = {}): Phone {
  const { say = {}, ...rest } = change
  return {
    udid: UDID,
    device: DEVICE,
    facts: { ...FACTS, ...say },
    trouble: null,
    numbers: [NUMBER],
    hasLowBattery: false,
    ...rest,
  }
}

function inTrouble(reason: PhoneTroubleReason): Partial<Phone> {
  return { trouble: { reading: 'trouble', udid: UDID, name: 'Line one', reason, why: 'seen' } }
}

/** `warning anchor_absent mac:501` for each finding. */
function wordsOf(phones: readonly Phone[], lines = [LINE]): readonly string[] {
  return anchorFindings(lines, phones).map(({ severity, code, key }) => {
    return `${severity} ${code} ${key ?? '-'}`
  })
}

test('a line whose phone is well, and one without any phone, have nothing to tell', () => {
  expect(wordsOf([phone()])).toEqual([])
  expect(wordsOf([])).toEqual([])
})

test('a phone that is gone is missed by the line whose number it had, and by no other', () => {
  const lines = [LINE, { key: 'mac:502', number: OTHER_NUMBER }]

  const findings = anchorFindings(lines, [phone({ device: null })])

  expect(findings).toEqual([
    {
      code: 'anchor_absent',
      severity: 'warning',
      title: 'The iPhone that holds the number of this line is not plugged in',
      why: '"Line one" was attached before. Without it Hookline cannot check that the number is safe.',
      fix: 'Plug it in again, and leave it switched on with its SIM.',
      key: 'mac:501',
      depends_on: null,
    },
  ])
})

test('a number that has moved to another phone is missed nowhere', () => {
  const moved = phone({ udid: OTHER_UDID })

  const told = wordsOf([phone({ device: null, say: { number: null } }), moved])

  expect(told).toEqual([])
})

test.each(['not_trusted', 'trust_dialog', 'trust_denied', 'pairing_stale'] as const)(
  'a phone of a line whose trust is %s is told at the line',
  (reason) => {
    expect(wordsOf([phone(inTrouble(reason))])).toEqual(['warning anchor_not_trusted mac:501'])
  },
)

test.each(['passcode_locked', 'usbmux_denied', 'unreadable'] as const)(
  'a phone of a line that is %s is told as unreadable',
  (reason) => {
    expect(wordsOf([phone(inTrouble(reason))])).toEqual(['warning anchor_unreadable mac:501'])
  },
)

test('a phone that never told its number is an info for all lines, once, and none without lines', () => {
  const unknown = phone({ facts: null, numbers: [], ...inTrouble('not_trusted') })
  const lines = [LINE, { key: 'mac:502', number: OTHER_NUMBER }]

  expect(wordsOf([unknown], lines)).toEqual(['info anchor_not_trusted -'])
  expect(wordsOf([unknown], [])).toEqual([])
})

test('a phone that has lost the number of its line, to another or to none, is a warning', () => {
  const other = phone({ numbers: [NUMBER, OTHER_NUMBER], say: { number: OTHER_NUMBER } })

  const findings = anchorFindings([LINE], [other])

  expect(findings.map(({ code, severity, why }) => [code, severity, why])).toEqual([
    ['anchor_number_mismatch', 'warning', '"Line one" has a number ending in 0002.'],
  ])
  expect(wordsOf([phone({ say: { number: null } })])).toEqual([
    'warning anchor_number_mismatch mac:501',
  ])
})

test('one phone with a strange number beside one line is an info; more of either say nothing', () => {
  const stranger = phone({ numbers: [OTHER_NUMBER], say: { number: OTHER_NUMBER } })
  const another = { ...stranger, udid: OTHER_UDID }

  expect(wordsOf([stranger])).toEqual(['info anchor_number_mismatch mac:501'])
  expect(wordsOf([stranger, another])).toEqual([])
  expect(wordsOf([stranger], [LINE, { key: 'mac:502', number: '+15551110003' }])).toEqual([])
  expect(wordsOf([{ ...stranger, device: null }])).toEqual([])
})

test('a low battery and an old iOS are told beside one another', () => {
  const weak = phone({
    hasLowBattery: true,
    say: { iosVersion: '14.8.1', battery: { percent: 7, isCharging: false } },
  })

  const findings = anchorFindings([LINE], [weak])

  expect(findings.map(({ code, severity, why }) => [code, severity, why])).toEqual([
    [
      'anchor_low_battery',
      'warning',
      '"Line one" is at 7 %, and has been low for ten minutes or longer.',
    ],
    [
      'anchor_ios_too_old',
      'info',
      '"Line one" runs iOS 14.8.1. Versions from 15 on are known to work.',
    ],
  ])
  expect(wordsOf([phone({ say: { iosVersion: '15.0' } })])).toEqual([])
})

test('no finding holds a whole number', () => {
  const phones = [
    phone({ device: null }),
    phone({ udid: OTHER_UDID, numbers: [OTHER_NUMBER], say: { number: OTHER_NUMBER } }),
  ]

  const text = JSON.stringify(anchorFindings([LINE], phones))

  expect(text).not.toContain(NUMBER.slice(2))
  expect(text).not.toContain(OTHER_NUMBER.slice(2))
})
