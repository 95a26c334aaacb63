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

const OTHER_LINE = { key: 'mac:502', number: OTHER_NUMBER }
const GONE = phone({ device: null, say: { number: null } })
const UNKNOWN = phone({ facts: null, numbers: [], ...inTrouble('not_trusted') })
const STRANGER = phone({ numbers: [OTHER_NUMBER], say: { number: OTHER_NUMBER } })
const UNTRUSTED = ['not_trusted', 'trust_dialog', 'trust_denied', 'pairing_stale'] as const
const UNREAD = ['passcode_locked', 'usbmux_denied', 'unreadable'] as const

type Row = readonly [
  what: string,
  phones: readonly Phone[],
  words: readonly string[],
  lines?: (typeof LINE)[],
]

test.each<Row>([
  ['a phone that is well', [phone()], []],
  ['no phone', [], []],
  ['a number that has moved to another phone', [GONE, phone({ udid: OTHER_UDID })], []],
  ...UNTRUSTED.map((reason): Row => [
    reason,
    [phone(inTrouble(reason))],
    ['warning anchor_not_trusted mac:501'],
  ]),
  ...UNREAD.map((reason): Row => [
    reason,
    [phone(inTrouble(reason))],
    ['warning anchor_unreadable mac:501'],
  ]),
  // An info for all lines, once, and none without lines.
  ['no number yet', [UNKNOWN], ['info anchor_not_trusted -'], [LINE, OTHER_LINE]],
  ['no number yet, and no lines', [UNKNOWN], [], []],
  [
    'no number any more',
    [phone({ say: { number: null } })],
    ['warning anchor_number_mismatch mac:501'],
  ],
  // One phone with a strange number beside one line; more of either say nothing.
  ['a strange number', [STRANGER], ['info anchor_number_mismatch mac:501']],
  ['two strange numbers', [STRANGER, { ...STRANGER, udid: OTHER_UDID }], []],
  [
    'a strange number, two lines',
    [STRANGER],
    [],
    [LINE, { key: 'mac:502', number: '+15551110003' }],
  ],
  ['a strange phone that is gone', [{ ...STRANGER, device: null }], []],
  ['iOS 15', [phone({ say: { iosVersion: '15.0' } })], []],
])('%s', (_what, phones, words, lines = [LINE]) => {
  const findings = anchorFindings(lines, phones)

  expect(findings.map(({ severity, code, key }) => `${severity} ${code} ${key ?? '-'}`)).toEqual([
    ...words,
  ])
})

test('a phone that is gone is missed by the line whose number it had, and by no other', () => {
  const findings = anchorFindings([LINE, OTHER_LINE], [phone({ device: null })])

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

test('a phone that has another number than its line is a warning', () => {
  const other = phone({ numbers: [NUMBER, OTHER_NUMBER], say: { number: OTHER_NUMBER } })

  const findings = anchorFindings([LINE], [other])

  expect(findings.map(({ code, severity, why }) => [code, severity, why])).toEqual([
    ['anchor_number_mismatch', 'warning', '"Line one" has a number ending in 0002.'],
  ])
})

test('a low battery and an old iOS are reported beside one another', () => {
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
