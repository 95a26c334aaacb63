// Phone numbers as people write and read them. The relay itself knows E.164 only.

import { getCountries, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/min'

import { parseRecipient, type Handle } from '../domain/handle.ts'

/** The country by which national numbers are understood. */
export type Home =
  | { readonly defaultCountry: CountryCode }
  | { readonly defaultCallingCode: string }

export type Understood = { readonly handle: Handle } | { readonly why: string }

const TEXT_LENGTH_MAX = 64
/** A shorter number without its area code is one of many. */
const NATIONAL_LENGTH_MIN = 7

export function homeOfNumber(number: string): Home | null {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed === undefined) return null
  if (parsed.country !== undefined) return { defaultCountry: parsed.country }
  return { defaultCallingCode: parsed.countryCallingCode }
}

/** The country of all these numbers; null where they are of several. */
export function commonHome(numbers: readonly string[]): Home | null {
  const homes = numbers.flatMap((number) => homeOfNumber(number) ?? [])
  const [first = null] = homes
  return homes.every((home) => JSON.stringify(home) === JSON.stringify(first)) ? first : null
}

export function homeOfCountry(code: string): Home | null {
  const country = getCountries().find((known) => known === code.toUpperCase())
  return country === undefined ? null : { defaultCountry: country }
}

/** A number or an e-mail address as written by a person, for the relay. */
export function understandRecipient(written: string, home: Home | null): Understood {
  const text = written.trim().replace(/^(?:tel|sms|mailto):/i, '')
  if (text.length > TEXT_LENGTH_MAX && !text.includes('@')) return { why: 'is no phone number' }
  const exact = parseRecipient(text)
  if (exact !== null) return exact
  if (text.includes('@')) return { why: 'is no email address' }
  if (/\d[.,]\d*e\+?\d/i.test(text)) {
    return { why: 'is a number that a spreadsheet shortened; format the column as text' }
  }
  return understandNumber(text, home)
}

function understandNumber(text: string, home: Home | null): Understood {
  const digits = text.replaceAll(/\D/g, '')
  if (/^\s*\(?(?:\+|00)/.test(text)) {
    return international(`+${digits.replace(/^00/, '')}`)
  }
  if (home === null) {
    return { why: 'has no country code; write it as +49 170 1234567, or name the country' }
  }
  const options = { ...home, extract: false } as const
  const parsed = parsePhoneNumberFromString(text, options)
  if (parsed === undefined) return { why: 'is no phone number' }
  const isWhole = parsed.nationalNumber.length >= NATIONAL_LENGTH_MIN
  if (parsed.ext !== undefined) return { why: 'has an extension, which takes no messages' }
  if (!isWhole || !parsed.isValid()) return { why: 'is no valid number of its country' }
  const other = international(`+${digits}`)
  const hasCode = digits.startsWith(parsed.countryCallingCode)
  if (hasCode && 'handle' in other && other.handle !== parsed.number) {
    return { why: `may be +${digits} or ${parsed.number}; write it with + in front` }
  }
  return recipientOf(parsed.number)
}

/** `+49 (0)170…` is written with a zero that nobody abroad dials. */
function international(number: string): Understood {
  const parsed = parsePhoneNumberFromString(number)
  return parsed?.isPossible() === true
    ? recipientOf(parsed.number)
    : { why: 'is no valid international number' }
}

function recipientOf(number: string): Understood {
  return parseRecipient(number) ?? { why: 'is no phone number' }
}

/** The number in groups, as its country writes them; any other handle as it is. */
export function groupedNumber(handle: string): string {
  if (!handle.startsWith('+') || handle.length > TEXT_LENGTH_MAX) return handle
  const grouped = parsePhoneNumberFromString(handle)?.formatInternational() ?? handle
  // Zeros that a country does not write are digits of the handle all the same.
  return grouped.replaceAll(' ', '').replaceAll('-', '') === handle ? grouped : handle
}
