// What a line of a running iPhone reports and does in its everyday life. What stops it is in
// phone-life.test.ts, what a pulled cable does to a send in phone-line-unplugged.test.ts.

import { describe, expect, test } from 'bun:test'

import { NUMBER, UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { ACCEPTED, FRIEND, NEVER, notSent, OTHER, run } from '../../../support/iphone/ui-rig.ts'

const OWNERS_NUMBER = '+12025550111'
const UPDATE = { text: 'Carrier Settings Update', buttons: ['Update'] }

test('of ten phones one hangs and one is never prepared: the others send and receive', async () => {
  const udids = Array.from({ length: 10 }, (_, i) => `00008110${String(i).padStart(16, '0')}`)
  const rig = new PhoneLineRig(udids)
  const [hanging = '', unprepared = '', ...others] = udids
  for (const udid of udids) rig.cable.attach(udid)
  rig.of(hanging).commands.meddle = () => ({ how: 'slow', ms: 3_600_000 })
  rig.launcher.preparesForEver.add(unprepared)
  const driver = rig.driver()
  const hosts = await Promise.all(udids.map((udid) => PhoneHost.attend(rig, { udid, driver })))
  await rig.clock.advance(10_000)
  const working = hosts.filter(({ udid }) => others.includes(udid))

  for (const { udid } of hosts) rig.of(udid).phone.receive(OTHER, `in ${udid}`)
  const sends = hosts.map((host) => host.begin(`out ${host.udid}`))
  await rig.clock.advance(30_000)

  expect(hosts.filter(({ isOnline }) => isOnline)).toEqual(working)
  expect(working.map(({ texts }) => texts)).toEqual(others.map((udid) => [`in ${udid}`]))
  const answers = await Promise.all(sends)
  expect(answers.map(({ outcome }) => outcome.outcome)).toEqual(
    udids.map((udid) => (others.includes(udid) ? 'accepted' : 'not_sent')),
  )
  for (const udid of others) {
    expect(rig.of(udid).phone.sent(FRIEND, `out ${udid}`)).toHaveLength(1)
  }
})

describe('a send that meets trouble', () => {
  test('of the phone says that the line is offline before it answers', async () => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    phone.alerts = [UPDATE]
    host.slownessMs = ({ type }) => (type === 'offline' ? 3_000 : 0)

    const sending = host.begin('hello')
    await host.until(() => !host.isOnline, 2_000)
    const toldAt = clock.monotonic()
    const { answer, answeredAt } = await run(
      clock,
      sending.then((one) => ({ answer: one, answeredAt: clock.monotonic() })),
    )

    expect(host.said).toEqual(['starting', 'online', 'alert'])
    expect(answer).toEqual({ outcome: notSent('alert'), isSessionOver: true })
    expect(answeredAt - toldAt).toBeWithin(2_500, 3_001)
    phone.alerts = []
    await host.until(() => host.isOnline)
  })

  test.each<readonly [string, (rig: PhoneLineRig) => void, string]>([
    [
      'the phone opens other chats',
      ({ phone }) => phone.wrongChats.push(OTHER, OTHER, OTHER),
      'wrong_chat',
    ],
    [
      'the words of its composer are not known',
      ({ phone }) => {
        phone.words = { iMessage: 'Nachricht', SMS: 'SMS-Nachricht' }
      },
      'ui_unknown',
    ],
  ])('of its chat only is a try, and the line stays: %s', async (_what, happens, reason) => {
    const host = await PhoneHost.online()
    const { clock, phone } = host.rig
    happens(host.rig)

    const answer = await host.send('hello')
    phone.words = { iMessage: 'iMessage', SMS: 'Text Message' }
    await clock.advance(60_000)
    const other = await host.send('hello', { to: OTHER })

    expect(answer).toEqual({ outcome: notSent(reason), isSessionOver: false })
    expect(other.outcome).toEqual(ACCEPTED)
    expect(host.said).toEqual(['starting', 'online'])
    expect(phone.sent(FRIEND, 'hello')).toEqual([])
  })

  test('is not hidden by a state that cannot be reported, and that ends the line', async () => {
    const host = await PhoneHost.online()
    host.rig.phone.alerts = [UPDATE]
    host.refuses = ({ type }) => type === 'offline'

    const answer = await host.send('hello')
    await host.rig.clock.advance(60_000)

    expect(answer.outcome).toEqual(notSent('alert'))
    expect(host.failures).toEqual(['not durable'])
  })
})

