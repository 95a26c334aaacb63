// What a line does where its listener cannot keep what it is told, or takes its time: nothing is lost, and
// nothing is told twice.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import type { LineEvent, LineSession } from '../../../../src/lines/driver.ts'
import { ImessageEvidence } from '../../../../src/lines/kinds/iphone/phone-line.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { ACCEPTED, FRIEND, messageTo, NEVER, OTHER, run } from '../../../support/iphone/ui-rig.ts'
import { TestClock } from '../../../support/test-clock.ts'

const UDID = '00008110-001A2B3C4D5E001E'
const MINUTE_MS = 60_000
const NOTHING = { unsettled: [], open: [] }

function plugged() {
  const rig = new PhoneLineRig([UDID])
  rig.cable.attach(UDID)
  return { rig, phone: rig.of(UDID).phone }
}

async function online() {
  const { rig, phone } = plugged()
  return { rig, phone, host: await PhoneHost.online(rig, UDID) }
}

/** The cable is pulled right after the touch: nobody knows what became of the message. */
async function sentAndUnplugged() {
  const { rig, phone, host } = await online()
  const sending = host.begin('out')
  while (phone.touches === 0) await rig.clock.advance(50)
  rig.unplug(UDID)
  await run(rig.clock, sending)
  return { rig, host, unsettled: [host.unsettled('out')] }
}

function receiptsOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'receipt' ? [event.receipt.kind] : []))
}

function settledOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'settled' ? [event.outcome] : []))
}

describe('a listener that cannot keep an event', () => {
  const TYPES = ['message', 'receipt', 'checkpoint', 'online', 'offline'] as const

  test.each(TYPES)('ends the line, and the next start tells all: %s', async (type) => {
    const { rig, host, phone } = await online()
    phone.readAfterMs = 20_000
    await host.send('out')
    host.refuses = (event) => event.type === type
    phone.receive(OTHER, 'in')
    await rig.clock.advance(5_000)
    rig.unplug(UDID)
    await rig.clock.advance(1_000)
    rig.plugIn(UDID)
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, UDID, { checkpoint: host.checkpoint })
    await rig.clock.advance(3 * MINUTE_MS)

    expect(host.failures).toEqual(['not durable'])
    expect([...host.texts, ...again.texts]).toEqual(['in'])
    expect(receiptsOf([...host.events, ...again.events])).toEqual(['delivered', 'read'])
    await again.end()
  })

  test('ends the line, and the next start settles what was sent', async () => {
    const { rig, host, unsettled } = await sentAndUnplugged()
    host.refuses = ({ type }) => type === 'settled'
    rig.plugIn(UDID)
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, UDID, { checkpoint: host.checkpoint, unsettled })
    await rig.clock.advance(MINUTE_MS)

    expect(host.failures).toEqual(['not durable'])
    expect([settledOf(host.events), settledOf(again.events)]).toEqual([[], [ACCEPTED]])
    expect(again.texts).toEqual([])
    await again.end()
  })

  test('right after a message was settled does not make it one that was typed', async () => {
    const { rig, host } = await sentAndUnplugged()
    host.refuses = () => settledOf(host.events).length > 0
    rig.plugIn(UDID)
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, UDID, { checkpoint: host.checkpoint })
    await rig.clock.advance(MINUTE_MS)

    expect(settledOf(host.events)).toEqual([ACCEPTED])
    expect([...host.texts, ...again.texts]).toEqual([])
    await again.end()
  })

  test('that is slow is waited for at the end, too', async () => {
    const { rig, phone } = plugged()
    phone.deliveredAfterMs = 500
    const slow = Promise.withResolvers<void>()
    const seen = { session: null as LineSession | null, isHeld: false, isOver: false }
    const onEvent = async (event: LineEvent) => {
      if (event.type === 'online') seen.session = event.session
      if (event.type !== 'receipt') return
      seen.isHeld = true
      await slow.promise
    }
    const controller = new AbortController()
    const line = { id: '' as never, key: UDID, number: '', checkpoint: null, ...NOTHING }
    const attended = rig.driver().run(line, { onEvent }, controller.signal)
    const ended = attended.finally(() => {
      seen.isOver = true
    })
    await rig.clock.advance(3_000)
    const message = messageTo(FRIEND, 'hello', 'msg_hello', rig.clock.now())
    const sending = seen.session?.send(message, async () => true, NEVER)
    while (!seen.isHeld) await rig.clock.advance(250)

    controller.abort()
    await rig.clock.advance(60_000)
    const wasOver = seen.isOver
    slow.resolve()
    await rig.clock.advance(0)

    expect([wasOver, seen.isOver]).toEqual([false, true])
    await ended
    await sending
  })

  test('makes the run itself reject', async () => {
    const { rig } = plugged()
    const line = { id: '' as never, key: UDID, number: '', checkpoint: null, ...NOTHING }
    const listener = {
      onEvent: async ({ type }: LineEvent) => {
        if (type === 'checkpoint') throw new Error('not durable')
      },
    }

    const attended = run(rig.clock, rig.driver().run(line, listener, NEVER))

    await expect(attended).rejects.toThrow('not durable')
    expect(rig.launcher.stopped).toEqual([UDID])
  })
})

