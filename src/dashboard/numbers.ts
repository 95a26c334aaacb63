// Phone numbers as their countries write them. The library has the rules of all countries and is larger
// than the page: it is loaded behind the first view, and until then numbers are shown as they are.

import { signal } from '@preact/signals'

import type { PhoneLine } from '../api/phone-lines.ts'
import type * as Library from '../domain/handle.ts'
import { tidyHandle } from './outbox.ts'

const library = signal<typeof Library | null>(null)

/** Loads the library, once; false where that failed. */
export async function loadNumbers(): Promise<boolean> {
  library.value ??= await import('../domain/handle.ts').catch(() => null)
  return library.value !== null
}

/** "+44 7911 123456"; any other handle as it is. */
export function numberWords(handle: string): string {
  return library.value?.groupedNumber(handle) ?? handle
}

/** The handle that was typed; a national number is one of the country that the lines have in common. */
export function typedHandle(
  typed: string,
  lines: readonly Pick<PhoneLine, 'phone_number'>[],
): string {
  const numbers = library.value
  if (numbers === null) return tidyHandle(typed)
  const understood = numbers.understandRecipient(
    typed,
    numbers.commonHome(lines.map(({ phone_number }) => phone_number)),
  )
  return 'handle' in understood ? understood.handle : tidyHandle(typed)
}
