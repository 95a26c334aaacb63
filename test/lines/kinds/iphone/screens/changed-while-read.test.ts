// A chat that changes while it is read or written to, at whatever command: what stays as it is comes once.

import { expect, test } from 'bun:test'

import type { PhoneBubble } from '../../../../support/iphone/messages-phone.ts'
import { makeKnownLine, OTHER, textsOf, type UiRig } from '../../../../support/iphone/ui-rig.ts'

const STEPS = 32

type Change = (last: PhoneBubble, rig: UiRig) => void

const CHANGES: readonly (readonly [string, Change])[] = [
  ['is edited', (last) => void (last.text = 'see you, really')],
  ['gets a tapback', (last) => void (last.tapback = 'Loved by you')],
  [
    'is unsent',
    (last, { phone }) => {
      const chat = phone.chat(OTHER)
      chat.bubbles = chat.bubbles.filter((bubble) => bubble !== last)
    },
  ],
]

test.each(CHANGES)(
  'the message before one that %s while the chat is read comes once',
  async (_what, change) => {
    for (let step = 1; step <= STEPS; step += 1) {
      const rig = await makeKnownLine()
      rig.phone.receive(OTHER, 'hello')
      const last = rig.phone.receive(OTHER, 'see you')
      const from = rig.commands.names.length
      rig.commands.meddle = (_name, at) => {
        if (at - from === step) change(last, rig)
        return null
      }

      for (let round = 0; round < 3; round += 1) {
        await rig.poll()
        await rig.clock.advance(3_000)
      }

      const [first, ...others] = textsOf(rig)
      expect([step, first, others.includes('< hello')]).toEqual([step, '< hello', false])
      expect([step, new Set(others).size]).toEqual([step, others.length])
    }
  },
  60_000,
)

const SEND_STEPS = 40

test('what comes into an empty chat while the first message goes out is reported once', async () => {
  for (let step = 1; step <= SEND_STEPS; step += 1) {
    const rig = await makeKnownLine()
    const from = rig.commands.names.length
    rig.commands.meddle = (_name, at) => {
      if (at - from === step) rig.phone.receive(OTHER, 'are you there?')
      return null
    }

    await rig.send('hello', { to: OTHER })
    for (let round = 0; round < 3; round += 1) {
      await rig.poll()
      await rig.clock.advance(3_000)
    }

    const told = textsOf(rig).filter((text) => text.includes('are you there?'))
    expect([step, told]).toEqual([step, ['< are you there?']])
  }
}, 120_000)
