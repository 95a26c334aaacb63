// Chats under a name alone: what is said in them can't be reported, and a finding says so for as long as that is true.

import { describe, expect, test } from 'bun:test'

import { PhoneHost } from '../../../support/iphone/phone-line-rig.ts'
import { FRIEND, OTHER } from '../../../support/iphone/ui-rig.ts'

const A_WHILE_MS = 90_000
/** More than the first pages of the list show. */
const MANY = 40

const NAMES = [
  [
    'phone_has_contacts',
    ({ rig: { phone } }: PhoneHost) => {
      phone.chat(FRIEND).title = 'Ann'
    },
    ({ rig: { phone } }: PhoneHost) => {
      phone.chat(FRIEND).title = '+1 (202) 555-0123'
    },
  ],
  [
    'chat_without_number',
    ({ rig: { phone } }: PhoneHost) => {
      phone.details = 'nobody'
      phone.suggest(FRIEND, 'Ann')
    },
    ({ rig: { phone } }: PhoneHost) => {
      phone.details = 'people'
      phone.chat(FRIEND).title = '+1 (202) 555-0123'
    },
  ],
] as const

/** A line that has a friend, and whose beginning is over. */
async function friendlyLine(): Promise<PhoneHost> {
  const host = await PhoneHost.online()
  host.rig.phone.receive(OTHER, 'first')
  await host.until(() => host.texts.length === 1)
  await host.rig.clock.advance(A_WHILE_MS)
  return host
}

async function restarted(host: PhoneHost): Promise<PhoneHost> {
  await host.end()
  host.rig.cutOff()
  return await PhoneHost.online(host.rig, { checkpoint: host.checkpoint })
}

describe.each(NAMES)('%s', (code, isNamed, isNumber) => {
  test('stands also after a restart, for as long as messages under a name were not reported', async () => {
    const host = await friendlyLine()
    isNamed(host)
    host.rig.phone.receive(FRIEND, 'hello')
    await host.rig.clock.advance(A_WHILE_MS)
    const before = await host.findings()

    const next = await restarted(host)
    const at = await next.findings()
    await next.rig.clock.advance(A_WHILE_MS)

    expect([before, at, await next.findings()]).toEqual([[code], [code], [code]])
    expect([...host.texts, ...next.texts]).toEqual(['first'])
  })

  test('stands if the round fails that found the name', async () => {
    const host = await friendlyLine()
    isNamed(host)
    host.rig.phone.receive(FRIEND, 'hello')
    let hasFailed = false
    host.rig.commands.meddle = (name) => {
      const isDue = name === 'swipe' && !hasFailed && !host.rig.phone.chat(FRIEND).isUnread
      hasFailed ||= isDue
      return isDue ? { how: 'error', when: 'after' } : null
    }

    await host.rig.clock.advance(A_WHILE_MS)

    expect([hasFailed, await host.findings()]).toEqual([true, [code]])
  })

  test('ends once the number can be seen, and what was said is reported', async () => {
    const host = await friendlyLine()
    isNamed(host)
    host.rig.phone.receive(FRIEND, 'hello')
    await host.rig.clock.advance(A_WHILE_MS)

    isNumber(host)
    await host.rig.clock.advance(A_WHILE_MS)

    expect([host.texts, await host.findings()]).toEqual([['first', 'hello'], []])
  })

  test('ends with the next start if the list is long', async () => {
    const host = await friendlyLine()
    isNamed(host)
    host.rig.phone.receive(FRIEND, 'hello')
    await host.rig.clock.advance(A_WHILE_MS)
    for (let place = 0; place < MANY; place += 1) {
      host.rig.phone.receive(`+1202555${6_000 + place}`, `from ${place}`)
    }
    await host.rig.clock.advance(10 * A_WHILE_MS)
    isNumber(host)
    await host.rig.clock.advance(A_WHILE_MS)

    const next = await restarted(host)
    await next.rig.clock.advance(2 * A_WHILE_MS)

    expect([...host.texts, ...next.texts].filter((text) => text === 'hello')).toEqual(['hello'])
    expect(await next.findings()).toEqual([])
  })
})

test('a gap that is found in a round that fails is a finding all the same', async () => {
  const host = await friendlyLine()
  host.rig.phone.erase(OTHER)
  host.rig.phone.receive(OTHER, 'anew')
  let hasFailed = false
  host.rig.commands.meddle = (name) => {
    const isDue = name === 'swipe' && !hasFailed && host.texts.includes('anew')
    hasFailed ||= isDue
    return isDue ? { how: 'error', when: 'after' } : null
  }

  await host.rig.clock.advance(A_WHILE_MS)

  expect([hasFailed, await host.findings()]).toEqual([true, ['messages_may_be_missing']])
})
