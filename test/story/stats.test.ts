// The figures of a day, as the API tells them, beside what really became of the messages.

import { expect, test } from 'bun:test'

import {
  accepts,
  refuses,
  ScriptedDriver,
  type ScriptedDevice,
} from '../support/scripted-driver.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'

const DAY_MS = 86_400_000
const NOTHING = { sent: 0, received: 0, failed: 0, uncertain: 0 }

async function twoLines(): Promise<readonly [TestRelay, ScriptedDevice, ScriptedDevice]> {
  const driver = new ScriptedDriver()
  const devices = [driver.add('+12025550801'), driver.add('+12025550802')] as const
  const relay = await startRelay({ drivers: [driver] })
  return [relay, ...devices]
}

test('each day tells what was sent, received and failed, by line, and a quiet day tells zeros', async () => {
  const [relay, , second] = await twoLines()
  await using _ = relay
  const [one, two] = await relay.lines()
  second.script = async () => ({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  await relay.send({ to: '+12025550701', text: 'a', phone_line_id: one.id })
  await relay.send({ to: '+12025550702', text: 'b', phone_line_id: one.id })
  await relay.send({ to: '+12025550703', text: 'c', phone_line_id: two.id })
  relay.clock.doze(2 * DAY_MS)
  await relay.send({ to: '+12025550701', text: 'd', phone_line_id: one.id })

  const { data } = await relay.get('/api/v1/stats?days=4')

  const of = (line: { id: string }, figures: object) => ({
    phone_line_id: line.id,
    ...NOTHING,
    ...figures,
  })
  expect(data).toEqual([
    { date: '2026-11-20', ...NOTHING, lines: [] },
    {
      date: '2026-11-21',
      ...NOTHING,
      sent: 2,
      failed: 1,
      lines: [of(one, { sent: 2 }), of(two, { failed: 1 })],
    },
    { date: '2026-11-22', ...NOTHING, lines: [] },
    { date: '2026-11-23', ...NOTHING, sent: 1, lines: [of(one, { sent: 1 })] },
  ])
})

test('a message that still waits counts nowhere, and counts on its line once it has left', async () => {
  const [relay, first, second] = await twoLines()
  await using _ = relay
  first.script = refuses
  second.script = refuses
  const { body } = await relay.send({ to: '+12025550701', text: 'a' })
  const waiting = (await relay.get('/api/v1/stats?days=1')).data
  first.script = accepts

  await relay.clock.advance(60_000)

  const { phone_line_id } = await relay.message(body.id)
  expect(waiting).toEqual([{ date: '2026-11-21', ...NOTHING, lines: [] }])
  expect((await relay.get('/api/v1/stats')).data.at(-1)).toMatchObject({
    sent: 1,
    lines: [{ phone_line_id, sent: 1 }],
  })
})
