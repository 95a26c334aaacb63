import {
  groupedNumber,
  homeOfCountry,
  homeOfNumber,
  understandRecipient,
  type Home,
} from '../domain/handle.ts'
import { UsageError, type Call } from './command.ts'
import type { ControlClient } from './control-client.ts'

/** The recipient for the API. A national number is understood by the country of the line, and shown. */
export async function recipientOf(
  call: Call,
  client: ControlClient,
  written: string,
): Promise<string> {
  // The relay itself says what is wrong with an address.
  if (/^\+[0-9]+$/.test(written) || written.includes('@')) return written
  const understood = understandRecipient(written, await homeOfLine(call, client))
  if ('why' in understood) throw new UsageError(`${written} ${understood.why}.`)
  const { handle } = understood
  const shown = groupedNumber(handle)
  if (written !== shown && written !== handle) call.out.note(`${written} → ${shown}`)
  return handle
}

/** The country of the named line, or else of the first. */
async function homeOfLine(call: Call, client: ControlClient): Promise<Home | null> {
  const { data: lines } = await client.ask('GET /phone-lines')
  const named = call.options.get('line')
  const line = named === undefined ? lines[0] : lines.find(({ id }) => id === named)
  return line === undefined ? null : homeOfNumber(line.phone_number)
}

/** A handle for comparisons, also where it was written in groups. */
export function handleOption(call: Call, name: string): string | undefined {
  const written = call.options.get(name)
  if (written === undefined) return undefined
  const understood = understandRecipient(written, null)
  return 'handle' in understood ? understood.handle : written
}

/** The code of `--country`; throws for one that does not exist. */
export function countryOption(call: Call): string | null {
  const code = call.options.get('country')
  if (code === undefined) return null
  if (homeOfCountry(code) !== null) return code.toUpperCase()
  throw new UsageError('--country must be a country code such as US or DE.')
}
