// The bridge between typebox 1.x, in which every shape of the API is written, and Elysia, whose own
// dialect strips unknown fields and takes "5" for 5. Elysia calls whatever has `~standard`; the
// property is not enumerable, so that it stays out of the OpenAPI document.

import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

import { type Shape, TIME_WANTED } from '../api/schema.ts'
import { RelayError, invalidRequest, type Issue } from '../domain/errors.ts'

/** A schema for Elysia, by the Standard Schema specification. */
export type Bridged<T> = {
  readonly '~standard': { readonly types?: { readonly input: T; readonly output: T } | undefined }
}

type Fault = ReturnType<Validator['Errors']>[number]

const ISSUES_MAX = 20
const NAME_LENGTH_MAX = 100

/** For requests: unknown fields and wrong types are 400, each named. */
export function requestSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  return bridged(schema, checkOf(schema, requestRefusal))
}

/** For requests of which some are held to a stricter schema, and get its errors. */
export function requestSchemaBy<T extends TSchema>(
  schema: T,
  strict: TSchema,
  isStrict: (value: object) => boolean,
): T & Bridged<Static<T>> {
  const [wide, narrow] = [schema, strict].map((each) => checkOf(each, requestRefusal))
  return bridged(schema, (value) => (isStrict(value) ? narrow : wide)?.(value))
}

function requestRefusal(faults: readonly Fault[]): RelayError {
  return invalidRequest(...issuesOf(faults))
}

/** For requests of several shapes, of which the field `type` picks one. */
export function requestSchemaByType(
  title: string,
  shapes: Readonly<Record<string, TObject>>,
): TSchema & Bridged<unknown> {
  const checks = new Map(
    Object.entries(shapes).map(([type, each]) => [type, checkOf(each, requestRefusal)]),
  )
  const allowed = [...checks.keys()].join(', ')
  const validate = (value: object) => {
    const check = checks.get('type' in value ? String(value.type) : '')
    if (check !== undefined) return check(value)
    throw invalidRequest({ path: 'type', message: `must be one of ${allowed}` })
  }
  const union: TSchema = Type.Union(Object.values(shapes), { title })
  const standard = { version: 1, vendor: 'typebox', validate }
  // The property that the type adds is defined here.
  return Object.defineProperty(union, '~standard', { value: standard }) as TSchema &
    Bridged<unknown>
}

/** For path parameters: a wrong one names nothing that exists. */
export function pathSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  const refusal = () => new RelayError('not_found', 'There is nothing at this path.')
  return bridged(schema, checkOf(schema, refusal))
}

/** For answers: a failure is a bug of the relay. Values stay out of the log. */
export function answerSchema<T extends TSchema>(schema: T): T & Bridged<Shape<T>> {
  const refusal = (faults: readonly Fault[]) => {
    const issues = issuesOf(faults).map((issue) => `${issue.path} ${issue.message}`)
    return new Error(`An answer does not fit its schema: ${issues.join('; ')}`)
  }
  return bridged(schema, checkOf(schema, refusal))
}

/**
 * Throws the error of `refusal`: Elysia's own would contain the refused value. The schema is compiled by the
 * first value: those of all routes would take a third of a start.
 */
function checkOf(schema: TSchema, refusal: (faults: readonly Fault[]) => Error) {
  let validator: Validator | null = null
  return (value: unknown) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return { value }
    throw refusal(validator.Errors(value))
  }
}

function bridged<T extends TSchema, V>(
  schema: T,
  validate: (value: object) => unknown,
): T & Bridged<V> {
  const standard = { version: 1, vendor: 'typebox', validate }
  // The property that the type adds is defined here.
  return Object.defineProperty({ ...schema }, '~standard', { value: standard }) as T & Bridged<V>
}

function issuesOf(faults: readonly Fault[]): Issue[] {
  return faults
    .filter((fault) => isInformative(fault, faults))
    .flatMap(issuesOfOne)
    .slice(0, ISSUES_MAX)
}

/**
 * typebox reports an unknown field for itself and for its object, and a union with each of its branches. Of
 * the branches only one with the right type helps; where there is one, the union itself is left out.
 */
function isInformative(fault: Fault, faults: readonly Fault[]): boolean {
  const isHelpfulBranch = (other: Fault) =>
    isBranch(other) && other.keyword !== 'type' && other.instancePath === fault.instancePath
  if (fault.keyword === 'additionalProperties') return false
  if (fault.keyword === 'anyOf') return !faults.some(isHelpfulBranch)
  return !isBranch(fault) || fault.keyword !== 'type'
}

function isBranch(fault: Fault): boolean {
  return /\/anyOf\/\d/.test(fault.schemaPath)
}

function issuesOfOne(fault: Fault): Issue[] {
  const path = fault.instancePath.slice(1).replaceAll('/', '.')
  if (fault.keyword !== 'required') return [{ path: shortened(path), message: messageOf(fault) }]
  return fault.params.requiredProperties.map((name) => {
    return { path: shortened(path === '' ? name : `${path}.${name}`), message: 'is required' }
  })
}

const MESSAGES: Readonly<Record<string, string>> = {
  // The schema of an unknown field is `false`.
  boolean: 'is not a field of this request',
  minProperties: 'must have at least one field',
  anyOf: 'has the wrong type',
  format: TIME_WANTED,
}

function messageOf(fault: Fault): string {
  if (fault.keyword === 'enum') return `must be one of ${fault.params.allowedValues.join(', ')}`
  return MESSAGES[fault.keyword] ?? fault.message
}

function shortened(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
