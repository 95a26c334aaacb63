// Reads the parameters of requests. Unknown ones are ignored, because later clients may send more.

import { invalidParams } from './errors.ts'

export type Params = Readonly<Record<string, unknown>>

/** The first of these parameters that is set; empty texts count as left out, as in imsg. */
export function textParam(params: Params, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = params[name]
    if (value === undefined || value === null || value === '') continue
    if (typeof value !== 'string') throw invalidParams(`${name} must be a string`)
    return value
  }
  return undefined
}

export function flagParam(params: Params, ...names: readonly string[]): boolean {
  return names.some((name) => params[name] === true)
}

/** A whole number between these limits. */
export function numberParam(
  params: Params,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  const isIt = typeof number === 'number' && Number.isInteger(number)
  if (isIt && number >= min && number <= max) return number
  throw invalidParams(`${name} must be an integer from ${min} to ${max}`)
}

export function requiredText(params: Params, ...names: readonly string[]): string {
  const text = textParam(params, ...names)
  if (text === undefined) throw invalidParams(`${names[0]} is required`)
  return text
}

/** A list of texts; undefined if it is left out or empty. */
export function textsParam(params: Params, name: string): readonly string[] | undefined {
  const value = params[name]
  if (value === undefined || value === null) return undefined
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
  if (!isList) throw invalidParams(`${name} must be an array of strings`)
  return value.length === 0 ? undefined : value
}
