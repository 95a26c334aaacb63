import { expect } from 'bun:test'

import { WITHDRAWN } from '../../src/lines/driver.ts'
import { runLine, guidOf, receiptsOf, type Check } from './line-rig.ts'

export const SENDING_PROMISES: Readonly<Record<string, Check>> = {
  'the point of no return is asked once, before anything leaves': async (rig) => {
    await using attended = await runLine(rig, rig.driver)
    const carriedWhenAsked: number[] = []

    const outcome = await attended.send('hello', async () => {
      carriedWhenAsked.push(rig.carried('hello'))
      return true
    })

    expect(carriedWhenAsked).toEqual([0])
    expect(outcome.outcome).toBe('accepted')
    expect(rig.carried('hello')).toBe(1)
  },

  'without the point of no return nothing leaves': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    const outcome = await attended.send('hello', async () => false)
    await rig.clock.advance(rig.settleMs)

    expect(outcome).toEqual(WITHDRAWN)
    expect(rig.carried('hello')).toBe(0)
  },

  'a point of no return that fails is none': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    const outcome = await attended.send('hello', () => Promise.reject(new Error('disk full')))
    await rig.clock.advance(rig.settleMs)

    expect(outcome).toEqual(WITHDRAWN)
    expect(rig.carried('hello')).toBe(0)
  },

  'a session that is over sends nothing': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    const outcome = await attended.send('hello', async () => true, AbortSignal.abort())
    await rig.clock.advance(rig.settleMs)

    expect(outcome.outcome).toBe('not_sent')
    expect(rig.carried('hello')).toBe(0)
  },

  'an abort after the point of no return does not hide what happened': async (rig) => {
    await using attended = await runLine(rig, rig.driver)
    const controller = new AbortController()

    const outcome = await attended.send(
      'hello',
      async () => {
        controller.abort()
        return true
      },
      controller.signal,
    )
    await rig.clock.advance(rig.settleMs)

    const isUnsent = outcome.outcome === 'not_sent' && rig.carried('hello') === 0
    const mayBeSent = outcome.outcome !== 'not_sent' && rig.carried('hello') === 1
    expect(isUnsent || mayBeSent).toBe(true)
  },

  'a whole capacity of sends goes at once, each with a guid of its own or none': async (rig) => {
    await using attended = await runLine(rig, rig.driver)
    const texts = Array.from({ length: attended.session().capacity }, (_, i) => `hello ${i}`)

    const sends = texts.map((text) => attended.send(text, async () => true))
    await rig.clock.advance(rig.settleMs)
    const outcomes = await Promise.all(sends)

    const guids = outcomes.map(guidOf)
    expect(new Set(guids).size).toBe(rig.canBeAsked ? texts.length : 1)
    expect(guids.includes(null)).toBe(!rig.canBeAsked)
    expect(texts.map(rig.carried)).toEqual(texts.map(() => 1))
  },

  'receipts name the guid, and come after the outcome, if they come at all': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    const outcome = await attended.send('hello', async () => true)
    const before = receiptsOf(attended.events)
    await rig.clock.advance(rig.settleMs)

    const after = receiptsOf(attended.events)
    expect(before).toEqual([])
    expect(after.map(({ kind }) => kind)).toEqual(rig.canBeAsked ? ['delivered', 'read'] : [])
    expect(after.every(({ guid }) => guid === guidOf(outcome))).toBe(true)
  },

  'a line that can be asked knows whom it wrote to, and nobody else': async (rig) => {
    await using attended = await runLine(rig, rig.driver)

    const before = await attended.session().knows(rig.recipient)
    await attended.send('hello', async () => true)
    const after = await attended.session().knows(rig.recipient)

    expect([before, after]).toEqual([false, rig.canBeAsked])
  },
}
