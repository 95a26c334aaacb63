// Sends while everything goes wrong at random: commands fail before or after they are carried out, the cable
// comes out, alerts appear, the button does nothing, the relay stops. Whatever happens, the button is
// touched once at most, and nothing that left is called unsent.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { expectationOf } from '../../../../../src/lines/kinds/iphone/screens/own-sends.ts'
import { sendByUi } from '../../../../../src/lines/kinds/iphone/screens/send.ts'
import type { TouchEffect } from '../../../../support/iphone/messages-phone.ts'
import {
  FRIEND,
  makeUiRig,
  messageTo,
  NEVER,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'
import type { Meddling } from '../../../../support/iphone/wda-commands.ts'
import { SCALE } from '../../../../support/scale.ts'

const RUNS = 100 * SCALE
const COMMANDS = 45

const MEDDLING: fc.Arbitrary<Meddling> = fc.oneof(
  fc.record({
    how: fc.constantFrom('error' as const, 'drop' as const),
    when: fc.constantFrom('before' as const, 'after' as const),
  }),
  fc.record({ how: fc.constant('slow' as const), ms: fc.constantFrom(900, 9_000, 40_000, 90_000) }),
  fc.constant({ how: 'stale' as const }),
  fc.constant({ how: 'answer' as const, body: '<html>' }),
)

/** What happens when the command with this number arrives. */
const INCIDENT = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('fault' as const), meddling: MEDDLING }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('unplug' as const),
      forMs: fc.constantFrom(500, 5_000, 120_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('update', 'sim', 'lock', 'session') }),
  },
)

const SCHEDULE = fc.record({
  incidents: fc.array(fc.tuple(fc.nat({ max: COMMANDS }), INCIDENT), { maxLength: 5 }),
  /** Something that happens to the touch itself. */
  atTouch: fc.option(MEDDLING),
  effect: fc.constantFrom<TouchEffect>('sends', 'sends', 'nothing', 'fails', 'late_bubble'),
  /** Within the time that it is waited for, and after it. */
  lateBubbleMs: fc.constantFrom(5_000, 12_000),
  pass: fc.constantFrom('grants', 'grants', 'grants', 'refuses', 'throws'),
  abortAtMs: fc.option(fc.nat({ max: 12_000 })),
  hasHistory: fc.boolean(),
  text: fc.constantFrom('hello', 'one\ntwo', 'iMessage'),
})

type Schedule = typeof SCHEDULE extends fc.Arbitrary<infer T> ? T : never

function rigOf({ incidents, atTouch, effect, lateBubbleMs, hasHistory, text }: Schedule) {
  const rig = makeUiRig()
  rig.phone.lateBubbleMs = lateBubbleMs
  const byOrdinal = new Map(incidents)
  // What was there before the line, with the very text that is to be sent.
  if (hasHistory) rig.phone.write(FRIEND, text, 60_000)
  rig.phone.nextTouches = [effect]
  rig.commands.meddle = (name, ordinal) => {
    if (name === 'click') return atTouch
    const incident = byOrdinal.get(ordinal)
    if (incident === undefined) return null
    if (incident.kind === 'fault') return incident.meddling
    if (incident.kind === 'unplug') {
      rig.commands.isUnplugged = true
      rig.clock.after(incident.forMs, () => {
        rig.commands.isUnplugged = false
      })
    }
    if (incident.kind === 'update') rig.phone.alerts.push({ text: 'Update', buttons: ['Later'] })
    if (incident.kind === 'sim') rig.phone.alerts.push({ text: 'No SIM', buttons: ['OK'] })
    if (incident.kind === 'lock') rig.phone.isLocked = true
    if (incident.kind === 'session') rig.commands.takeSession()
    return null
  }
  return rig
}

