// What a Mac line answers to a send, for everything that Messages was seen to do with one; and that it
// hands a message over once, whatever happens.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import type { LineEvent, SendOutcome } from '../../../../src/lines/driver.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import {
  carry,
  guidOf,
  messagesOf,
  receiptsOf,
  sendTo,
  runLine,
} from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig } from '../../../contract/mac-rig.ts'
import { newestRow } from '../../../support/mac/own-rows.ts'
import { refused, type Behaviour } from '../../../support/mac/script-behaviours.ts'

const HOUR_MS = 3_600_000
const LINK = 'look at https://example.com/page'
const GUID = expect.any(String) as unknown as string // Matches any text, as bun:test has it.
const ACCEPTED = acceptedBy('iMessage')
const HELD: SendOutcome = { outcome: 'held', guid: GUID, service: 'iMessage' }
const STEPS = ['delivered', 'read']
const UNREACHABLE = { outcome: 'not_sent', reason: 'recipient_unreachable', blame: 'line' } as const

function acceptedBy(service: string): SendOutcome {
  return { outcome: 'accepted', guid: GUID, service }
}

function failed(reason: string): SendOutcome {
  return { outcome: 'not_sent', reason, blame: 'message' }
}

/** Messages wrote a row elsewhere, whose guid the outcome names, so that it is never reported as a message. */
function strayed(reason: string): SendOutcome {
  return { outcome: 'not_sent', reason, blame: 'message', strayGuid: expect.any(String) }
}

function unknown(reason: string): SendOutcome {
  return { outcome: 'unknown', reason }
}

/** Outcome of a send, count of texts that really went out, and the events after the outcome. */
const EXPECTED: readonly (readonly [Behaviour, SendOutcome, carried: number, readonly string[]])[] =
  [
    ['happy', ACCEPTED, 1, STEPS],
    ['sms', acceptedBy('SMS'), 1, []],
    ['rcs', acceptedBy('RCS'), 1, STEPS],
    ['downgraded_to_sms', acceptedBy('SMS'), 1, []],
    ['join_3s_late', ACCEPTED, 1, STEPS],
    ['join_never', ACCEPTED, 1, STEPS],
    ['url_split_in_two_rows', ACCEPTED, 1, STEPS],
    ['failed_then_clean_row', ACCEPTED, 1, STEPS],
    ['fails_then_clears', ACCEPTED, 1, STEPS],
    ['failed22_at_once', failed('not_on_imessage'), 0, []],
    ['failed22_after_2s', failed('not_on_imessage'), 0, []],
    ['account_disabled', failed('imessage_account_problem'), 0, []],
    ['ghost_row', strayed('ghost_row'), 0, []],
    ['misrouted', strayed('misrouted'), 1, []],
    ['slow_sending', HELD, 1, ['sent', 'delivered', 'read']],
    ['stuck', HELD, 0, []],
    ['no_row', unknown('no_row'), 0, []],
    ['hang', unknown('no_answer'), 0, []],
    ['hang_then_deliver_late', unknown('no_answer'), 1, ['held', 'sent', 'delivered', 'read']],
    ['timeout_yet_sent', ACCEPTED, 1, STEPS],
    [refused('send', -1712), unknown('no_answer'), 0, []],
    [refused('send', -10000), unknown('no_answer'), 0, []],
    ['resolve_not_found_chat', ACCEPTED, 1, STEPS],
    ['resolve_not_found_all', UNREACHABLE, 0, []],
  ]

describe('a send ends as Messages makes it end', () => {
  for (const [behaviour, outcome, carried, later] of EXPECTED) {
    test.each([0, 5 * HOUR_MS])(
      `${nameOf(behaviour)} is ${outcome.outcome}, the Mac asleep for %i ms in between`,
      async (asleepMs) => {
        await using rig = await attendedMac()
        rig.model.nextSend(behaviour)

        const sent = await rig.line.send(LINK, async () => {
          rig.clock.step(asleepMs)
          return true
        })
        await rig.clock.advance(90_000)

        expect(sent).toEqual(outcome)
        expect(rig.carried(LINK)).toBe(carried)
        expect(newsOf(rig.line.events)).toEqual(later)
        expect(messagesOf(rig.line.events)).toEqual([])
      },
    )
  }
})

function nameOf(behaviour: Behaviour): string {
  if (typeof behaviour === 'string') return behaviour
  return `${behaviour.number} in stage ${behaviour.refused}`
}

