// What a line does after a send and at its end: receipts, whether iMessage works, restarts.

import { describe, expect, test } from 'bun:test'

import { UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost } from '../../../support/iphone/phone-line-rig.ts'
import { FRIEND, notSent, OTHER } from '../../../support/iphone/ui-rig.ts'
import { firstOf } from '../../../support/iphone/wda-commands.ts'

const MINUTE_MS = 60_000

test('a low battery is a warning beside what an empty one stops', async () => {
  const host = await PhoneHost.online()
  const { cable, clock } = host.rig

  cable.lowerBattery(UDID, 15)
  await clock.advance(MINUTE_MS)
  const low = { findings: await host.findings(), isOnline: host.isOnline }
  cable.lowerBattery(UDID, 7)
  await clock.advance(0)

  expect(low).toEqual({ findings: ['battery_low'], isOnline: true })
  expect(await host.findings()).toEqual(['battery_empty', 'battery_low'])
})

describe('receipts', () => {
  test('are reported from the chat while it is open, and later from looks into it', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    phone.deliveredAfterMs = 2_500
    phone.readAfterMs = 100_000
    const opened: number[] = []
    const openUrl = phone.openUrl.bind(phone)
    phone.openUrl = (url) => {
      opened.push(Math.round(clock.monotonic() / 1_000))
      openUrl(url)
    }

    await host.send('hello')
    const sentAtS = Math.round(clock.monotonic() / 1_000)
    opened.length = 0
    await clock.advance(5_000)
    const atOnce = host.receipts
    await clock.advance(84_000)
    const beforeRead = host.receipts
    await clock.advance(45 * MINUTE_MS)

    expect([atOnce, beforeRead]).toEqual([['delivered'], ['delivered']])
    expect(host.receipts).toEqual(['delivered', 'read'])
    // For receipts half a minute and two minutes after the send; once it is read nobody looks any more. The look in
    // between is for an equal text of the send's minute, which the list can't show.
    expect(opened.map((atS) => Math.round((atS - sentAtS) / 10) * 10)).toEqual([30, 120, 120])
    expect(phone.screen.on).toBe('list')
  })

  test('that could not be looked for are looked for again at once', async () => {
    const host = await PhoneHost.online()
    const { clock, commands, phone } = host.rig
    phone.readAfterMs = 20_000
    await host.send('hello')
    await clock.advance(10_000)
    commands.meddle = firstOf('url', { how: 'drop', when: 'before' })

    await clock.advance(30_000)

    expect(host.receipts).toEqual(['delivered', 'read'])
    expect(host.said).toEqual(['starting', 'online'])
  })

  test('of a message whose send an earlier run had begun are looked for too', async () => {
    const host = await PhoneHost.online()
    const { rig } = host
    const { clock, phone } = rig
    phone.deliveredAfterMs = null
    void host.begin('hello')
    while (phone.touches === 0) await clock.advance(50)
    rig.cutOff()
    const unsettled = [host.unsettled('hello')]
    const again = await PhoneHost.online(rig, { checkpoint: host.checkpoint, unsettled })
    await clock.advance(30_000)
    const found = [...again.settled]

    for (const bubble of phone.sent(FRIEND, 'hello')) bubble.service = 'SMS'
    await clock.advance(120_000)

    expect(found).toMatchObject([{ outcome: 'accepted' }])
    const receipts = again.events.flatMap((event) =>
      event.type === 'receipt' ? [event.receipt.service] : [],
    )
    expect(receipts).toEqual(['SMS'])
  })

  test('of a chat that cannot be shown any more take nothing offline', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    await host.send('hello')
    await clock.advance(10_000)

    phone.contacts.set(FRIEND, 'Aunt Em')
    phone.chat(FRIEND).title = 'Aunt Em'
    await clock.advance(20 * MINUTE_MS)
    phone.receive(OTHER, 'still here?')
    await clock.advance(20_000)

    expect(host.said).toEqual(['starting', 'online'])
    expect(host.texts).toEqual(['still here?'])
  })
})