async function live(schedule: Schedule) {
  const rig = rigOf(schedule)
  if (schedule.hasHistory) await rig.poll().catch(() => {})
  await rig.clock.advance(60_000)
  const controller = new AbortController()
  const { abortAtMs, text } = schedule
  if (abortAtMs !== null) rig.clock.after(abortAtMs, () => controller.abort())
  const pass = async () => {
    if (schedule.pass === 'throws') throw new Error('The disk is full.')
    return schedule.pass === 'grants'
  }
  const { outcome } = await rig.send(text, { pass, signal: controller.signal })
  await healed(rig)
  return { rig, outcome, bubbles: rig.phone.sent(FRIEND, text).slice(schedule.hasHistory ? 1 : 0) }
}

/** All is well again, and what was slow has come to its end. */
async function healed(rig: UiRig): Promise<void> {
  await rig.clock.advance(200_000)
  rig.commands.meddle = () => null
  rig.commands.isUnplugged = false
  rig.phone.alerts = []
  rig.phone.isLocked = false
}

test(`in ${RUNS} bad days no button is touched twice, nothing that left is called unsent, and every message has its end`, async () => {
  const property = fc.asyncProperty(SCHEDULE, async (schedule) => {
    const { rig, outcome, bubbles } = await live(schedule)
    const hasFailed = bubbles.some(({ stage }) => stage === 'failed')
    const isClean = rig.phone.chat(FRIEND).draft === '' || rig.reader.own.drafts.includes(FRIEND)

    expect(rig.commands.names.filter((name) => name === 'click').length).toBeLessThanOrEqual(1)
    expect(bubbles.length).toBeLessThanOrEqual(1)
    if (outcome.outcome === 'accepted') expect(bubbles).toHaveLength(1)
    if (outcome.outcome === 'not_sent' && !hasFailed) expect(bubbles).toEqual([])
    if (outcome.outcome === 'not_sent' && outcome.blame === 'line') {
      expect({ bubbles: bubbles.length, isClean }).toEqual({ bubbles: 0, isClean: true })
    }

    for (let looks = 0; looks < 3; looks += 1) {
      await rig.poll()
      await rig.clock.advance(15_000)
    }

    const settled = rig.told.settled.map((end) => end.outcome.outcome)
    const isSent = bubbles.length === 1 && !hasFailed
    expect(settled).toEqual(outcome.outcome === 'unknown' ? [isSent ? 'accepted' : 'not_sent'] : [])
    expect(rig.told.messages).toEqual([])
    expect(rig.phone.chat(FRIEND).draft).toBe('')
  })

  await fc.assert(property, { numRuns: RUNS })
}, 120_000)

test.each([false, true])(
  'killed at any moment, a message is neither lost nor sent twice, be there an equal one: %p',
  async (hasHistory) => {
    for (let atMs = 0; atMs <= 6_000; atMs += 150) {
      const rig = makeUiRig()
      if (hasHistory) rig.phone.write(FRIEND, 'hello', 60_000)
      await rig.poll()
      const passed: (string | null)[] = []
      const pass = async (note: string | null) => {
        passed.push(note)
        return true
      }
      const message = messageTo(FRIEND, 'hello', 'msg_1', rig.clock.now())
      void sendByUi(rig.reader, message, pass, NEVER)
      await rig.clock.advance(atMs)
      rig.kill()
      await rig.clock.advance(1_000)

      const next = rig.restart()
      const [note] = passed
      if (note === undefined) await next.send('hello')
      else next.reader.own.expect(expectationOf({ message, note }))
      for (let looks = 0; looks < 3; looks += 1) {
        await next.poll()
        await rig.clock.advance(15_000)
      }

      const bubbles = rig.phone.sent(FRIEND, 'hello').length - (hasHistory ? 1 : 0)
      const settled = rig.told.settled.map((end) => end.outcome.outcome)
      expect(bubbles).toBe(note === undefined || rig.phone.touches === 1 ? 1 : 0)
      expect(settled).toEqual(note === undefined ? [] : [bubbles === 1 ? 'accepted' : 'not_sent'])
      expect(rig.told.messages).toEqual([])
      expect(rig.phone.chat(FRIEND).draft).toBe('')
    }
  },
  120_000,
)