/** Events of a message after its outcome, in order; that it was sent goes without saying. */
function newsOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'settled') return [event.outcome.outcome]
    return event.type === 'receipt' ? [event.receipt.kind] : []
  })
}

test('what the second run of the script reports before its stage send is proven unsent', async () => {
  await using rig = await attendedMac()

  const outcome = await rig.line.send('hello', async () => {
    rig.model.account.exists = false
    return true
  })

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'messages_refused', blame: 'line' })
  expect(rig.line.events.at(-1)).toMatchObject({
    type: 'offline',
    reason: { code: 'messages_signed_out' },
  })
  expect(rig.carried('hello')).toBe(0)
})

test('a recipient who is not on iMessage is remembered for seven days', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('failed22_at_once')
  await rig.line.send('hello', async () => true)

  let asked = 0
  const again = await rig.line.send('again', async () => {
    asked += 1
    return true
  })
  rig.model.receive(rig.recipient, 'I have an iPhone now')
  const later = await rig.line.send('now', async () => true)

  expect(again).toEqual(failed('not_on_imessage'))
  expect(asked).toBe(0)
  expect(later).toEqual(ACCEPTED)
})

test('after five recipients in an hour who are not on iMessage nobody new is written to', async () => {
  await using rig = await attendedMac()
  const friend = deviceHandle('+15550007777')
  rig.model.receive(friend, 'hello')
  for (let i = 0; i < 5; i += 1) {
    rig.model.nextSend('failed22_at_once')
    await sendTo(rig, rig.line, deviceHandle(`+1555000800${i}`))
  }
  await rig.clock.advance(10_000)

  const toSomebodyNew = await sendTo(rig, rig.line, deviceHandle('+15550008009'))
  const toFriend = await sendTo(rig, rig.line, friend)
  const online = rig.line.events.findLast((event) => event.type === 'online')
  const findings = await rig.driver.checkup(NEVER)

  expect(toSomebodyNew).toMatchObject({ outcome: 'postponed', reason: 'pacing' })
  expect(toFriend).toEqual(ACCEPTED)
  expect(online).toMatchObject({ capabilities: { new_contacts: false } })
  expect(findings.map(({ code }) => code)).toEqual(['new_contacts_paused'])
})

test('a message that Messages sends once more by SMS, seconds after it was sent, is reported with it', async () => {
  await using rig = await attendedMac()
  const { file } = rig.model
  rig.model.nextSend('stuck')
  const sending = carry(rig, rig.line, 'hello')
  await rig.clock.advance(1_000)
  const row = newestRow(file)
  file.set(row, { is_sent: 1 })
  const { outcome } = await sending

  await rig.clock.advance(4_000)
  file.set(row, { service: 'SMS', was_downgraded: 1, is_finished: 1 })
  await rig.clock.advance(20_000)

  const receipts = receiptsOf(rig.line.events).map(({ kind, service }) => ({ kind, service }))
  expect(outcome).toEqual(ACCEPTED)
  expect(receipts).toEqual([{ kind: 'sent', service: 'SMS' }])
})

test('a message that changed its service while the relay was away is reported when it is back', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  rig.model.nextSend('sms')
  const { outcome, note } = await carry(rig, first, 'hello')
  await first.end()

  const open = [{ guid: guidOf(outcome) ?? '', note }]
  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint(), open })
  await rig.clock.advance(20_000)

  const receipts = receiptsOf(second.events).map(({ kind, service }) => ({ kind, service }))
  expect(receipts).toEqual([{ kind: 'sent', service: 'SMS' }])
})

test('messages leave about a second apart, and more between people written to for the first time', async () => {
  await using rig = await attendedMac()
  const at: number[] = []
  const timed = async () => {
    at.push(rig.clock.monotonic())
    return true
  }

  for (const text of ['one', 'two', 'three']) await rig.line.send(text, timed)
  const strangers: number[] = []
  for (let i = 0; i < 3; i += 1) {
    await sendTo(rig, rig.line, deviceHandle(`+1555000900${i}`), async () => {
      strangers.push(rig.clock.monotonic())
      return true
    })
  }

  expect(gapsOf(at).every((ms) => ms >= 1_000 && ms < 2_500)).toBe(true)
  expect(gapsOf(strangers).every((ms) => ms >= 2_000 && ms < 7_000)).toBe(true)
})

function gapsOf(at: readonly number[]): readonly number[] {
  return at.slice(1).map((ms, index) => ms - (at[index] ?? 0))
}
