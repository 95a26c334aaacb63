// The cable is pulled at any moment of a send, and plugged in again some time later. What the line says of
// the message is what the phone did with it, and it is never touched twice.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Settlement } from '../../../../src/lines/driver.ts'
import type { TouchEffect } from '../../../support/iphone/messages-phone.ts'
import { PhoneHost } from '../../../support/iphone/phone-line-rig.ts'
import { FRIEND, OTHER, run } from '../../../support/iphone/ui-rig.ts'
import { SCALE } from '../../../support/scale.ts'

const STEP_MS = 50
const TEXT = 'hello'

type Story = {
  /** When the cable is pulled, after the send began, and for how long. */
  readonly atMs: number
  readonly awayMs: number
  /** Whether the phone knows the recipient; a new person takes 3 s longer. */
  readonly isKnown: boolean
  readonly touch: TouchEffect
  /** How long the line is plugged in again before it is pulled once more; null for never. */
  readonly againMs: number | null
}

const ONCE: Story = { atMs: 0, awayMs: 15_000, isKnown: true, touch: 'sends', againMs: null }

async function online(isKnown: boolean): Promise<PhoneHost> {
  const host = await PhoneHost.online()
  if (isKnown) {
    await host.send('before')
    await host.rig.clock.advance(10_000)
  }
  return host
}

/** What was answered, what was said of it at last, and what is on the phone. */
async function tell({ atMs, awayMs, isKnown, touch, againMs }: Story) {
  const host = await online(isKnown)
  const { rig } = host
  const { clock, phone } = rig
  const touchesBefore = phone.touches
  // A second touch of a button that did not react would send.
  phone.nextTouches = [touch]

  const sending = host.begin(TEXT)
  await clock.advance(atMs)
  rig.unplug()
  await clock.advance(awayMs)
  rig.plugIn()
  if (againMs !== null) {
    await clock.advance(againMs)
    rig.unplug()
    await clock.advance(awayMs)
    rig.plugIn()
  }
  const { outcome } = await run(clock, sending)
  phone.receive(OTHER, 'meanwhile')
  await clock.advance(60_000)

  return {
    outcome,
    settled: host.settled,
    bubbles: phone.sent(FRIEND, TEXT).length,
    touches: phone.touches - touchesBefore,
    draft: phone.chat(FRIEND).draft,
    texts: host.texts,
    isOnline: host.isOnline,
  }
}

type Seen = Awaited<ReturnType<typeof tell>>

function check({ outcome, settled, bubbles, touches, draft, texts, isOnline }: Seen): void {
  expect(bubbles).toBeLessThanOrEqual(1)
  expect(touches).toBeLessThanOrEqual(1)
  expect(draft).toBe('')
  expect(texts).toEqual(['meanwhile'])
  expect(isOnline).toBe(true)
  if (outcome.outcome === 'not_sent') expect({ bubbles, blame: outcome.blame }).toEqual(UNSENT)
  if (outcome.outcome === 'accepted') expect(bubbles).toBe(1)
  const ends: readonly Settlement['outcome'][] = settled.map((one) => one.outcome)
  const end = bubbles === 1 ? 'accepted' : 'not_sent'
  expect(ends).toEqual(outcome.outcome === 'unknown' ? [end] : [])
  expect(['not_sent', 'accepted', 'unknown']).toContain(outcome.outcome)
}

const UNSENT = { bubbles: 0, blame: 'line' as const }

/** How long a send takes that nobody disturbs. */
async function lastsMs(isKnown: boolean): Promise<number> {
  const host = await online(isKnown)
  const { clock } = host.rig
  const startedAt = clock.monotonic()
  const sending = host.begin(TEXT).then(() => clock.monotonic() - startedAt)
  await clock.advance(30_000)
  return await sending
}

test.each([true, false])(
  'at every twentieth of a second of a send to a known person: %p',
  async (isKnown) => {
    const endMs = await lastsMs(isKnown)
    const outcomes = new Set<string>()

    for (let atMs = 0; atMs <= endMs + STEP_MS; atMs += STEP_MS) {
      const seen = await tell({ ...ONCE, atMs, isKnown })
      check(seen)
      outcomes.add(seen.outcome.outcome)
    }

    expect(endMs).toBeGreaterThan(isKnown ? 1_000 : 3_000)
    expect([...outcomes].sort()).toEqual(['accepted', 'not_sent', 'unknown'])
  },
  60_000,
)

const RUNS = 60 * SCALE

test(`in ${RUNS} sends the cable is pulled somewhere, once or twice, for a while`, async () => {
  const story = fc.record({
    atMs: fc.nat({ max: 14_000 }),
    awayMs: fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 40_000 })),
    isKnown: fc.boolean(),
    touch: fc.constantFrom('sends', 'late_bubble', 'nothing'),
    againMs: fc.option(fc.nat({ max: 6_000 })),
  })

  await fc.assert(
    fc.asyncProperty(story, async (one) => check(await tell(one))),
    { numRuns: RUNS },
  )
}, 120_000)
