// A chat that changes while it is read, at whatever command: what stays as it is comes once.

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
