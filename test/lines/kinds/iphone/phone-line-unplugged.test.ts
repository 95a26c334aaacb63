// The cable is pulled at any moment of a send, and plugged in again some time later. What the line says of
// the message is what the phone did with it, and it is never touched twice.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Settlement } from '../../../../src/lines/driver.ts'
import type { TouchEffect } from '../../../support/iphone/messages-phone.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { ACCEPTED, FRIEND, notSent, OTHER, run } from '../../../support/iphone/ui-rig.ts'

const UDID = '00008110-001A2B3C4D5E001E'
const STEP_MS = 50
const TEXT = 'hello'

type Story = {
  /** When the cable is pulled, after the send began, and for how long. */
  readonly atMs: number
  readonly awayMs: number
  /** Whether the phone knows the recipient; somebody new takes 3 s longer. */
  readonly isKnown: boolean
  readonly touch: TouchEffect
  /** How long the line is plugged in again before it is pulled once more; null for never. */
  readonly againMs: number | null
}

const ONCE: Story = { atMs: 0, awayMs: 15_000, isKnown: true, touch: 'sends', againMs: null }

async function online(isKnown: boolean) {
  const rig = new PhoneLineRig([UDID])
  rig.cable.attach(UDID)
  const host = await PhoneHost.online(rig, UDID)
  if (isKnown) {
    await host.send('before')
    await rig.clock.advance(10_000)
  }
  return { rig, host, phone: rig.of(UDID).phone }
}

/** What was answered, what was said of it at last, and what is on the phone. */
async function tell({ atMs, awayMs, isKnown, touch, againMs }: Story) {
  const { rig, host, phone } = await online(isKnown)
  const touchesBefore = phone.touches
  // A second touch of a button that did not react would send.
  phone.nextTouches = [touch]

  const sending = host.begin(TEXT)
  await rig.clock.advance(atMs)
  rig.unplug(UDID)
  await rig.clock.advance(awayMs)
  rig.plugIn(UDID)
  if (againMs !== null) {
    await rig.clock.advance(againMs)
    rig.unplug(UDID)
    await rig.clock.advance(awayMs)
    rig.plugIn(UDID)
  }
  const { outcome } = await run(rig.clock, sending)
  phone.receive(OTHER, 'meanwhile')
  await rig.clock.advance(60_000)

  const seen = {
    outcome,
    settled: host.events.flatMap((event) => (event.type === 'settled' ? [event.outcome] : [])),
    bubbles: phone.sent(FRIEND, TEXT).length,
    touches: phone.touches - touchesBefore,
    draft: phone.chat(FRIEND).draft,
    texts: host.texts,
    isOnline: host.isOnline,
  }
  return { rig, host, phone, seen }
}

type Seen = Awaited<ReturnType<typeof tell>>['seen']

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
  const { rig, host } = await online(isKnown)
  const startedAt = rig.clock.monotonic()
  const sending = host.begin(TEXT).then(() => rig.clock.monotonic() - startedAt)
  await rig.clock.advance(30_000)
  return await sending
}

test.each([true, false])(
  'at every twentieth of a second of a send to somebody known: %p',
  async (isKnown) => {
    const endMs = await lastsMs(isKnown)
    const outcomes = new Set<string>()

    for (let atMs = 0; atMs <= endMs + STEP_MS; atMs += STEP_MS) {
      const { seen } = await tell({ ...ONCE, atMs, isKnown })
      check(seen)
      outcomes.add(seen.outcome.outcome)
    }

    expect(endMs).toBeGreaterThan(isKnown ? 1_000 : 3_000)
    expect([...outcomes].sort()).toEqual(['accepted', 'not_sent', 'unknown'])
  },
  60_000,
)

const RUNS = Number(process.env['HOOKLINE_UNPLUG_RUNS'] ?? '60')

test(`in ${RUNS} sends the cable is pulled somewhere, once or twice, for a while`, async () => {
  const story = fc.record({
    atMs: fc.nat({ max: 14_000 }),
    awayMs: fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 40_000 })),
    isKnown: fc.boolean(),
    touch: fc.constantFrom('sends', 'late_bubble', 'nothing'),
    againMs: fc.option(fc.nat({ max: 6_000 })),
  })

  await fc.assert(
    fc.asyncProperty(story, async (one) => check((await tell(one)).seen)),
    { numRuns: RUNS },
  )
}, 120_000)

test('a touch whose answer is lost with the cable is found by its bubble', async () => {
  const { rig, host, phone } = await online(true)
  rig.of(UDID).commands.meddle = (name) => {
    if (name !== 'click') return null
    rig.clock.after(60, () => rig.unplug(UDID))
    return { how: 'drop', when: 'after' }
  }

  const { outcome } = await host.send(TEXT)
  rig.of(UDID).commands.meddle = () => null
  rig.plugIn(UDID)
  await rig.clock.advance(30_000)

  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_answer' })
  const settled = host.events.flatMap((event) => (event.type === 'settled' ? [event.outcome] : []))
  expect(settled).toEqual([ACCEPTED])
  expect(phone.touches).toBe(2)
  await host.end()
})

test('a touch that did nothing is not made again, and its text does not stay', async () => {
  const { host, seen } = await tell({ ...ONCE, atMs: 30_000, touch: 'nothing' })

  expect(seen).toMatchObject({ outcome: notSent('not_touched'), bubbles: 0, touches: 1, draft: '' })
  await host.end()
})

test('what was not sent goes out when it is tried again, once', async () => {
  for (const atMs of [200, 1_000, 2_000]) {
    const { host, phone, seen } = await tell({ ...ONCE, atMs, isKnown: false })

    const again = await host.send(TEXT)

    expect(seen.outcome).toMatchObject({ outcome: 'not_sent', blame: 'line' })
    expect(again.outcome.outcome).toBe('accepted')
    expect(phone.sent(FRIEND, TEXT)).toHaveLength(1)
    await host.end()
  }
})
