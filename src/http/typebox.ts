// The bridge between typebox 1.x, in which every shape of the API is written, and Elysia, whose own
// dialect strips unknown fields and takes "5" for 5. Elysia calls whatever has `~standard`; the
// property is not enumerable, so that it stays out of the OpenAPI document.

import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import { RelayError, invalidRequest, type Issue } from '../domain/errors.ts'

/** What Elysia takes for a schema, as the Standard Schema specification has it. */
export type Bridged<T> = {
  readonly '~standard': {
    readonly types?: { readonly input: T; readonly output: T } | undefined
  }
}

/** What a handler may answer: readonly all the way down. */
export type Told<T> = T extends object ? { readonly [K in keyof T]: Told<T[K]> } : T

type Fault = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

const ISSUES_MAX = 20
const NAME_LENGTH_MAX = 100

/** What a caller sends: unknown fields and wrong types are 400, named one by one. */
export function requestSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  return bridged(schema, (faults) => invalidRequest(...issuesOf(faults)))
}

/** Path parameters: what does not fit names nothing that we have. */
export function pathSchema<T extends TSchema>(schema: T): T & Bridged<Static<T>> {
  return bridged(schema, () => new RelayError('not_found', 'There is nothing at this path.'))
}

/** What we answer: a failure is a fault of ours. The values stay out of the log. */
export function answerSchema<T extends TSchema>(schema: T): T & Bridged<Told<Static<T>>> {
  return bridged(schema, (faults) => {
    const issues = issuesOf(faults).map((issue) => `${issue.path} ${issue.message}`)
    return new Error(`An answer does not fit its schema: ${issues.join('; ')}`)
  })
}

/** Throws what `refusal` makes, which keeps Elysia from writing the refused value into its error. */
function bridged<T extends TSchema, V>(
  schema: T,
  refusal: (faults: readonly Fault[]) => Error,
): T & Bridged<V> {
  const validator = Compile(schema)
  const validate = (value: unknown) => {
    if (validator.Check(value)) return { value }
    throw refusal(validator.Errors(value))
  }
  const standard = { version: 1, vendor: 'typebox', validate }
  // The property that the type adds is defined here.
  return Object.defineProperty({ ...schema }, '~standard', { value: standard }) as T & Bridged<V>
}

function issuesOf(faults: readonly Fault[]): Issue[] {
  // A union that fails tells each of its branches too, and an unknown field comes twice.
  const telling = faults.filter((fault) => {
    return fault.keyword !== 'boolean' && !/\/anyOf\/\d/.test(fault.schemaPath)
  })
  return telling.flatMap(issuesOfOne).slice(0, ISSUES_MAX)
}

function issuesOfOne(fault: Fault): Issue[] {
  const path = shortened(fault.instancePath.slice(1).replaceAll('/', '.'))
  const within = (name: string) => shortened(path === '' ? name : `${path}.${name}`)
  if (fault.keyword === 'additionalProperties') {
    const message = 'is not a field of this request'
    return fault.params.additionalProperties.map((name) => ({ path: within(name), message }))
  }
  if (fault.keyword === 'required') {
    const message = 'is required'
    return fault.params.requiredProperties.map((name) => ({ path: within(name), message }))
  }
  return [{ path, message: messageOf(fault) }]
}

function messageOf(fault: Fault): string {
  if (fault.keyword === 'enum') return `must be one of ${fault.params.allowedValues.join(', ')}`
  if (fault.keyword === 'minProperties') return 'must have at least one field'
  return fault.keyword === 'anyOf' ? 'has the wrong type' : fault.message
}

function shortened(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name
}
