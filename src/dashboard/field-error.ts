// Which field a refusal speaks of: the API names each by its path.

import type { Failure } from './request.ts'

/** The codes of refusals that speak of the password that there is. */
export const OF_PASSWORD = ['wrong_password', 'rate_limit_exceeded'] as const

/**
 * What is wrong with a field, as a sentence beside it; null where the refusal is not about it. `names`
 * are its path, and the codes that speak of nothing else.
 */
export function fieldError(failure: Failure | null, ...names: readonly string[]): string | null {
  if (failure === null) return null
  if (names.includes(failure.code)) return failure.message
  const found = placesOf(failure).find(({ path }) => names.includes(path))
  return found === undefined ? null : `It ${found.message}.`
}

type Place = { readonly path: string; readonly message: string }

function placesOf({ details }: Failure): readonly Place[] {
  const places = details['issues']
  return Array.isArray(places) ? (places as Place[]) : [] // As `invalid_request` is documented.
}
