// What a line does after a send and at its end: receipts, whether iMessage works, restarts.

import { describe, expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { FRIEND, notSent, OTHER } from '../../../support/iphone/ui-rig.ts'
import { firstOf } from '../../../support/iphone/wda-commands.ts'

const UDID = '00008110-001A2B3C4D5E001E'
const MINUTE_MS = 60_000

async function online() {
  const rig = new PhoneLineRig([UDID])
  rig.cable.attach(UDID)
  const host = await PhoneHost.online(rig, UDID)
  return { rig, host, phone: rig.of(UDID).phone, commands: rig.of(UDID).commands }
}

function receiptsOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'receipt' ? [event.receipt.kind] : []))
}

function settledOf(events: readonly LineEvent[]) {
  return events.flatMap((event) => (event.type === 'settled' ? [event.outcome] : []))
}

test('a low battery is a warning, and an empty one takes the line offline', async () => {
  const { rig, host } = await online()

  rig.cable.lowerBattery(UDID, 15)
  await rig.clock.advance(MINUTE_MS)
  const low = { findings: await host.findings(), isOnline: host.isOnline }
  rig.cable.lowerBattery(UDID, 7)
  await rig.clock.advance(0)

  expect(low).toEqual({ findings: ['battery_low'], isOnline: true })
  expect(host.said.at(-1)).toBe('battery_empty')
  expect(await host.findings()).toEqual(['battery_empty', 'battery_low'])
  await host.end()
})

describe('receipts', () => {
  test('are told from the chat while it is open, and later from looks into it', async () => {
    const { rig, host, phone } = await online()
    phone.deliveredAfterMs = 2_500
    phone.readAfterMs = 100_000
    const opened: number[] = []
    const openUrl = phone.openUrl.bind(phone)
    phone.openUrl = (url) => {
      opened.push(Math.round(rig.clock.monotonic() / 1_000))
      openUrl(url)
    }

    await host.send('hello')
    const sentAtS = Math.round(rig.clock.monotonic() / 1_000)
    opened.length = 0
    await rig.clock.advance(9_000)
    const atOnce = receiptsOf(host.events)
    await rig.clock.advance(80_000)
    const beforeRead = receiptsOf(host.events)
    await rig.clock.advance(45 * MINUTE_MS)

    expect([atOnce, beforeRead]).toEqual([['delivered'], ['delivered']])
    expect(receiptsOf(host.events)).toEqual(['delivered', 'read'])
    // Half a minute and two minutes after the send; once it is read nobody looks any more.
    expect(opened.map((atS) => Math.round((atS - sentAtS) / 10) * 10)).toEqual([30, 120])
    expect(phone.screen.on).toBe('list')
    await host.end()
  })

  test('that could not be looked for are looked for again at once', async () => {
    const { rig, host, phone, commands } = await online()
    phone.readAfterMs = 20_000
    await host.send('hello')
    await rig.clock.advance(10_000)
    commands.meddle = firstOf('url', { how: 'drop', when: 'before' })

    await rig.clock.advance(30_000)

    expect(receiptsOf(host.events)).toEqual(['delivered', 'read'])
    expect(host.said).toEqual(['starting', 'online'])
    await host.end()
  })

  test('of a chat that cannot be shown any more take nothing offline', async () => {
    const { rig, host, phone } = await online()
    await host.send('hello')
    await rig.clock.advance(10_000)

    phone.contacts.set(FRIEND, 'Aunt Em')
    phone.chat(FRIEND).title = 'Aunt Em'
    await rig.clock.advance(20 * MINUTE_MS)
    phone.receive(OTHER, 'still here?')
    await rig.clock.advance(20_000)

    expect(host.said).toEqual(['starting', 'online'])
    expect(host.texts).toEqual(['still here?'])
    await host.end()
  })
})

