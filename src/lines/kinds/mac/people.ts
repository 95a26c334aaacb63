// Spellings of people in the database of Messages.

import { deviceHandle, type Handle, type Home, personOf } from '../../../domain/handle.ts'

/** Messages adds this to the names of some SMS senders: `22395(smsft)`, `AXISBK-S(smsft_fi)` (beeper). */
const SMS_SUFFIX = /(?<=.)\(sms[a-z_]*\)$/

export function spelledHandle(spelling: string): Handle {
  return deviceHandle(spelling.replace(SMS_SUFFIX, ''))
}

/** The person behind a spelling, by the rules of the line's country: the only form in which people are compared. */
export function personBehind(spelling: string, home: Home | null): Handle {
  return personOf(spelling.replace(SMS_SUFFIX, ''), home)
}
