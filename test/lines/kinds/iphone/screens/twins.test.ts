// Two people whose rows in the list are equal: a suggested name, the same words, the same minute.

import { describe, expect, test } from 'bun:test'

import {
  FRIEND,
  makeKnownLine,
  OTHER,
  toldOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

const ROUNDS = 4

/** A person writes, and another device has read it. */
function writeElsewhere({ phone }: UiRig, key: string, text: string): void {
  phone.receive(key, text)
  phone.chat(key).isUnread = false
}

async function twins(): Promise<UiRig> {
  const rig = await makeKnownLine()
  for (const key of [FRIEND, OTHER]) {
    rig.phone.suggest(key, 'Ann')
    writeElsewhere(rig, key, 'hi')
  }
  return rig
}

/** Polls until the end; at the command with this number `happens`. Returns false if the poll was over before. */
async function pollWith(rig: UiRig, step: number, happens: () => void): Promise<boolean> {
  const from = rig.commands.names.length
  let isDone = false
  rig.commands.meddle = (_name, at) => {
    if (at - from === step) {
      isDone = true
      happens()
    }
    return null
  }
  // A killed process never comes to its end.
  void rig.poll().catch(() => {})
  await rig.clock.advance(45_000)
  rig.commands.meddle = () => null
  return isDone
}

describe.each([
  [FRIEND, OTHER],
  [OTHER, FRIEND],
])('if %s writes on while both are read,', (writer, other) => {
  const all = [`${writer} hi`, `${other} hi`, `${writer} more`].toSorted()

  test.each([
    ['both are told', false],
    ['and the relay is killed, both are told', true],
  ])(
    '%s',
    async (_what, isKilled) => {
      for (let step = 0; ; step += 1) {
        const rig = await twins()
        const isReached = await pollWith(rig, step, () => {
          if (isKilled) rig.kill()
          writeElsewhere(rig, writer, 'more')
        })
        if (!isReached) break
        const line = isKilled ? rig.restart() : rig
        for (let round = 0; round < ROUNDS; round += 1) await line.poll()

        expect([step, ...toldOf(rig).toSorted()]).toEqual([step, ...all])
      }
    },
    60_000,
  )
})
