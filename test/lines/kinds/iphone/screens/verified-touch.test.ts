// Touches land on what was verified, or on nothing: other chats come to the front by notifications and by the
// owner's hand, and alerts appear, at every single command.

import { describe, expect, test } from 'bun:test'

import {
  ACCEPTED,
  FRIEND,
  makeKnownLine,
  notSent,
  OTHER,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'
import type { CommandName } from '../../../../support/iphone/wda-commands.ts'

const DRAFT = 'half of what the owner'

/** A line on whose phone the owner has begun to write to another person. */
async function makeBusyLine(): Promise<UiRig> {
  const rig = await makeKnownLine()
  rig.phone.receive(OTHER, 'hi')
  await rig.poll()
  rig.phone.chat(OTHER).draft = DRAFT
  return rig
}

/** Does something once, when the command with this number from now on arrives. */
function atCommand(rig: UiRig, ordinal: number, incident: (name: CommandName) => void): void {
  const first = rig.commands.names.length
  rig.commands.meddle = (name, at) => {
    if (at - first === ordinal) incident(name)
    return null
  }
}

/** So many commands has a send, or a poll with a message. */
async function lengthOf(act: (rig: UiRig) => Promise<unknown>): Promise<number> {
  const rig = await makeBusyLine()
  const first = rig.commands.names.length
  await act(rig)
  return rig.commands.names.length - first
}

const FALSE_ALARM = { text: 'Software Update', buttons: ['Install Now'] }

describe('a send', () => {
  test('whose chat is no longer in front at the point of no return touches nothing, and may be tried again', async () => {
    const rig = await makeBusyLine()
    const pass = async () => {
      rig.phone.open(OTHER)
      return true
    }

    const { outcome } = await rig.send('ours', { pass })
    const touches = rig.phone.touches
    const again = await rig.send('ours', { id: 'msg_2' })

    expect([outcome, touches, again.outcome]).toEqual([notSent('not_touched'), 0, ACCEPTED])
    expect(rig.phone.chat(OTHER)).toMatchObject({ draft: DRAFT, bubbles: [{ isFromMe: false }] })
    expect(rig.phone.carried('ours')).toBe(1)
  })

  test('with an alert in front at the point of no return touches neither the button nor the alert', async () => {
    const rig = await makeBusyLine()
    rig.phone.onAlertTouch = () => {}
    const pass = async () => {
      rig.phone.alerts = [FALSE_ALARM]
      rig.clock.after(3_000, () => {
        rig.phone.alerts = []
      })
      return true
    }

    const { outcome } = await rig.send('ours', { pass })

    expect(outcome).toEqual(notSent('not_touched'))
    expect([rig.phone.touchesUnderAlert, rig.phone.carried('ours')]).toEqual([0, 0])
  })

  test('whose cable comes out right after the point of no return may be tried again, its text removed first', async () => {
    const rig = await makeBusyLine()
    const pass = async () => {
      rig.commands.isUnplugged = true
      return true
    }

    const { outcome } = await rig.send('ours', { pass })
    rig.commands.isUnplugged = false
    const drafts = rig.reader.own.drafts
    await rig.poll()

    expect([outcome, drafts]).toEqual([notSent('not_touched'), [FRIEND]])
    expect([rig.phone.chat(FRIEND).draft, rig.phone.carried('ours')]).toEqual(['', 0])
  })

  test('during which another chat comes to the front, at whatever command, changes nothing in that one', async () => {
    const commands = await lengthOf((rig) => rig.send('ours'))
    for (let ordinal = 0; ordinal < commands; ordinal += 1) {
      const rig = await makeBusyLine()
      atCommand(rig, ordinal, () => rig.phone.open(OTHER))

      const { outcome } = await rig.send('ours')

      const { draft, bubbles } = rig.phone.chat(OTHER)
      expect({ ordinal, draft, bubbles: bubbles.length }).toEqual({
        ordinal,
        draft: DRAFT,
        bubbles: 1,
      })
      expect({ ordinal, carried: rig.phone.carried('ours') }).toEqual({
        ordinal,
        carried: outcome.outcome === 'accepted' ? 1 : 0,
      })
    }
  })
})

describe('a poll', () => {
  test('looks for an alert before every touch, and touches nothing below one', async () => {
    const act = async (rig: UiRig) => {
      rig.phone.receive(FRIEND, 'hello')
      await rig.poll().catch(() => {})
    }
    const commands = await lengthOf(act)
    for (let ordinal = 0; ordinal < commands; ordinal += 1) {
      const rig = await makeBusyLine()
      rig.phone.onAlertTouch = () => {}
      // No command can come between the look for an alert and the touch.
      atCommand(rig, ordinal, (name) => {
        if (name !== 'tap') rig.phone.alerts = [FALSE_ALARM]
      })

      await act(rig)
      const touched = rig.phone.touchesUnderAlert
      rig.commands.meddle = () => null
      rig.phone.alerts = []
      await rig.poll()

      expect({ ordinal, touched }).toEqual({ ordinal, touched: 0 })
      expect(textsOf(rig)).toEqual(['< hi', '< hello'])
    }
  })

  test('in whose list a cell becomes that of another chat opens neither unread', async () => {
    const rig = await makeBusyLine()
    rig.phone.receive(FRIEND, 'hello')
    let isDone = false
    rig.commands.meddle = (name) => {
      if (name === 'tap' && !isDone) {
        isDone = true
        rig.phone.receive(OTHER, 'hello too')
      }
      return null
    }

    await rig.poll()
    await rig.poll()

    expect(textsOf(rig)).toEqual(['< hi', '< hello', '< hello too'])
  })
})
