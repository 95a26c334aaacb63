// Only its details distinguish a group that is named after a person from that person's own chat. Whatever goes
// wrong while they are asked, what they did not show proves nothing.

import { describe, expect, test } from 'bun:test'

import {
  FRIEND,
  makeKnownLine,
  OTHER,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'
import type { Meddling } from '../../../../support/iphone/wda-commands.ts'

const GROUP = '+1 (202) 555-0999 & +1 (202) 555-0888'
/** The only member who writes, and the name of the group. */
const MEMBER = '+1 (202) 555-0999'
const ROUNDS = 4

/** What happens at the touches of the title: the first one, the second one, and so on. */
type AtTitle = (rig: UiRig, touches: number) => Meddling | null

function alertAtTouch({ phone }: UiRig): null {
  const alert = { text: 'Low Battery', buttons: ['Close'] }
  phone.onAlertTouch = () => {}
  phone.alerts = [alert]
  return null
}

/** The details open, and the screen shows them only so much later. */
function openLate({ phone, clock }: UiRig, ms: number): null {
  const { screen } = phone
  phone.details = 'absent'
  clock.after(ms, () => {
    phone.details = 'people'
    if (screen.on === 'chat' && phone.screen === screen) phone.touchTitle()
  })
  return null
}

function fillLate({ phone, clock }: UiRig): null {
  phone.details = 'nobody'
  clock.after(800, () => {
    phone.details = 'people'
  })
  return null
}

const TROUBLES: readonly (readonly [string, AtTitle])[] = [
  ['the touch of its title fails after it was done', () => ({ how: 'error', when: 'after' })],
  ['the touch of its title fails before it was done', () => ({ how: 'error', when: 'before' })],
  ['its title is gone at the moment of the touch', () => ({ how: 'stale' })],
  ['an alert swallows the touch of its title', alertAtTouch],
  ['its details take two seconds and more to come up', (rig) => openLate(rig, 2_300)],
  ['its details come up without the people at first', fillLate],
]

describe('the words of a group that is named after the member who writes are nobody’s', () => {
  test.each(TROUBLES)('if %s', async (_what, atTitle) => {
    const rig = await makeKnownLine()
    rig.phone.chat(GROUP).title = MEMBER
    rig.phone.receive(GROUP, 'STOP', { sender: MEMBER })
    let touches = 0
    rig.commands.meddle = (name) => {
      const { screen } = rig.phone
      if (name !== 'tap' || screen.on !== 'chat' || screen.chat.key !== GROUP) return null
      touches += 1
      return touches === 1 ? atTitle(rig, touches) : null
    }

    for (let round = 0; round < ROUNDS; round += 1) {
      await rig.poll().catch(() => {})
      await rig.clock.advance(3_000)
    }
    rig.phone.receive(GROUP, 'and again', { sender: MEMBER })
    rig.phone.receive(OTHER, 'hello')
    await rig.poll()

    expect(rig.told.messages.map(({ handle, text }) => [handle, text])).toEqual([[OTHER, 'hello']])
    expect([rig.reader.memory.walks.isUnfinished, rig.phone.screen.on]).toEqual([false, 'list'])
  })
})

test.each([1_300, 2_600])(
  'a group that is named after a person stays a group, if its bubbles come %i ms after its title',
  async (loadMs) => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'hello')
    await rig.poll()
    rig.phone.loadMs = loadMs
    rig.phone.chat(GROUP).title = rig.phone.chat(FRIEND).title
    rig.phone.receive(GROUP, 'STOP', { sender: rig.phone.chat(FRIEND).title })

    rig.phone.receive(OTHER, 'I am new')
    await rig.poll()
    await rig.poll()
    rig.phone.receive(FRIEND, 'hello again')
    await rig.poll()

    expect(textsOf(rig)).toEqual(['< hello', '< I am new', '< hello again'])
  },
)

/** The command that reads a new chat once more, when its details were seen. */
const LOADED = 15

test('a group that is named after a person stays a group, if it comes to the front while their chat loads', async () => {
  for (let step = 1; step <= LOADED; step += 1) {
    const rig = await makeKnownLine()
    const { title } = rig.phone.chat(OTHER)
    rig.phone.chat(GROUP).title = title
    rig.phone.receive(OTHER, 'hello')
    const from = rig.commands.names.length
    rig.commands.meddle = (_name, at) => {
      if (at - from !== step) return null
      rig.phone.receive(GROUP, 'STOP', { sender: title })
      rig.phone.open(GROUP)
      return null
    }

    await rig.poll().catch(() => {})
    await rig.poll()

    expect([step, ...textsOf(rig)]).not.toContain('< STOP')
  }
})
