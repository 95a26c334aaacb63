import { expect, test } from 'bun:test'

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { requestSchema } from '../../src/http/typebox.ts'

const Shape = Type.Object({ count: Type.Integer() }, { additionalProperties: false })

function appWith(schema: ReturnType<typeof requestSchema<typeof Shape>>) {
  return new Elysia().post('/', ({ body }) => body, { body: schema })
}

function post(app: ReturnType<typeof appWith>, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return app.handle(new Request('http://localhost/', { method: 'POST', body, headers }))
}

test('a bridged schema is strict where Elysia is not', async () => {
  const app = appWith(requestSchema(Shape))

  const answers = await Promise.all([
    post(app, '{"count":5}'),
    post(app, '{"count":"5"}'),
    post(app, '{"count":5,"more":1}'),
  ])

  expect(await answers[0]?.json()).toEqual({ count: 5 })
  expect(answers.slice(1).every((answer) => !answer.ok)).toBe(true)
})

test('a schema that is not bridged would fail at each request, so none may go without', async () => {
  // The cast plays a route whose author forgot the bridge.
  const app = appWith(Shape as never)

  const response = await post(app, '{"count":5}')

  expect(response.ok).toBe(false)
})

test('the bridge leaves no trace in the document', () => {
  expect(JSON.stringify(requestSchema(Shape))).toBe(JSON.stringify(Shape))
})