describe('whether iMessage works', () => {
  test('is told: two who are not reached, a quarter of an hour of rest, then again', async () => {
    const { rig, host, phone } = await online()
    phone.nextTouches = ['fails', 'fails']
    const first = await host.send('one')
    await rig.clock.advance(6_000)
    const saidAfterOne = host.said.length

    const second = await host.send('two', { to: OTHER })
    const off = { said: host.said.at(-1), state: host.state, findings: await host.findings() }
    await rig.clock.advance(14 * MINUTE_MS)
    const later = host.said.at(-1)
    await rig.clock.advance(2 * MINUTE_MS)

    const failed = { outcome: 'not_sent', reason: 'not_delivered', blame: 'message' } as const
    expect([first.outcome, second.outcome]).toEqual([failed, failed])
    expect(saidAfterOne).toBe(2)
    expect(off).toEqual({
      said: 'online without iMessage',
      state: 'ui_ready',
      findings: ['imessage_off'],
    })
    expect([later, host.said.at(-1)]).toEqual(['online without iMessage', 'online'])
    await host.end()
  })

  test('is seen also where the mark of failure comes long after the bubble', async () => {
    const { rig, host, phone } = await online()
    phone.deliveredAfterMs = null
    const fail = (handle: string, text: string) => {
      for (const bubble of phone.sent(handle, text)) bubble.stage = 'failed'
    }

    await host.send('one')
    await rig.clock.advance(20_000)
    fail(FRIEND, 'one')
    await rig.clock.advance(MINUTE_MS)
    await host.send('two', { to: OTHER })
    await rig.clock.advance(20_000)
    fail(OTHER, 'two')
    const before = [...host.said]
    await rig.clock.advance(MINUTE_MS)

    expect(receiptsOf(host.events)).toEqual(['failed', 'failed'])
    expect(before).toEqual(['starting', 'online'])
    expect(host.said.at(-1)).toBe('online without iMessage')
    await host.end()
  })

  test('is not doubted for somebody who was never on it', async () => {
    const { rig, host, phone } = await online()
    const sms = { first: 'SMS', settled: 'SMS', afterMs: 0 } as const
    phone.reach.set(FRIEND, sms)
    phone.reach.set(OTHER, sms)

    const first = await host.send('one')
    await rig.clock.advance(6_000)
    const second = await host.send('two', { to: OTHER })
    await rig.clock.advance(6_000)

    const refused = notSent('not_on_imessage', 'message')
    expect([first.outcome, second.outcome]).toEqual([refused, refused])
    expect(host.said).toEqual(['starting', 'online'])
    await host.end()
  })
})

describe('the end of a line', () => {
  test('is the end of all that it tells and touches, whenever it comes', async () => {
    for (let ms = 0; ms <= 7_000; ms += 500) {
      const { rig, host, phone, commands } = await online()
      phone.receive(OTHER, 'hello')
      phone.receive(FRIEND, 'hello')
      void host.begin('out')
      await rig.clock.advance(ms)

      await host.end()
      const before = { told: host.events.length, commands: commands.requests.length }
      phone.receive(OTHER, 'too late')
      await rig.clock.advance(MINUTE_MS)

      const after = { told: host.events.length, commands: commands.requests.length }
      expect(after).toEqual(before)
      expect(host.state).toBe('trusted')
    }
  })

  test('and a new start from what was stored repeats nothing', async () => {
    const { rig, host, phone } = await online()
    phone.receive(OTHER, 'in')
    await rig.clock.advance(10_000)
    await host.send('out')
    await rig.clock.advance(20_000)
    phone.write(FRIEND, 'typed')
    await rig.clock.advance(10_000)
    await host.end()

    const again = await PhoneHost.online(rig, UDID, { checkpoint: host.checkpoint })
    phone.receive(OTHER, 'new')
    await rig.clock.advance(3 * MINUTE_MS)

    expect(host.texts).toEqual(['in', 'typed'])
    expect(again.texts).toEqual(['new'])
    expect(receiptsOf(again.events)).toEqual([])
    await again.end()
  })

  test('in the middle of a send leaves it to the next start, which never takes it for typed', async () => {
    const ends = new Set<string>()
    for (let ms = 0; ms <= 9_000; ms += 350) {
      const { rig, host, phone } = await online()
      await host.send('before')
      await rig.clock.advance(10_000)
      const sending = host.begin('out')
      await rig.clock.advance(ms)

      await host.end()
      const { outcome } = await sending
      const unsettled = outcome.outcome === 'unknown' ? [host.unsettled('out')] : []
      const again = await PhoneHost.online(rig, UDID, { checkpoint: host.checkpoint, unsettled })
      await rig.clock.advance(2 * MINUTE_MS)

      const isThere = phone.sent(FRIEND, 'out').length === 1
      const settled = settledOf(again.events)[0] ?? outcome
      ends.add(`${outcome.outcome}, then ${settled.outcome}`)
      expect(again.texts).toEqual([])
      expect(settled.outcome).toBe(isThere ? 'accepted' : 'not_sent')
      expect(phone.touches).toBeLessThanOrEqual(2)
      expect(phone.chat(FRIEND).draft).toBe('')
      await again.end()
    }

    expect([...ends].sort()).toEqual([
      'accepted, then accepted',
      'not_sent, then not_sent',
      'unknown, then accepted',
    ])
  }, 180_000)
})
