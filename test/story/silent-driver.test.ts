// A driver that never answers: whatever keeps its session open, its message comes to an end.

import { expect, test } from 'bun:test'

import { type SendOutcome } from '../../src/lines/driver.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ASYNC = { Prefer: 'respond-async' }

/** Gives a message to a driver that passes its point of no return, and lets a day go by. */
async function startSilent() {
  const { promise: late, resolve: answer } = Promise.withResolvers<SendOutcome>()
  const relay = await startScripted({
    script: async (_message, pointOfNoReturn) => {
      await pointOfNoReturn('note')
      return late
    },
  })
  const { id } = (await relay.send({ to: TO, text: 'hello' }, ASYNC)).body
  const status = async (): Promise<string> => (await relay.message(id)).status
  await relay.clock.advance(MINUTE)
  relay.clock.doze(23 * HOUR)
  // The device is heard of all the time.
  await relay.device.receive({ guid: guidOf(921) })
  await relay.clock.advance(MINUTE)
  const early = await status()
  relay.clock.doze(HOUR)
  await relay.clock.advance(20 * MINUTE)
  return { ...relay, early, status, answer }
}

const LATE: Readonly<Record<string, readonly [outcome: SendOutcome, status: string]>> = {
  'that it is sent': [{ outcome: 'accepted', guid: guidOf(920) }, 'sent'],
  'that it is not sent': [{ outcome: 'not_sent', reason: 'busy', blame: 'line' }, 'uncertain'],
  'that nobody knows': [{ outcome: 'unknown', reason: 'timed_out' }, 'uncertain'],
}

for (const [what, [outcome, status]] of Object.entries(LATE)) {
  test(`a message that its driver holds for a day is uncertain, and ${status} if it says then ${what}`, async () => {
    await using relay = await startSilent()

    const before = await relay.status()
    relay.answer(outcome)
    await relay.clock.advance(MINUTE)

    expect([relay.early, before, await relay.status()]).toEqual(['sending', 'uncertain', status])
    expect(await relay.eventNames()).toContain('message.failed')
    expect(relay.device.given).toHaveLength(1)
  })
}
