// What a line does if its listener cannot keep what it gets, or takes its time: nothing is lost, and
// nothing is reported twice.

import { describe, expect, test } from 'bun:test'

import type { LineEvent, LineSession } from '../../../../src/lines/driver.ts'
import { UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { ACCEPTED, FRIEND, messageTo, NEVER, OTHER, run } from '../../../support/iphone/ui-rig.ts'

const MINUTE_MS = 60_000

/** The cable is pulled right after the touch: nobody knows what became of the message. */
async function sentAndUnplugged() {
  const host = await PhoneHost.online()
  const { rig } = host
  const sending = host.begin('out')
  while (rig.phone.touches === 0) await rig.clock.advance(50)
  rig.unplug()
  await run(rig.clock, sending)
  return { rig, host, unsettled: [host.unsettled('out')] }
}

describe('a listener that cannot keep an event', () => {
  const TYPES = ['message', 'receipt', 'checkpoint', 'online', 'offline'] as const

  test.each(TYPES)('ends the line, and the next start reports all: %s', async (type) => {
    const host = await PhoneHost.online()
    const { rig } = host
    rig.phone.readAfterMs = 20_000
    await host.send('out')
    host.refuses = (event) => event.type === type
    rig.phone.receive(OTHER, 'in')
    await rig.clock.advance(8_000)
    rig.unplug()
    await rig.clock.advance(1_000)
    rig.plugIn()
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, { checkpoint: host.checkpoint })
    await rig.clock.advance(3 * MINUTE_MS)

    expect(host.failures).toEqual(['not durable'])
    expect([...host.texts, ...again.texts]).toEqual(['in'])
    expect([...host.receipts, ...again.receipts]).toEqual(['delivered', 'read'])
  })

  test('ends the line, and the next start settles what was sent', async () => {
    const { rig, host, unsettled } = await sentAndUnplugged()
    host.refuses = ({ type }) => type === 'settled'
    rig.plugIn()
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, { checkpoint: host.checkpoint, unsettled })
    await rig.clock.advance(MINUTE_MS)

    expect(host.failures).toEqual(['not durable'])
    expect([host.settled, again.settled]).toEqual([[], [ACCEPTED]])
    expect(again.texts).toEqual([])
  })

  test('right after a message was settled does not make it one that was typed', async () => {
    const { rig, host } = await sentAndUnplugged()
    host.refuses = () => host.settled.length > 0
    rig.plugIn()
    await rig.clock.advance(MINUTE_MS)

    const again = await PhoneHost.online(rig, { checkpoint: host.checkpoint })
    await rig.clock.advance(MINUTE_MS)

    expect(host.settled).toEqual([ACCEPTED])
    expect([...host.texts, ...again.texts]).toEqual([])
  })
})

describe('a run by itself', () => {
  const LINE = { id: '' as never, key: UDID, number: '', checkpoint: null, unsettled: [], open: [] }

  test('waits at its end for an event that is on its way', async () => {
    const rig = PhoneLineRig.plugged()
    const slow = Promise.withResolvers<void>()
    const seen = { session: null as LineSession | null, isHeld: false, isOver: false }
    const onEvent = async (event: LineEvent) => {
      if (event.type === 'online') seen.session = event.session
      if (event.type !== 'receipt') return
      seen.isHeld = true
      await slow.promise
    }
    const controller = new AbortController()
    const ended = rig.driver().run(LINE, { onEvent }, controller.signal)
    void ended.finally(() => {
      seen.isOver = true
    })
    await rig.clock.advance(3_000)
    const message = messageTo(FRIEND, 'hello', 'msg_hello', rig.clock.now())
    void seen.session?.send(message, async () => true, NEVER)
    while (!seen.isHeld) await rig.clock.advance(250)

    controller.abort()
    await rig.clock.advance(MINUTE_MS)
    const wasOver = seen.isOver
    slow.resolve()
    await rig.clock.advance(0)

    expect([wasOver, seen.isOver]).toEqual([false, true])
  })

  test('rejects where an event could not be kept, and stops its agent', async () => {
    const rig = PhoneLineRig.plugged()
    const onEvent = async ({ type }: LineEvent) => {
      if (type === 'checkpoint') throw new Error('not durable')
    }

    const running = rig.driver().run(LINE, { onEvent }, NEVER)
    const error = await run(
      rig.clock,
      running.catch((caught: unknown) => caught),
    )

    expect(error).toEqual(new Error('not durable'))
    expect(rig.launcher.stopped).toEqual([UDID])
  })
})
