import { expect, test } from 'bun:test'

import { Components, type JsonObject } from '../../src/http/openapi.ts'

const COLOUR = { title: 'Colour', type: 'string', enum: ['red', 'blue'] } as const
const PAINT = {
  title: 'Paint',
  type: 'object',
  properties: { colour: COLOUR },
  additionalProperties: false,
} as const

test('two different things of one name are refused: one would silently take the place of the other', () => {
  const components = new Components()
  components.schema(PAINT, 'request')
  components.schema(PAINT, 'request')

  expect(() => components.schema({ ...PAINT, properties: {} }, 'request')).toThrow(
    'The OpenAPI document has two schemas that are called Paint.',
  )
  // An object that is both sent and read would be closed and open at once.
  expect(() => components.schema(PAINT, 'answer')).toThrow('two schemas that are called Paint')
})

test('what may be null keeps its description outside, and keywords of the document come in', () => {
  const components = new Components()
  const nullable = (schema: JsonObject) => ({ anyOf: [schema, { type: 'null' }] })
  const url = { type: 'string', description: 'Where.', inDocument: { format: 'uri' } }

  const scalar = components.schema(nullable(url), 'answer')
  const named = components.schema(nullable({ ...PAINT, description: 'What.' }), 'answer')
  const words = components.schema(nullable(COLOUR), 'answer')

  expect(scalar).toEqual({ type: ['string', 'null'], description: 'Where.', format: 'uri' })
  expect(named).toEqual({
    anyOf: [{ $ref: '#/components/schemas/Paint' }, { type: 'null' }],
    description: 'What.',
  })
  // Java takes no null for a list of words that does not have it among its own branches.
  expect(words).toEqual({ $ref: '#/components/schemas/AnyColourOrNull' })
  expect(components.all().schemas['AnyColourOrNull']).toMatchObject({
    anyOf: [{ $ref: '#/components/schemas/Colour' }, { type: 'string' }, { type: 'null' }],
  })
})