const ANN = deviceHandle('+12025550123')
const BEN = deviceHandle('+12025550177')

function made() {
  const clock = new TestClock()
  return { clock, evidence: new ImessageEvidence(clock) }
}

/** Two people who are not reached, one minute apart. */
async function off() {
  const { clock, evidence } = made()
  evidence.noteFailed(ANN)
  await clock.advance(MINUTE_MS)
  evidence.noteFailed(BEN)
  return { clock, evidence }
}

describe('iMessage seems to be off', () => {
  test('after two people who were not reached, and not after one, however often', async () => {
    const { clock, evidence } = made()
    evidence.noteFailed(ANN)
    await clock.advance(MINUTE_MS)
    evidence.noteFailed(ANN)
    const afterOne = evidence.isOff

    evidence.noteFailed(BEN)

    expect([afterOne, evidence.isOff]).toEqual([false, true])
  })

  test.each([
    [9, true],
    [11, false],
  ])('where %d minutes lie between them: %p', async (minutes, isOff) => {
    const { clock, evidence } = made()
    evidence.noteFailed(ANN)
    await clock.advance(minutes * MINUTE_MS)

    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(isOff)
  })

  test('not where somebody was reached in between', () => {
    const { evidence } = made()
    evidence.noteFailed(ANN)

    evidence.noteReached()
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(false)
  })

  test('also where a bubble came in between, of which nobody knows yet whether it arrives', () => {
    const { evidence } = made()
    evidence.noteFailed(ANN)

    evidence.noteBubble(BEN)
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(true)
  })
})

describe('a quarter of an hour later', () => {
  test('it is tried again', async () => {
    const { clock, evidence } = await off()

    await clock.advance(15 * MINUTE_MS - 1)
    const before = evidence.isOff
    await clock.advance(1)

    expect([before, evidence.isOff]).toEqual([true, false])
  })

  test('one trial that fails is enough for the next rest', async () => {
    const { clock, evidence } = await off()
    await clock.advance(20 * MINUTE_MS)

    evidence.noteFailed(ANN)
    const atOnce = evidence.isOff
    await clock.advance(15 * MINUTE_MS)

    expect([atOnce, evidence.isOff]).toEqual([true, false])
  })

  test('one trial that succeeds clears all: the next two count again', async () => {
    const { clock, evidence } = await off()
    await clock.advance(20 * MINUTE_MS)

    evidence.noteReached()
    evidence.noteFailed(ANN)
    const afterOne = evidence.isOff
    evidence.noteFailed(BEN)

    expect([afterOne, evidence.isOff]).toEqual([false, true])
  })
})

describe('somebody whom the composer calls a text message', () => {
  test('does not count where he never was on iMessage', () => {
    const { evidence } = made()

    evidence.noteRefused(ANN)
    evidence.noteRefused(BEN)

    expect(evidence.isOff).toBe(false)
  })

  test('counts where he was', () => {
    const { evidence } = made()
    evidence.noteBubble(ANN)
    evidence.noteBubble(BEN)

    evidence.noteRefused(ANN)
    evidence.noteRefused(BEN)

    expect(evidence.isOff).toBe(true)
  })

  test('is remembered as one of the last 500', () => {
    const { evidence } = made()
    evidence.noteBubble(ANN)
    for (let i = 0; i < 500; i += 1) evidence.noteBubble(deviceHandle(`+1202555${1_000 + i}`))

    evidence.noteRefused(ANN)
    evidence.noteFailed(BEN)

    expect(evidence.isOff).toBe(false)
  })
})