describe('whether iMessage works', () => {
  test('is reported: two who are not reached, a quarter of an hour of rest, then again', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    phone.nextTouches = ['fails', 'fails']
    await host.send('one')
    await clock.advance(6_000)
    const saidAfterOne = [...host.said]

    await host.send('two', { to: OTHER })
    const off = { said: host.said.at(-1), state: host.state, findings: await host.findings() }
    await clock.advance(14 * MINUTE_MS)
    const later = host.said.at(-1)
    await clock.advance(2 * MINUTE_MS)

    expect(saidAfterOne).toEqual(['starting', 'online'])
    expect(off).toEqual({
      said: 'online without iMessage',
      state: 'ui_ready',
      findings: ['imessage_off'],
    })
    expect([later, host.said.at(-1)]).toEqual(['online without iMessage', 'online'])
  })

  test('is seen also where the mark of failure comes long after the bubble', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    phone.deliveredAfterMs = null
    const fail = (handle: string, text: string) => {
      for (const bubble of phone.sent(handle, text)) bubble.stage = 'failed'
    }

    await host.send('one')
    await clock.advance(20_000)
    fail(FRIEND, 'one')
    await clock.advance(MINUTE_MS)
    await host.send('two', { to: OTHER })
    await clock.advance(20_000)
    fail(OTHER, 'two')
    const before = [...host.said]
    await clock.advance(MINUTE_MS)

    expect(host.receipts).toEqual(['failed', 'failed'])
    expect(before).toEqual(['starting', 'online'])
    expect(host.said.at(-1)).toBe('online without iMessage')
  })

  test('is not doubted for a person who was never on it', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    const sms = { first: 'SMS', settled: 'SMS', afterMs: 0 } as const
    phone.reach.set(FRIEND, sms)
    phone.reach.set(OTHER, sms)

    const first = await host.send('one')
    await clock.advance(6_000)
    const second = await host.send('two', { to: OTHER })
    await clock.advance(6_000)

    const refused = notSent('not_on_imessage', 'message')
    expect([first.outcome, second.outcome]).toEqual([refused, refused])
    expect(host.said).toEqual(['starting', 'online'])
  })
})

describe('the end of a line', () => {
  test('is the end of all that it reports and touches, whenever it comes', async () => {
    for (let ms = 0; ms <= 7_000; ms += 500) {
      const host = await PhoneHost.online()
      const { clock, commands, launcher, phone } = host.rig
      phone.receive(OTHER, 'hello')
      phone.receive(FRIEND, 'hello')
      void host.begin('out')
      await clock.advance(ms)

      await host.end()
      const before = { told: host.events.length, commands: commands.requests.length }
      phone.receive(OTHER, 'too late')
      await clock.advance(MINUTE_MS)

      const after = { told: host.events.length, commands: commands.requests.length }
      expect(after).toEqual(before)
      expect(host.state).toBe('trusted')
      expect(launcher.stopped).toEqual(launcher.launched)
    }
  })

  test('in the middle of a send leaves it to the next start, which never takes it for typed', async () => {
    const ends = new Set<string>()
    for (let ms = 0; ms <= 9_000; ms += 350) {
      const host = await PhoneHost.online()
      const { clock, commands, phone } = host.rig
      await host.send('before')
      await clock.advance(10_000)
      // So long that one of the ends comes in the middle of the touch.
      commands.meddle = firstOf('click', { how: 'slow', ms: 400 })
      const sending = host.begin('out')
      await clock.advance(ms)

      await host.end()
      const { outcome } = await sending
      const unsettled = outcome.outcome === 'unknown' ? [host.unsettled('out')] : []
      const again = await PhoneHost.online(host.rig, { checkpoint: host.checkpoint, unsettled })
      await clock.advance(2 * MINUTE_MS)

      const isThere = phone.sent(FRIEND, 'out').length === 1
      const settled = again.settled[0] ?? outcome
      ends.add(`${outcome.outcome}, then ${settled.outcome}`)
      expect(again.texts).toEqual([])
      expect(settled.outcome).toBe(isThere ? 'accepted' : 'not_sent')
      expect(phone.touches).toBeLessThanOrEqual(2)
      expect(phone.chat(FRIEND).draft).toBe('')
    }

    expect([...ends].sort()).toEqual([
      'accepted, then accepted',
      'not_sent, then not_sent',
      'unknown, then accepted',
    ])
  }, 180_000)
})
