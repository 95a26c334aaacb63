// Who the other side of a conversation is. Only this file parses numbers and addresses, as people write them and as
// devices spell them, and decides whether two of them are the same person.

import {
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
  type CountryCode,
  type PhoneNumber,
} from 'libphonenumber-js/min'

import type { Branded } from './ids.ts'

/**
 * The other side of a conversation: a number in E.164, an email address in lower case, or, from a device, any
 * text of up to 255 characters, such as a short code or a sender's name.
 */
export type Handle = Branded<string, 'Handle'>

export type Recipient = { readonly kind: 'phone' | 'email'; readonly handle: Handle }

/** The country whose rules apply to a number without a country code. */
export type Home =
  | { readonly defaultCountry: CountryCode }
  | { readonly defaultCallingCode: string }

export type Understood = { readonly handle: Handle } | { readonly why: string }

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL =
  /^[^\s@<>"(),:;\\[\]-][^\s@<>"(),:;\\[\]]{0,62}@[a-z0-9](?:[a-z0-9.-]{0,250})[a-z0-9]$/
const NUMBER = /^\+?[\d\s().\-\u2010-\u2015/]+$/
const HANDLE_LENGTH_MAX = 255
const NUMBER_LENGTH_MAX = 64
/** Shorter numbers lack their area code, or are short codes of companies. */
const NATIONAL_LENGTH_MIN = 7
/** Digits of a North American number without its `1`. */
const NORTH_AMERICA_LENGTH = 10
/** Direction marks and other invisible characters: Apple's Contacts copies them with a number. */
const INVISIBLE = /\p{Cf}/gu
/** Numbers that may contain a digit not dialed from abroad: a zero after the country code, Mexico's former `1`. */
const MAY_HAVE_TRUNK_DIGIT = /^\+(?:[2-9]\d{0,2}0|521\d{10}$)/

/** The sender in test events; a real line refuses to send to it. */
export const TEST_HANDLE = deviceHandle('+12025550100')

/** A client's `to`: E.164 or an email address; null for anything else. */
export function parseRecipient(text: string): Recipient | null {
  if (E164.test(text)) return { kind: 'phone', handle: deviceHandle(withoutTrunkDigit(text)) }
  const address = text.toLowerCase()
  if (address.length <= HANDLE_LENGTH_MAX && EMAIL.test(address)) {
    return { kind: 'email', handle: deviceHandle(address) }
  }
  return null
}

/** The handle for a device's spelling: cut to 255 characters, email addresses in lower case. */
export function deviceHandle(text: string): Handle {
  const cut = text.slice(0, HANDLE_LENGTH_MAX).toWellFormed().replaceAll('\0', '\uFFFD')
  return (cut.includes('@') ? cut.toLowerCase() : cut) as Handle // The brand means "normalized".
}

/** True if a text is a number, in any form, that is too long for a short code. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text) && text.replaceAll(/\D/g, '').length >= NATIONAL_LENGTH_MIN
}

/**
 * The person behind a device's spelling: in E.164 if the number is unambiguous by the rules of `home`, the country
 * of the line. Short codes, sender names and ambiguous numbers stay as the device spells them.
 */
export function personOf(spelling: string, home: Home | null): Handle {
  const text = withoutWrapping(spelling)
  const exact = parseRecipient(text)
  if (exact !== null) return exact.handle
  if (!NUMBER.test(text) || text.length > NUMBER_LENGTH_MAX) return deviceHandle(spelling)
  if (!isNumber(text)) return deviceHandle(text)
  const digits = text.replaceAll(/\D/g, '')
  const readings = isInternational(text)
    ? [international(text)]
    : [nationalReading(text, digits, home), readingWithCode(digits, home)]
  const [number, ...others] = new Set(readings.filter((reading) => reading !== null))
  return deviceHandle(number === undefined || others.length > 0 ? text : number)
}

/** True if two spellings are of the same person, by the rules of the line's country. */
export function isSamePerson(one: string, other: string, home: Home | null): boolean {
  return one === other || personOf(one, home) === personOf(other, home)
}

/** The country of a number in E.164; null if the number has none. */
export function homeOfNumber(number: string): Home | null {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed === undefined) return null
  if (parsed.country !== undefined) return { defaultCountry: parsed.country }
  return { defaultCallingCode: parsed.countryCallingCode }
}

/** The country that all these numbers share; null if there is none. */
export function commonHome(numbers: readonly string[]): Home | null {
  const homes = numbers.flatMap((number) => homeOfNumber(number) ?? [])
  const [first = null] = homes
  return homes.every((home) => JSON.stringify(home) === JSON.stringify(first)) ? first : null
}

export function homeOfCountry(code: string): Home | null {
  const country = getCountries().find((known) => known === code.toUpperCase())
  return country === undefined ? null : { defaultCountry: country }
}

