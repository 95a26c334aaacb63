// The faults of a value by its schema, in words: each with its place, an example, and the name that is meant.

import type { TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'

import { TIME_WANTED } from '../api/schema.ts'
import type { Issue } from '../domain/errors.ts'
import { fieldMeant, wordMeant } from './suggestions.ts'

export type Fault = ReturnType<Validator['Errors']>[number]

/** A part of a schema, as plain JSON Schema. */
type Part = {
  readonly example?: unknown
  readonly properties?: Readonly<Record<string, Part>>
  readonly required?: readonly string[]
  readonly items?: Part
  readonly anyOf?: readonly Part[]
}

/** The value that doesn't fit, and its schema. */
type Checked = { readonly value: unknown; readonly schema: TSchema }

const ISSUES_MAX = 20
const NAME_LENGTH_MAX = 100
/** Longer lists of fields aren't shown, because they would hide what is wrong. */
const FIELDS_LISTED_MAX = 20

export function issuesOf(faults: readonly Fault[], checked: Checked): Issue[] {
  return faults
    .filter((fault) => isInformative(fault, faults))
    .flatMap((fault) => issuesOfOne(fault, checked))
    .slice(0, ISSUES_MAX)
}

/**
 * False for errors that repeat others. typebox reports an unknown field twice, for itself and for its object,
 * and a union together with each of its branches: only the branch with the right type helps, or, if there is
 * none, the union.
 */
function isInformative(fault: Fault, faults: readonly Fault[]): boolean {
  const isHelpfulBranch = (other: Fault) =>
    isBranch(other) &&
    other.keyword !== 'type' &&
    (other.instancePath === fault.instancePath ||
      (other.keyword === 'pattern' && other.instancePath.startsWith(`${fault.instancePath}/`)))
  if (fault.keyword === 'additionalProperties') return false
  if (fault.keyword === 'anyOf') return !faults.some(isHelpfulBranch)
  return !isBranch(fault) || fault.keyword !== 'type'
}

function isBranch(fault: Fault): boolean {
  return /\/anyOf\/\d/.test(fault.schemaPath)
}

function issuesOfOne(fault: Fault, { value, schema }: Checked): Issue[] {
  const names = fault.instancePath.split('/').slice(1)
  const path = names.join('.')
  if (fault.keyword === 'required') {
    return fault.params.requiredProperties.map((name) => {
      return { path: shortened(path === '' ? name : `${path}.${name}`), message: 'is required' }
    })
  }
  const place = shortened(path)
  const given = names.reduce(fieldOf, value)
  // The schema of an unknown field is `false`.
  if (fault.keyword === 'boolean') {
    const object = partAt(schema, names.slice(0, -1))
    return [{ path: place, ...unknownField(names, { object, value }) }]
  }
  const part = partAt(schema, names)
  const suggestion =
    fault.keyword === 'enum' && typeof given === 'string'
      ? wordMeant(given, fault.params.allowedValues.map(String))
      : undefined
  return [
    { path: place, message: messageOf(fault, given, part), ...(suggestion && { suggestion }) },
  ]
}

function unknownField(
  names: readonly string[],
  { object, value }: { readonly object: Part | undefined; readonly value: unknown },
): Pick<Issue, 'message' | 'suggestion'> {
  const used = names.slice(0, -1).reduce(fieldOf, value)
  const isUnused = (name: string) =>
    typeof used !== 'object' || used === null || !Object.hasOwn(used, name)
  return unknownName('is not a field of this request', names.at(-1) ?? '', {
    all: fieldsOf(object),
    free: fieldsOf(object).filter(isUnused),
  })
}

/** The words about an unknown field or parameter: the one that is meant, or those that there are. */
export function unknownName(
  message: string,
  written: string,
  { all, free }: { readonly all: readonly string[]; readonly free: readonly string[] },
): Pick<Issue, 'message' | 'suggestion'> {
  const suggestion = fieldMeant(written, free)
  if (suggestion !== undefined) return { message, suggestion }
  const isListed = all.length > 0 && all.length <= FIELDS_LISTED_MAX
  return { message: isListed ? `${message}, which takes ${all.join(', ')}` : message }
}

function fieldsOf(part: Part | undefined): readonly string[] {
  const objects = part?.anyOf ?? (part === undefined ? [] : [part])
  return [...new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))]
}

type Say = (fault: Fault, given: unknown, example: string | null) => string

/** The words for faults that typebox leaves unclear, by their keyword. `example` is JSON. */
const SAID: Readonly<Record<string, Say>> = {
  minProperties: () => 'must have at least one field',
  format: () => TIME_WANTED,
  enum: (fault) =>
    `must be one of ${'allowedValues' in fault.params ? fault.params.allowedValues.join(', ') : ''}`,
  pattern: ({ message }, _, example) => (example === null ? message : `must be like ${example}`),
  anyOf: (_, __, example) =>
    `has the wrong type${example === null ? '' : `: it must be like ${example}`}`,
  type: ({ message }, _, example) => `${message}${example === null ? '' : `, such as ${example}`}`,
  minLength: orEmpty,
  minItems: orEmpty,
  maxLength: ({ message }, given) => `${message}; this has ${Array.from(String(given)).length}`,
}

function orEmpty({ message, params }: Fault): string {
  return 'limit' in params && params.limit === 1 ? 'must not be empty' : message
}

function messageOf(fault: Fault, given: unknown, part: Part | undefined): string {
  const example = exampleOf(part)
  const say = SAID[fault.keyword]
  return (
    say?.(fault, given, example === undefined ? null : JSON.stringify(example)) ?? fault.message
  )
}

/** The example of a part, or one made of the examples of its fields; undefined if there are none. */
function exampleOf(part: Part | undefined): unknown {
  if (part === undefined || part.example !== undefined) return part?.example
  if (part.anyOf !== undefined) {
    return part.anyOf.map(exampleOf).find((example) => example !== undefined)
  }
  if (part.items !== undefined) {
    const item = exampleOf(part.items)
    return item === undefined ? undefined : [item]
  }
  const fields = (part.required ?? []).map((name) => [name, exampleOf(part.properties?.[name])])
  const isWhole = fields.length > 0 && fields.every(([, example]) => example !== undefined)
  return isWhole ? Object.fromEntries(fields) : undefined
}

/** The part of a schema for a place in the value. */
function partAt(schema: TSchema, names: readonly string[]): Part | undefined {
  return names.reduce((part: Part | undefined, name) => {
    const branches = part?.anyOf ?? (part === undefined ? [] : [part])
    const inner = branches.map(({ properties = {}, items }) =>
      Object.hasOwn(properties, name) ? properties[name] : items,
    )
    return inner.find((each) => each !== undefined)
  }, schema as Part)
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name] // It has this field.
}

function shortened(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
