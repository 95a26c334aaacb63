// A line that has room gets a message in the transaction that accepts it, so that its point of no return
// shares the commit. Nothing may leave of a message that is not stored after all.

import { expect, test } from 'bun:test'

import { accepts, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const BODY = { to: '+15550001111', text: 'Your order is ready.' }

test('a message is accepted and passes its point of no return in one commit', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  const inTransaction: boolean[] = []
  device.script = async (_message, pointOfNoReturn) => {
    inTransaction.push(relay.db.sqlite.inTransaction)
    await pointOfNoReturn('note')
    inTransaction.push(relay.db.sqlite.inTransaction)
    return { outcome: 'accepted', guid: guidOf(71) }
  }

  const { status } = await relay.send(BODY)

  expect(status).toBe(200)
  expect(inTransaction).toEqual([true, false])
})

test('a message whose acceptance is undone is refused its point of no return', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  const grants: boolean[] = []
  device.script = async (_message, pointOfNoReturn) => {
    relay.db.sqlite.run('ROLLBACK') // As SQLite does by itself on a bad day.
    grants.push(await pointOfNoReturn('note').catch(() => false))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }

  const { status } = await relay.send(BODY)
  device.script = accepts
  const next = await relay.send(BODY)

  expect(status).toBe(500)
  expect(grants).toEqual([false])
  expect(next.status).toBe(200)
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('a message that comes while earlier ones wait for room does not overtake them', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  const first = Promise.withResolvers<void>()
  device.script = async (message, pointOfNoReturn, signal) => {
    if (device.given.length === 1) await first.promise
    return accepts(message, pointOfNoReturn, signal)
  }

  const texts = ['one', 'two', 'three']
  const sending = texts.map((text, index) => relay.send({ to: `+1555000111${index}`, text }))
  await relay.clock.advance(100)
  const late = relay.send({ to: '+15550002222', text: 'late' })
  first.resolve()
  await Promise.all([...sending, late])

  expect(device.sent.map(({ text }) => text)).toEqual([...texts, 'late'])
})