test('between two sends lie four seconds, and a send before that is put off for their rest', async () => {
  const host = await PhoneHost.online()
  const { clock, phone } = host.rig
  await host.send('one')
  const passed: string[] = []
  const pass = async () => passed.push('asked') > 0

  const atOnce = await host.begin('two', { pass })
  await clock.advance(3_700)
  const later = await host.begin('two', { pass })
  await clock.advance(1_300)
  const then = await host.send('two')

  const delayMs = expect.any(Number) as unknown as number // Matches any number.
  const postponed = { outcome: 'postponed', reason: 'pacing', delayMs } as const
  expect([atOnce.outcome, later.outcome]).toEqual([postponed, postponed])
  const delays = [atOnce, later].map(({ outcome }) => ('delayMs' in outcome ? outcome.delayMs : 0))
  expect(delays[0]).toBeWithin(3_750, 5_001)
  expect(delays[1]).toBeWithin(1, 1_301)
  expect(passed).toEqual([])
  expect(then.outcome).toEqual(ACCEPTED)
  expect(phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['one', 'two'])
})

test('a time on the screen is one of the zone of the phone, and not of this computer', async () => {
  const rig = PhoneLineRig.plugged({ timeZone: 'America/New_York' })
  // What it writes beside a message is five hours less than UTC.
  rig.phone.aheadMs = -5 * 3_600_000
  const host = await PhoneHost.online(rig)

  rig.phone.receive(FRIEND, 'hello')
  const at = Math.floor(rig.clock.now() / 60_000) * 60_000
  await rig.clock.advance(10_000)

  expect(host.messages.map((message) => Number(message.at))).toEqual([at])
})

test('what comes in while the line sends is reported, and the send is not', async () => {
  const host = await PhoneHost.online()
  const { clock, phone } = host.rig

  const sending = host.begin('out')
  for (let i = 0; i < 8; i += 1) {
    phone.receive(i % 2 === 0 ? FRIEND : OTHER, `in ${i}`)
    await clock.advance(700)
  }
  const { outcome } = await run(clock, sending)
  await clock.advance(60_000)

  expect(outcome).toEqual(ACCEPTED)
  const textsOf = (handle: string) =>
    host.messages.filter((one) => one.handle === handle).map(({ text }) => text)
  expect(textsOf(FRIEND)).toEqual(['in 0', 'in 2', 'in 4', 'in 6'])
  expect(textsOf(OTHER)).toEqual(['in 1', 'in 3', 'in 5', 'in 7'])
})

test('names in the place of numbers are a finding, and their messages are not reported', async () => {
  const host = await PhoneHost.online()
  const { clock, phone } = host.rig
  phone.contacts.set(OTHER, 'Aunt Em')

  phone.receive(OTHER, 'hello dear')
  await clock.advance(10_000)

  expect(await host.findings()).toEqual(['phone_has_contacts'])
  expect(host.texts).toEqual([])
  expect(host.isOnline).toBe(true)
})

test('suggested names without a number are a finding of their own, which says where to turn them off', async () => {
  const host = await PhoneHost.online()
  const { clock, phone } = host.rig
  phone.details = 'nobody'
  phone.suggest(OTHER, 'Ann')

  phone.receive(OTHER, 'hello dear')
  await clock.advance(15_000)
  const [finding, ...others] = await host.driver.checkup(NEVER)

  expect([finding?.code, others]).toEqual(['chat_without_number', []])
  expect(finding?.fix).toContain('Settings › Apps › Contacts › Siri')
  expect([host.texts, host.isOnline]).toEqual([[], true])
})

describe('the number of a line', () => {
  test('is that which the owner gave, also where the SIM has another one', async () => {
    const rig = PhoneLineRig.plugged()
    const udid = UDID.replace('-', '').toLowerCase()
    const driver = rig.driver([{ udid, number: OWNERS_NUMBER }])
    const host = await PhoneHost.online(rig, { driver })

    const found = await driver.discover(NEVER)

    expect(found).toEqual([{ key: UDID, number: OWNERS_NUMBER }])
    const told = host.events.findLast((event) => event.type === 'online')
    expect(told?.number).toBe(OWNERS_NUMBER)
    expect(await host.findings()).toEqual(['phone_number_mismatch'])
  })

  test('is that of the SIM, also while the phone forgets it, and there is no line without one', async () => {
    const rig = PhoneLineRig.plugged()
    const driver = rig.driver()

    rig.cable.tell(UDID, { number: null })
    const forgotten = await driver.discover(NEVER)
    rig.cable.attach(UDID, { number: null })
    const never = await driver.discover(NEVER)

    expect(forgotten).toEqual([{ key: UDID, number: NUMBER }])
    expect(never).toEqual([{ key: UDID, number: null }])
    const codes = (await driver.checkup(NEVER)).map(({ code }) => code)
    expect(codes).toEqual(['phone_number_unknown'])
  })
})
