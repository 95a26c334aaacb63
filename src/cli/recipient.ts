import type { PhoneLine } from '../api/phone-lines.ts'
import {
  groupedNumber,
  homeOfCountry,
  homeOfNumber,
  understandRecipient,
  type Home,
} from '../domain/handle.ts'
import { UsageError, type Call } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { isCalled, theOnly } from './named-ids.ts'

/** The recipient for the API. Reads a national number in the country of the line, and prints the result. */
export async function recipientOf(call: Call, client: ControlClient, written: string) {
  const understood = await readRecipient(call, client, written)
  // The relay says what is wrong with an address.
  if ('why' in understood && isAddress(written)) return written
  if ('why' in understood) {
    const person = await personCalled(client, written)
    if (person === null) throw new UsageError(`${written} ${understood.why}.`)
    call.out.note(`${written} → ${groupedNumber(person)}`)
    return person
  }
  const { handle } = understood
  const shown = groupedNumber(handle)
  if (written !== shown && written !== handle) call.out.note(`${written} → ${shown}`)
  return handle
}

/** The number or address of the contact with this name; null if there is none. Throws if there are several. */
async function personCalled(client: ControlClient, written: string): Promise<string | null> {
  if (!/\p{L}/u.test(written)) return null
  const { people } = await client.ask('search', { query: { q: written, limit: '50' } })
  const named = people.map(({ handle, name }) => ({ id: handle, name }))
  const called = named.filter((one) => isCalled(one, written))
  return theOnly(written, called)?.id ?? null
}

/** The country of the line in `--line`, else of the first line. */
async function homeOfLine(call: Call, client: ControlClient): Promise<Home | null> {
  const { data: lines } = await client.ask('listPhoneLines')
  const named = call.options.get('line')
  const isNamed = ({ id, phone_number }: PhoneLine) => named === id || named === phone_number
  const line = named === undefined ? lines[0] : lines.find(isNamed)
  return line === undefined ? null : homeOfNumber(line.phone_number)
}

/** A handle for comparisons: a number or address however it is written, or the name of a sender. */
export async function handleOption(call: Call, client: ControlClient, name: string) {
  const written = call.options.get(name)
  if (written === undefined) return undefined
  const understood = await readRecipient(call, client, written)
  return 'handle' in understood ? understood.handle : written
}

/** A number or address in the API's form if it needs no country, else as it was written. */
export function plainRecipient(written: string): string {
  const understood = understandRecipient(written, null)
  return 'handle' in understood ? understood.handle : written
}

function isAddress(written: string): boolean {
  return /^\+[0-9]+$/.test(written) || written.includes('@')
}

/** Asks for the lines only if the text needs a country. */
async function readRecipient(call: Call, client: ControlClient, written: string) {
  const known = understandRecipient(written, null)
  if ('handle' in known || isAddress(written)) return known
  return understandRecipient(written, await homeOfLine(call, client))
}

/** The code of `--country`; throws if no such country exists. */
export function countryOption(call: Call): string | null {
  const code = call.options.get('country')
  if (code === undefined) return null
  if (homeOfCountry(code) !== null) return code.toUpperCase()
  throw new UsageError('--country must be a country code such as US or DE.')
}
