import { expect } from 'bun:test'

import {
  runLine,
  carry,
  guidOf,
  messageOf,
  messagesOf,
  serviceOf,
  settledOf,
  type Check,
} from './line-rig.ts'

const EVENTS_AT_ONCE_MAX = 128

export const EVENT_PROMISES: Readonly<Record<string, Check>> = {
  'a line goes online before it reports a message': async (rig) => {
    await rig.receive('first')
    await using attended = await runLine(rig, rig.driver)

    await rig.clock.advance(rig.settleMs)

    const reported = attended.events.filter(({ type }) => type === 'online' || type === 'message')
    expect(reported[0]?.type).toBe('online')
  },

  'a line says that it is online, or why it is not, before it reports what came meanwhile': async (
    rig,
  ) => {
    const first = await runLine(rig, rig.driver)
    await first.end()
    await rig.receive('first')

    const checkpoint = first.checkpoint()
    await using second = await runLine(rig, rig.restart(), { checkpoint })
    await rig.clock.advance(rig.settleMs)

    const types = second.events.map(({ type }) => type)
    const statedAt = types.findIndex((type) => type === 'online' || type === 'offline')
    expect(statedAt).toBeGreaterThanOrEqual(0)
    expect(types.indexOf('message')).toBeGreaterThan(statedAt)
  },

  'a run ends when its signal aborts, and no event follows it': async (rig) => {
    const attended = await runLine(rig, rig.driver)

    await attended.end()
    const count = attended.events.length
    await rig.receive('too late')
    await rig.clock.advance(rig.settleMs)

    expect(attended.events.length).toBe(count)
  },

  'our own message is not reported as one typed on the device': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    await attended.send('hello', async () => true)
    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(attended.events)).toEqual([])
  },

  'an abort in the middle of many events is the end of them': async (rig) => {
    const attended = await runLine(rig, rig.driver)
    const count = Math.min(EVENTS_AT_ONCE_MAX, rig.burst)
    for (let i = 0; i < count; i += 1) await rig.receive(`message ${i}`)
    attended.hold()
    await rig.clock.advance(rig.settleMs)
    const eventCount = attended.events.length

    attended.abort()
    attended.letGo()
    await rig.clock.advance(rig.settleMs)

    expect(attended.events.length).toBe(eventCount)
    await attended.ended()
  },

  'a message that arrives is reported with its text, live': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    await rig.receive('who is there?')
    await rig.clock.advance(rig.settleMs)

    const reported = messagesOf(attended.events).map(({ text, isFromMe, isHistory, service }) => {
      return { text, isFromMe, isHistory, service }
    })
    const text = 'who is there?'
    expect(reported).toEqual([{ text, isFromMe: false, isHistory: false, service: 'iMessage' }])
  },

  'what arrives while nobody attends is reported from the checkpoint on, once': async (rig) => {
    const first = await runLine(rig, rig.driver)
    await rig.receive('one')
    await rig.clock.advance(rig.settleMs)
    await first.end()
    await rig.receive('two')
    await rig.clock.advance(rig.settleMs)

    await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(second.events).map(({ text }) => text)).toEqual(['two'])
  },

  'an older checkpoint reports the same facts again, where the device can be asked': async (
    rig,
  ) => {
    const first = await runLine(rig, rig.driver)
    const older = first.checkpoint()
    await rig.receive('one')
    await rig.clock.advance(rig.settleMs)
    await first.end()

    await using second = await runLine(rig, rig.restart(), { checkpoint: older })
    await rig.clock.advance(rig.settleMs)

    const facts = rig.canBeAsked ? messagesOf(first.events) : []
    expect(messagesOf(second.events)).toEqual(facts)
  },

  'without a checkpoint what was there before is history': async (rig) => {
    await rig.receive('long ago')
    await rig.clock.advance(rig.settleMs)
    const first = await runLine(rig, rig.driver)
    await rig.clock.advance(rig.settleMs)
    await first.end()

    await using fresh = await runLine(rig, rig.restart())
    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(fresh.events).every(({ isHistory }) => isHistory)).toBe(true)
  },

  'an event that could not be made durable is reported again': async (rig) => {
    const first = await runLine(rig, rig.driver)
    const checkpoint = first.checkpoint()
    first.refuse(() => true)
    await rig.receive('one')
    await rig.clock.advance(rig.settleMs)

    expect(await first.ended()).toEqual(new Error('not durable'))
    await using second = await runLine(rig, rig.driver, { checkpoint })
    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(second.events).map(({ text }) => text)).toEqual(['one'])
  },

  'one event among others that could not be made durable is not passed over': async (rig) => {
    const first = await runLine(rig, rig.driver)
    first.refuse((event) => event.type === 'message' && event.message.text === 'two')
    for (const text of ['one', 'two', 'three']) await rig.receive(text)
    await rig.clock.advance(rig.settleMs)
    await first.ended()

    await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(second.events).map(({ text }) => text)).toContain('two')
  },

  'a driver waits for its listener': async (rig) => {
    await using attended = await runLine(rig, rig.driver)
    attended.hold()
    const count = Math.min(EVENTS_AT_ONCE_MAX * 2, rig.burst)
    for (let i = 0; i < count; i += 1) await rig.receive(`message ${i}`)

    await rig.clock.advance(rig.settleMs)

    expect(messagesOf(attended.events).length).toBeLessThanOrEqual(EVENTS_AT_ONCE_MAX)
    attended.letGo()
    await rig.clock.advance(rig.settleMs)
    expect(messagesOf(attended.events).map(({ text }) => text)).toEqual(
      Array.from({ length: count }, (_, i) => `message ${i}`),
    )
  },

  'an unsettled message that left is found before anything new is reported, or left open': async (
    rig,
  ) => {
    const first = await runLine(rig, rig.driver)
    const checkpoint = first.checkpoint()
    const sent = await carry(rig, first, 'hello')
    await first.end()
    await rig.receive('news')

    const unsettled = [{ message: sent.message, note: sent.note }]
    await using second = await runLine(rig, rig.restart(), { checkpoint, unsettled })
    await rig.clock.advance(rig.settleMs)

    const reported = second.events.filter(({ type }) => type === 'settled' || type === 'message')
    const service = serviceOf(sent.outcome)
    const outcome = { outcome: 'accepted', guid: guidOf(sent.outcome), service } as const
    const settled = { type: 'settled', messageId: sent.message.id, outcome } as const
    expect(reported[0]?.type).toBe(rig.canBeAsked ? 'settled' : 'message')
    expect(settledOf(second.events)).toEqual(rig.canBeAsked ? [settled] : [])
    expect(rig.carried('hello')).toBe(1)
  },

  'an unsettled message that never left is proven unsent, or left open': async (rig) => {
    const first = await runLine(rig, rig.driver)
    const sent = await carry(rig, first, 'another')
    await first.end()

    const message = messageOf(rig, 'never sent')
    const unsettled = [{ message, note: sent.note }]
    await using second = await runLine(rig, rig.restart(), { unsettled })
    await rig.clock.advance(rig.settleMs)

    const settled = settledOf(second.events)
    const reported = settled.map(({ messageId, outcome }) => [messageId, outcome.outcome])
    expect(reported).toEqual(rig.provesUnsent ? [[message.id, 'not_sent']] : [])
    expect(rig.carried('never sent')).toBe(0)
  },

  'an unsettled message without a note is never called unsent': async (rig) => {
    const unsettled = [{ message: messageOf(rig, 'from a back-up'), note: null }]

    await using attended = await runLine(rig, rig.driver, { unsettled })
    await rig.clock.advance(rig.settleMs)

    const outcomes = settledOf(attended.events).map(({ outcome }) => outcome.outcome)
    expect(outcomes).not.toContain('not_sent')
  },
}
