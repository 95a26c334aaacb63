// Files that Messages takes minutes for: neither a dead app nor an end of the message.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import type { AttachmentId } from '../../../../src/domain/ids.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { inTime, messageOf, messagesOf } from '../../../contract/line-rig.ts'
import { attendedMac, type MacRig } from '../../../contract/mac-rig.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Behaviour } from '../../../support/mac/script-behaviours.ts'

const HOUR_MS = 3_600_000

function withFile(rig: MacRig) {
  const path = join(rig.folder, 'stored-a.jpg')
  writeFileSync(path, 'xxxxx')
  const id = 'att_a' as AttachmentId // Drivers take an id as it is.
  const file = { id, path, filename: 'a.jpg', mimeType: 'image/jpeg', size: 5, sha256: '' }
  return { ...messageOf(rig, 'the menu'), attachments: [file] }
}

async function fileHandedOver({ model, clock }: MacRig): Promise<void> {
  const isHandedOver = () => model.calls.some(({ mode }) => mode === 'send_file')
  await eventually('the file is handed over', async () => {
    await clock.advanceUntil(isHandedOver, 1_000)
    return isHandedOver() ? true : null
  })
}

for (const schema of ['macos15', 'macos26a', 'macos26b'] as const) {
  const SLOW: readonly Behaviour[] = ['slow_event', 'timeout_yet_sent_late']
  test.each([...SLOW])(`${schema}: after a file whose event is %s the text goes`, async (slow) => {
    await using rig = await attendedMac({ schema })
    rig.model.nextSend(slow, 'happy')

    const sending = rig.line.session().send(withFile(rig), async () => true, NEVER)
    const state = { isOver: false }
    void sending.finally(() => (state.isOver = true))
    await eventually('the send has ended', async () => {
      await rig.clock.advanceUntil(() => state.isOver, 10_000)
      return state.isOver ? true : null
    })

    expect(await sending).toMatchObject({ outcome: 'accepted', partGuids: [expect.any(String)] })
    const sent = rig.model.letters.map(({ text, file }) => (file ? basename(file) : text))
    expect(sent).toEqual(['a.jpg', 'the menu'])
    expect(rig.line.events.filter(({ type }) => type === 'offline')).toEqual([])
  })
}

test('a Mac that sleeps for hours while Messages takes a file knows the text after it as its own', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('slow_event', 'happy')
  const sending = rig.line.session().send(withFile(rig), async () => true, NEVER)
  await fileHandedOver(rig)

  rig.clock.step(5 * HOUR_MS)

  expect(await inTime(rig, sending)).toMatchObject({ outcome: 'accepted' })
  await rig.clock.advance(5_000)
  expect(messagesOf(rig.line.events)).toEqual([])
})

test('while Messages takes a file it is neither asked nor restarted', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('slow_event', 'happy')
  const sending = rig.line.session().send(withFile(rig), async () => true, NEVER)
  await fileHandedOver(rig)
  const before = rig.model.calls.length

  rig.model.isAnswering = false
  await rig.clock.advance(100_000)
  expect(rig.model.calls).toHaveLength(before)
  rig.model.isAnswering = true

  expect(await inTime(rig, sending)).toMatchObject({ outcome: 'accepted' })
})

test('a line that ends lets go of a file that Messages is taking', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('hang')
  const ending = new AbortController()
  const sending = rig.line.session().send(withFile(rig), async () => true, ending.signal)
  await fileHandedOver(rig)

  ending.abort()
  await rig.clock.advance(25_000)

  expect(await sending).toEqual({ outcome: 'unknown', reason: 'no_answer', sent: [] })
})