/** The handle for a number or email address that a person typed or pasted, or why there is none. */
export function understandRecipient(written: string, home: Home | null): Understood {
  const text = withoutWrapping(written)
  if (text.length > NUMBER_LENGTH_MAX && !text.includes('@')) return { why: 'is no phone number' }
  const exact = parseRecipient(text)
  if (exact !== null) return exact
  if (text.includes('@')) return { why: 'is no email address' }
  if (/\d[.,]\d*e\+?\d/i.test(text)) {
    return { why: 'is a number that a spreadsheet shortened; format the column as text' }
  }
  if (!isInternational(text)) return understandNational(text, home)
  const number = international(text)
  return number === null ? { why: 'is no valid international number' } : recipientOf(number)
}

/** The number grouped as its country writes it; any other handle unchanged. */
export function groupedNumber(handle: string): string {
  if (!handle.startsWith('+') || handle.length > NUMBER_LENGTH_MAX) return handle
  const grouped = parsePhoneNumberFromString(handle)?.formatInternational() ?? handle
  // Grouping must not drop digits, such as zeros that a country doesn't write.
  return grouped.replaceAll(' ', '').replaceAll('-', '') === handle ? grouped : handle
}

/** A handle for logs: at most its last four characters, never the whole. */
export function maskHandle(handle: string): string {
  return handle.length <= 4 ? '…' : `…${handle.slice(-4)}`
}

/** The text with ordinary digits and signs, and without invisible characters and the scheme of a link. */
function withoutWrapping(written: string): string {
  const text = written.normalize('NFKC').replaceAll(INVISIBLE, '').trim()
  return text.replace(/^(?:tel|sms|mailto):/i, '')
}

function isInternational(text: string): boolean {
  return /^\s*\(?(?:\+|00)/.test(text)
}

/** The number in a text that begins with `+` or `00`; null if no such number can exist. */
function international(text: string): string | null {
  const number = withoutTrunkDigit(`+${text.replaceAll(/\D/g, '').replace(/^00/, '')}`)
  return parsePhoneNumberFromString(number)?.isPossible() === true ? number : null
}

/** Removes a zero that is written but not dialed from abroad, as in `+49 (0)170…`. */
function withoutTrunkDigit(number: string): string {
  if (!MAY_HAVE_TRUNK_DIGIT.test(number)) return number
  if (number.startsWith('+521')) return `+52${number.slice('+521'.length)}`
  return parsePhoneNumberFromString(number)?.number ?? number
}

function understandNational(text: string, home: Home | null): Understood {
  if (home === null) {
    return { why: 'has no country code; write it as +49 170 1234567, or name the country' }
  }
  const parsed = national(text, home)
  if (parsed === undefined) return { why: 'is no phone number' }
  if (parsed.ext !== undefined) return { why: 'has an extension, which takes no messages' }
  const isWhole = parsed.nationalNumber.length >= NATIONAL_LENGTH_MIN
  if (!isWhole || !parsed.isValid()) return { why: 'is no valid number of its country' }
  const digits = text.replaceAll(/\D/g, '')
  const other = international(`+${digits}`)
  const hasCode = digits.startsWith(parsed.countryCallingCode)
  if (hasCode && other !== null && other !== parsed.number) {
    return { why: `may be +${digits} or ${parsed.number}; write it with + in front` }
  }
  return recipientOf(parsed.number)
}

function national(text: string, home: Home): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { ...home, extract: false })
}

/** The number if `digits` are dialed so within the country, or are an international prefix and the whole number. */
function nationalReading(text: string, digits: string, home: Home | null): string | null {
  const parsed = home === null ? undefined : national(text, home)
  if (parsed === undefined || parsed.ext !== undefined || !isCredible(parsed)) return null
  const usual = parsed.formatNational()
  // If its country's format doesn't group a number, it isn't in a known range.
  const isUsual = /\D/.test(usual) && usual.replaceAll(/\D/g, '') === digits
  return isUsual || digits.endsWith(parsed.number.slice(1)) ? parsed.number : null
}

/** The number if its digits begin with the country code of `home`, so that only the `+` is missing. */
function readingWithCode(digits: string, home: Home | null): string | null {
  const parsed = home === null ? undefined : parsePhoneNumberFromString(`+${digits}`)
  if (parsed === undefined || home === null) return null
  const isOfHome = parsed.countryCallingCode === callingCodeOf(home)
  return isOfHome && isCredible(parsed) ? withoutTrunkDigit(parsed.number) : null
}

function callingCodeOf(home: Home): string {
  return 'defaultCountry' in home
    ? getCountryCallingCode(home.defaultCountry)
    : home.defaultCallingCode
}

/** True if the number is valid. North American fictional numbers, such as those in our guides, count too. */
function isCredible(number: PhoneNumber): boolean {
  const isNorthAmerican = number.countryCallingCode === '1'
  return isNorthAmerican ? number.nationalNumber.length === NORTH_AMERICA_LENGTH : number.isValid()
}

function recipientOf(number: string): Understood {
  return parseRecipient(number) ?? { why: 'is no phone number' }
}
