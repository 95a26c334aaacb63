// Every number that crosses the link, at its ends.

import { expect, test } from 'bun:test'

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

import { EPOCH_MAX, OPERATIONS } from '../../src/boxes/wire.ts'
import { HostileBox } from './hostile-box.ts'
import { Stage } from './stage.ts'

const VALUES = [-1, 0, 1, 2 ** 31, 10 ** 10, 2 ** 53 - 1, 1e300]

type Node = TSchema & { readonly type?: string; readonly maximum?: number }

/** Every number in a schema, with its path. */
function numbersIn(schema: Node, path: string): (readonly [string, Node])[] {
  if (schema.type === 'integer' || schema.type === 'number') return [[path, schema]]
  const inner = Object.entries(schema).filter(
    (entry): entry is [string, object] => typeof entry[1] === 'object' && entry[1] !== null,
  )
  return inner.flatMap(([name, each]) => numbersIn(each as Node, `${path}.${name}`)) // By its form.
}

const numbers = Object.entries(OPERATIONS).flatMap(([name, { request, answer }]) => [
  ...numbersIn(request, `${name}.request`),
  ...numbersIn(answer, `${name}.answer`),
])

test('every number on the wire has a least and a greatest value', () => {
  expect(numbers.length).toBeGreaterThan(30)
  for (const [path, schema] of numbers) {
    const { maximum = Infinity } = schema
    const isAllowed = Compile(schema)
    const allowed = VALUES.filter((value) => isAllowed.Check(value))

    expect([path, maximum < 2 ** 53]).toEqual([path, true])
    expect([path, allowed]).toEqual([
      path,
      VALUES.filter((value) => value >= 0 && value <= maximum),
    ])
  }
})

test('whatever epoch a box says that it has seen, the lines of the others go on', async () => {
  using stage = await Stage.running()
  const hostile = new HostileBox(stage.rig)
  const epochs: unknown[] = []
  let isOver = false
  void stage.line.ended.then(() => (isOver = true))

  for (const fence of [...VALUES, EPOCH_MAX, 900_000]) {
    epochs.push((await hostile.hello({ fence }))?.['epoch'] ?? null)
  }
  await stage.clock.advance(10_000)
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)

  expect(epochs).toEqual([null, 1, 1, null, null, null, null, null, 900_001])
  expect(isOver).toBe(false)
  expect(sent.outcome?.outcome).toBe('accepted')
  expect(stage.rig.box?.journal.fence).toBe(1)
  expect(stage.rig.box?.agent.status()).toMatchObject({ sessions: ['1.1'] })
  await stage.restart()
  expect(stage.rig.box?.journal.fence).toBe(1)
  expect(stage.rig.box?.agent.status()).toMatchObject({ isHeard: true })
})

test('a box that goes up step by step comes to its own end only', async () => {
  using stage = await Stage.running()
  const hostile = new HostileBox(stage.rig)
  for (let i = 0; i < 5; i += 1) {
    const answer = await hostile.hello({ fence: 1_000_000 * (i + 1) })
    expect(answer).toEqual({ epoch: 1_000_000 * (i + 1) + 1, closed: [] })
  }
  stage.rig.epochs.set(hostile.id, EPOCH_MAX)

  expect(await hostile.hello({ fence: EPOCH_MAX })).toBeNull()
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)

  expect(sent.outcome?.outcome).toBe('accepted')
  expect(stage.line.session()).toBeDefined()
})
