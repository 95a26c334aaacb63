// A failed message that a person sends again from the dashboard knows the new one.

import { expect, test } from 'bun:test'

import { startDashboard } from '../http/dashboard-rig.ts'
import { accepts, ends, ScriptedDriver } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

async function openStage() {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver] })
  const owner = await relay.claim()
  const as = (resends: string) => ({ 'x-hookline-resends': resends })
  const send = async (to: string, resends = '') =>
    (
      await owner.ask('POST', '/dashboard/api/messages/send', {
        body: { to, text: 'Your table is ready.' },
        headers: as(resends),
      })
    ).body
  device.script = ends({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  const failed: Json = await relay.message((await send(ANNA)).error.details.message_id)
  device.script = accepts
  return { ...relay, relay, as, send, failed, again: async () => relay.message(failed.id) }
}

test('a failed message says when it was sent again, and keeps the time of its failure', async () => {
  await using stage = await openStage()
  await stage.clock.advance(60_000)

  const sent = await stage.send(ANNA, stage.failed.id)

  const { sent_again, ...rest } = await stage.again()
  expect(sent_again).toEqual({ message_id: sent.id, at: sent.created_at })
  expect(rest).toEqual(stage.failed)
})

test('only the dashboard says so, of a failed message in the same conversation', async () => {
  await using stage = await openStage()
  const sent = await stage.send(BOB, stage.failed.id)

  await stage.send(BOB, sent.id)
  await stage.send(ANNA, 'msg_none')
  await stage.relay.send({ to: ANNA, text: 'hello' }, stage.as(stage.failed.id))

  expect(await stage.again()).toEqual(stage.failed)
  expect((await stage.message(sent.id)).sent_again).toBeUndefined()
})
