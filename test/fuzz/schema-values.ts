// Values for JSON schemas: good ones, and ones made to hurt.

import * as fc from 'fast-check'

export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export type Schemas = Readonly<Record<string, Schema>>

export const PEOPLE = [
  '+12025550123',
  '+12025550190',
  '+12025550192',
  '+12025550194',
  '+12025550196',
]
/** Nobody writes to these: a line is no recipient. */
const BRIDGED = ['+12025550147', '+12025550148']
/** Ports on which nobody listens: what a fuzzed webhook posts goes nowhere. */
const TARGETS = ['http://127.0.0.1:9/hook', 'http://localhost:9/', 'https://127.0.0.1:9/a?b=c']

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff text',
  '\u202e\u0000',
  '👩‍👩‍👧‍👦'.repeat(40),
  "'; DROP TABLE messages; --",
  '" OR 1=1 --',
  '%00',
  '../../../../etc/passwd',
  '{{7*7}}',
  '<script>alert(1)</script>',
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data',
  'http://[::ffff:169.254.169.254]/',
  'http://0x7f.1/',
  'http://user:pass@127.0.0.1/',
  'javascript:alert(1)',
  '+0000000000',
  '+1',
  '+123456789012345678901234567890',
  '12025550123',
  'NaN',
  '-1',
  '1e400',
  '9007199254740993',
  '__proto__',
  'constructor',
  '2026-02-30T25:61:61.000Z',
  '+275760-09-13T00:00:00.001Z',
  'null',
  'undefined',
  'x'.repeat(20_001),
  'é'.normalize('NFD').repeat(1_000),
]

const HOSTILE_OTHERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  5e-324,
  [],
  {},
  [[[[[[]]]]]],
  { toString: 'x' },
  { length: -1 },
  ['message.sent', 'message.sent'],
  ['message.nothing'],
]

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
)

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(...HOSTILE_OTHERS),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Values that fit `schema`, as far as it says what fits. */
export function valueOf(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    return valueOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  }
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((one) => valueOf(one, schemas)))
  }
  return valueOfType(schema, schemas)
}

function valueOfType(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  const { minimum, maximum, items = {} } = schema
  const byType: Readonly<Record<string, () => fc.Arbitrary<unknown>>> = {
    string: () => textOf(schema),
    integer: () => fc.integer({ min: minimum ?? -1_000, max: maximum ?? 1_000_000 }),
    number: () => fc.double({ min: minimum ?? -1e6, max: maximum ?? 1e6 }),
    boolean: () => fc.boolean(),
    null: () => fc.constant(null),
    array: () => fc.array(valueOf(items, schemas), { minLength: 1, maxLength: 5 }),
    object: () => objectOf(schema, schemas),
  }
  const anything = () => fc.jsonValue({ maxDepth: 2 })
  const types = [schema.type ?? []].flat()
  return types.length === 0
    ? anything()
    : fc.oneof(...types.map((type) => (byType[type] ?? anything)()))
}

function objectOf(schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [name, fieldOf(name, property, schemas)] as const,
  )
  return fc.record(Object.fromEntries(properties), { requiredKeys: [...(schema.required ?? [])] })
}

/** What a field holds follows from its name where its schema says no more than "a string". */
function fieldOf(name: string, schema: Schema, schemas: Schemas): fc.Arbitrary<unknown> {
  if (name === 'phone_number') return fc.constantFrom(...BRIDGED)
  if (name === 'to' || name === 'handle') return fc.constantFrom(...PEOPLE)
  if (name === 'url') return fc.constantFrom(...TARGETS)
  return valueOf(schema, schemas)
}

function textOf(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'date-time') {
    const times = { min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }
    return fc.date(times).map((date) => date.toISOString())
  }
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern))
  return fc.string({
    unit: 'grapheme',
    minLength: schema.minLength ?? 0,
    maxLength: Math.min(schema.maxLength ?? 40, 200),
  })
}
