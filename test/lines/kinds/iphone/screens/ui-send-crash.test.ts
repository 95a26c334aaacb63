// Messages whose touch nobody saw the end of, and what becomes of them.

import { expect, test } from 'bun:test'

import type { Settlement } from '../../../../../src/lines/driver.ts'
import { expectationOf, noteText } from '../../../../../src/lines/kinds/iphone/screens/own-sends.ts'
import { sendByUi } from '../../../../../src/lines/kinds/iphone/screens/send.ts'
import { ACCEPTED, notSent, unknown } from '../../../../support/iphone/expected-sends.ts'
import { FRIEND, makeUiRig, messageTo, NEVER } from '../../../../support/iphone/ui-rig.ts'

test('a process that is killed after the touch finds its message sent, and sends it no second time', async () => {
  const rig = makeUiRig()
  const at = rig.clock.now()
  const message = messageTo(FRIEND, 'hello', 'msg_9', at)
  // The life before has passed its point of no return, touched the button, and ended.
  rig.phone.open(FRIEND)
  rig.phone.type('hello')
  rig.phone.touchSend()

  const next = rig.restart()
  next.tools.own.expect(expectationOf({ message, note: noteText(at) }))
  await next.poll()

  expect(rig.told.settled).toEqual([{ messageId: message.id, outcome: ACCEPTED }])
  expect(rig.told.messages).toEqual([])
  expect(rig.phone.sent(FRIEND, 'hello')).toHaveLength(1)
})

test('a bubble that was stored before the crash is found by its message', async () => {
  const rig = makeUiRig()
  const notes: (string | null)[] = []
  const pass = async (note: string | null) => {
    notes.push(note)
    return true
  }
  const { outcome } = await rig.send('hello', { pass })

  const next = rig.restart()
  const message = messageTo(FRIEND, 'hello', 'msg_1', rig.clock.now())
  next.tools.own.expect(expectationOf({ message, note: notes[0] ?? null }))
  await next.poll()

  expect(outcome).toEqual(ACCEPTED)
  expect(rig.told.settled.map((end) => [end.messageId, end.outcome])).toEqual([
    [message.id, outcome as Settlement], // It was accepted.
  ])
})

test('a message that is in the chat at neither of two looks has failed, and one without a note stays open', async () => {
  const rig = makeUiRig()
  const lost = messageTo(FRIEND, 'lost', 'msg_1', rig.clock.now())
  const restored = messageTo(FRIEND, 'restored', 'msg_2', rig.clock.now())
  rig.tools.own.expect(expectationOf({ message: lost, note: noteText(rig.clock.now()) }))
  rig.tools.own.expect(expectationOf({ message: restored, note: null }))

  await rig.poll()
  const afterOne = [...rig.told.settled]
  await rig.clock.advance(15_000)
  await rig.poll()
  await rig.clock.advance(15_000)
  await rig.poll()

  expect(afterOne).toEqual([])
  expect(rig.told.settled).toEqual([
    { messageId: lost.id, outcome: notSent('unconfirmed', 'message') },
  ])
})

/** Of long ago and of just now, and how late the chat shows it. */
const OLD_TEXTS = [
  [3_600_000, 0],
  [3_600_000, 2_500],
  [3_600_000, 7_000],
  [60_000, 0],
  [60_000, 2_500],
] as const

for (const [agoMs, loadMs] of OLD_TEXTS) {
  test(`an equal text of ${agoMs / 60_000} min ago that shows ${loadMs} ms late is not our message`, async () => {
    const rig = makeUiRig()
    rig.phone.write(FRIEND, 'hello', agoMs)
    rig.phone.loadMs = loadMs
    rig.phone.nextTouches = ['nothing']

    const { outcome } = await rig.send('hello')

    expect(outcome).toEqual(notSent('not_touched'))
  })
}

test('an equal text of just now is not what became of a touch that nobody saw', async () => {
  const rig = makeUiRig()
  rig.phone.write(FRIEND, 'hello', 60_000)
  rig.commands.meddle = (name) => {
    if (name === 'click') rig.commands.isUnplugged = true
    return null
  }
  const { outcome } = await rig.send('hello')
  rig.commands.isUnplugged = false

  await rig.poll()
  await rig.clock.advance(15_000)
  await rig.poll()

  expect(outcome).toEqual(unknown('no_answer'))
  expect(rig.told.settled.map((end) => end.outcome)).toEqual([notSent('unconfirmed', 'message')])
})

test('killed before the touch, a message is not taken for an equal one of just now', async () => {
  const rig = makeUiRig()
  rig.phone.write(FRIEND, 'hello', 60_000)
  await rig.poll()
  const notes: (string | null)[] = []
  const pass = async (note: string | null) => {
    notes.push(note)
    rig.kill()
    return true
  }
  const message = messageTo(FRIEND, 'hello', 'msg_1', rig.clock.now())
  void sendByUi(rig.tools, message, pass, NEVER)
  await rig.clock.advance(30_000)

  const next = rig.restart()
  next.tools.own.expect(expectationOf({ message, note: notes[0] ?? null }))
  await next.poll()
  await rig.clock.advance(15_000)
  await next.poll()

  expect(notes).toHaveLength(1)
  expect(rig.told.settled.map((end) => end.outcome)).toEqual([notSent('unconfirmed', 'message')])
})

test('a chat whose bubbles cannot be stored is not written to', async () => {
  const rig = makeUiRig()
  rig.phone.write(FRIEND, 'before', 60_000)
  rig.told.refuses = true

  const { outcome } = await rig.send('hello')

  expect(outcome).toEqual(notSent('withdrawn'))
  expect([rig.phone.touches, rig.phone.chat(FRIEND).draft]).toEqual([0, ''])
})
