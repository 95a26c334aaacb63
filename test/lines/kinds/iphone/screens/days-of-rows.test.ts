// The list of conversations names the time of a message only on its day. The same words of another day, or of a minute
// in which nobody looked, are reported, and what is only shown by another date is not opened again.

import { describe, expect, test } from 'bun:test'

import { daysNamed } from '../../../../../src/lines/kinds/iphone/screens/label-time.ts'
import {
  FRIEND,
  makeKnownLine,
  makeUiRig,
  OTHER,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Lets time pass until noon, or so many minutes after it. */
async function toNoon({ clock }: UiRig, minutes = 0): Promise<void> {
  const past = (clock.now() - DAY_MS / 2 - minutes * MINUTE_MS) % DAY_MS
  await clock.advance(DAY_MS - past)
}

function readElsewhere({ phone }: UiRig, text: string): void {
  phone.receive(FRIEND, text)
  phone.chat(FRIEND).isUnread = false
}

/** A line that has reported an "ok" of noon and looked at its chat after that minute, and has stored that. */
async function lineWithOk(): Promise<UiRig> {
  const rig = await makeKnownLine()
  await toNoon(rig)
  rig.phone.receive(FRIEND, 'ok')
  await rig.poll()
  await rig.clock.advance(3 * MINUTE_MS)
  await rig.poll()
  rig.phone.receive(OTHER, 'hello')
  await rig.poll()
  await rig.clock.advance(3 * MINUTE_MS)
  await rig.poll()
  rig.told.messages.length = 0
  return rig
}

/** How often a chat was opened. */
function openings({ commands }: UiRig): number {
  return commands.names.filter((name) => name === 'tap' || name === 'url').length
}

describe('the same words, read elsewhere while the relay is off, are reported', () => {
  test.each([
    ['that came later on the day of the first ones', 0, HOUR_MS, 1],
    ['that came the next day, of which the list says Yesterday', 0, DAY_MS, 1],
    ['that came a week later, of which the list says the date', 0, 7 * DAY_MS, 4],
    ['after words of which the list said the day already', 2, 2 * DAY_MS, 2],
  ])('%s', async (_what, daysOn, offMs, daysOff) => {
    const rig = await lineWithOk()
    for (let quarters = 0; quarters < 4 * daysOn; quarters += 1) {
      await rig.clock.advance(DAY_MS / 4)
      await rig.poll()
    }
    await rig.clock.advance(offMs)
    readElsewhere(rig, 'ok')
    await rig.clock.advance(daysOff * DAY_MS)

    await rig.restart().poll()

    expect(textsOf(rig)).toEqual(['< ok'])
  })
})

test('a row that only shows another date is not opened, by the next process neither', async () => {
  const rig = await lineWithOk()
  const before = openings(rig)
  for (let minutes = 0; minutes < 26 * 60; minutes += 1) {
    await rig.clock.advance(MINUTE_MS)
    await rig.poll()
  }
  await rig.clock.advance(10 * DAY_MS)
  const next = rig.restart()
  for (let rounds = 0; rounds < 3; rounds += 1) await next.poll()

  expect(openings(rig)).toBe(before)
}, 60_000)

describe('in the minute in which a line begins', () => {
  test('the same words again are reported, read elsewhere too', async () => {
    const rig = makeUiRig()
    await toNoon(rig)
    readElsewhere(rig, 'ok')
    const line = rig.restart()
    await line.poll()
    await line.poll()
    readElsewhere(rig, 'ok')
    await rig.clock.advance(3 * MINUTE_MS)
    await line.poll()

    expect(textsOf(rig)).toEqual(['< ok', '< ok'])
  })

  test('and before it is ready to look at the list, what comes is reported, read elsewhere too', async () => {
    const rig = makeUiRig()
    await toNoon(rig)
    rig.phone.receive(FRIEND, 'before', { agoMs: HOUR_MS })
    const line = rig.restart()
    await rig.clock.advance(5 * MINUTE_MS)
    readElsewhere(rig, 'ok')
    await rig.clock.advance(5 * MINUTE_MS)
    await line.poll()
    await line.poll()

    expect(textsOf(rig)).toEqual(['< ok'])
  })
})

test.each([
  ['12:03 PM', ['2026-11-10']],
  ['Today', ['2026-11-10']],
  ['Yesterday', ['2026-11-09']],
  ['Monday', ['2026-11-09']],
  ['Tuesday', ['2026-11-03']],
  ['10/29/26', ['2026-10-29']],
  ['29/10/2026', ['2026-10-29']],
  ['5/11/26', ['2026-05-11', '2026-11-05']],
  ['Ann', []],
])('on Tuesday, November 10, %j may be %p', (text, days) => {
  expect(daysNamed(text, '2026-11-10')).toEqual(days)
})
