// Which field a refusal speaks of: the API names each by its path.

import type { Failure } from './request.ts'

/** What is wrong with a field, as a sentence beside it; null where the refusal is not about it. */
export function fieldError(failure: Failure | null, path: string): string | null {
  const found = placesOf(failure).find((place) => place.path === path)
  return found === undefined ? null : `It ${found.message}.`
}

/** The refusal, where it is about none of these fields: it has to be told as a whole. */
export function otherFailure(failure: Failure | null, paths: readonly string[]): Failure | null {
  return paths.some((path) => fieldError(failure, path) !== null) ? null : failure
}

type Place = { readonly path: string; readonly message: string }

function placesOf(failure: Failure | null): readonly Place[] {
  const places = failure?.details['issues']
  return Array.isArray(places) ? (places as Place[]) : [] // As `invalid_request` is documented.
}
