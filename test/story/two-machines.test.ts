// Two programs that answer each other are stopped, and people who answer fast are not.

import { expect, test } from 'bun:test'

import { AGENT } from '../../src/api/keys.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import { asOwner } from '../support/control-socket.ts'
import { makeKey } from '../support/limited-keys.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

/** Lets a key and the other side write in turns; gives the statuses of the sends. */
async function talk(relay: ScriptedRelay, rounds: number, answerMs: number, pauseMs = 1_000) {
  const key = await makeKey(relay, {})
  const statuses: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    statuses.push((await key.send(ANNA)).status)
    await relay.clock.advance(answerMs)
    await answer(relay, ANNA)
    await relay.clock.advance(pauseMs)
  }
  return statuses
}

let guids = 0

async function answer({ device, clock }: ScriptedRelay, handle: string) {
  guids += 1
  const at = clock.now() as never
  await device.receive({ guid: guidOf(guids), handle: deviceHandle(handle), text: 'again', at })
}

test('after 20 answers within 10 seconds each, no key sends there until a person lets it go on', async () => {
  await using relay = await startScripted()
  const key = await makeKey(relay, {})

  const statuses = await talk(relay, 22, 2_000)
  const elsewhere = await key.send(BOB)
  const [{ id, automation_paused }] = (
    await relay.get(`/api/v1/conversations?handle=${encodeURIComponent(ANNA)}`)
  ).data
  const byKey = await key.call('PATCH', `/conversations/${id}`, { automation_paused: false })
  const [finding] = await relay.findings('programs_stopped')

  expect(statuses).toEqual([...Array(20).fill(200), 409, 409])
  expect([elsewhere.status, automation_paused, byKey.status]).toEqual([200, true, 403])
  expect(finding.why).toContain(id)
})

test('the owner lets it go on, and the answers before that count no more', async () => {
  await using relay = await startScripted()
  await talk(relay, 20, 2_000)
  const [{ id }] = (await relay.get('/api/v1/conversations')).data

  const body = { automation_paused: false }
  const changed = await asOwner(relay, 'PATCH', `/conversations/${id}`, { body })
  const statuses = await talk(relay, 19, 2_000)

  expect(changed.automation_paused).toBe(false)
  expect(statuses).toEqual(Array(19).fill(200))
  expect(await relay.findings('programs_stopped')).toEqual([])
})

test('an agent of the owner, which has no key, is stopped like one with a key', async () => {
  await using relay = await startScripted()

  const codes: string[] = []
  for (let round = 0; round < 22; round += 1) {
    const body = { to: ANNA, text: `Round ${round}` }
    const headers = { [AGENT]: 'again=false' }
    const { status, error } = await asOwner(relay, 'POST', '/messages/send', { body, headers })
    codes.push(error?.code ?? status)
    await relay.clock.advance(2_000)
    await answer(relay, ANNA)
    await relay.clock.advance(1_000)
  }

  expect(codes).toEqual([...Array(20).fill('sent'), ...Array(2).fill('automation_paused')])
})

test('60 answers within a minute each stop it, too', async () => {
  await using relay = await startScripted()

  const statuses = await talk(relay, 62, 30_000)

  expect(statuses.indexOf(409)).toBe(60)
})

test('one slow answer restarts the count', async () => {
  await using relay = await startScripted()
  await talk(relay, 19, 2_000)
  await talk(relay, 1, 61_000)

  const statuses = await talk(relay, 19, 2_000)

  expect(statuses).toEqual(Array(19).fill(200))
})
