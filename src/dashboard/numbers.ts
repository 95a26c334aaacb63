// Phone numbers in national format. The library is larger than the page, so it loads after the first view; until
// then, numbers are shown in E.164.

import { signal } from '@preact/signals'

import type { PhoneLine } from '../api/phone-lines.ts'
import type * as Library from '../domain/handle.ts'
import { tidyHandle } from './outbox.ts'

const library = signal<typeof Library | null>(null)

/** Returns false if the library couldn't be loaded. */
export async function loadNumbers(): Promise<boolean> {
  library.value ??= await import('../domain/handle.ts').catch(() => null)
  return library.value !== null
}

/** "+44 7911 123456"; any other handle as it is. */
export function numberWords(handle: string): string {
  return library.value?.groupedNumber(handle) ?? handle
}

/** Parses a typed handle. A national number is read in the country that all `lines` share. */
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
