// What keeps a phone line from sending, before anything can have left.

import { describe, expect, test } from 'bun:test'

import type { Settlement } from '../../../../../src/lines/driver.ts'
import { expectationOf, noteText } from '../../../../../src/lines/kinds/iphone/screens/own-sends.ts'
import { sendByUi } from '../../../../../src/lines/kinds/iphone/screens/send.ts'
import { node } from '../../../../support/iphone/messages-tree.ts'
import {
  ACCEPTED,
  FRIEND,
  makeUiRig,
  messageTo,
  NEVER,
  notSent,
  OTHER,
  unknown,
} from '../../../../support/iphone/ui-rig.ts'

const WITHDRAWN = notSent('withdrawn')

test('in the wrong chat nothing is typed; the right one is asked for again', async () => {
  const rig = makeUiRig()
  rig.phone.receive(OTHER, 'hi')
  rig.phone.wrongChats = [OTHER, OTHER]

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(ACCEPTED)
  expect(rig.phone.sent(OTHER, 'hello')).toEqual([])
})

test('a phone that keeps opening another chat is in trouble, and nothing was typed', async () => {
  const rig = makeUiRig()
  rig.phone.receive(OTHER, 'hi')
  rig.phone.wrongChats = [OTHER, OTHER, OTHER]

  const sent = await rig.send('hello')

  expect(sent).toEqual({ outcome: notSent('wrong_chat'), service: null, trouble: 'wrong_chat' })
  expect(rig.commands.names).not.toContain('value')
})

test('what stood in the composer is cleared, and what cannot be cleared stops the send', async () => {
  const rig = makeUiRig()
  rig.phone.chat(FRIEND).draft = 'an old draft'
  const cleared = await rig.send('hello')
  rig.phone.chat(FRIEND).draft = 'stubborn'
  rig.phone.canClear = false

  const stopped = await rig.send('again')

  expect([cleared.outcome, stopped.outcome]).toEqual([ACCEPTED, notSent('composer_dirty')])
  expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['hello'])
})

describe('an alert', () => {
  const UPDATE = { text: 'Software Update\nInstall now?' }
  const SIM = { text: 'No SIM\nInsert one.', buttons: ['Settings', 'OK'] }

  test.each(['Later', 'Not Now', 'Remind Me Later', 'Close'])(
    'that has a button which changes nothing is pressed away: %s',
    async (button) => {
      const rig = makeUiRig()
      rig.phone.alerts = [{ ...UPDATE, buttons: ['Install', button] }]

      const sent = await rig.send('hello')

      expect(sent.outcome).toEqual(ACCEPTED)
      expect(rig.phone.alerts).toEqual([])
    },
  )

  test('that has none stops the send', async () => {
    const rig = makeUiRig()
    rig.phone.alerts = [SIM]

    const sent = await rig.send('hello')

    expect(sent).toEqual({ outcome: notSent('alert'), service: null, trouble: 'alert' })
    expect(rig.phone.alerts).toEqual([SIM])
  })

  test('that comes while the text is typed stops the send; the text is taken back at the next look', async () => {
    const rig = makeUiRig()
    rig.commands.meddle = (name) => {
      if (name === 'source' && rig.phone.chat(FRIEND).draft !== '') rig.phone.alerts = [SIM]
      return null
    }

    const sent = await rig.send('hello')
    rig.commands.meddle = () => null
    rig.phone.alerts = []
    const left = rig.phone.chat(FRIEND).draft
    await rig.poll()

    expect([sent.outcome, left]).toEqual([notSent('alert'), 'hello'])
    expect(rig.phone.touches).toBe(0)
    expect(rig.phone.chat(FRIEND).draft).toBe('')
  })
})

describe('the point of no return', () => {
  const REFUSALS = {
    'is not granted': async () => false,
    'cannot be asked': async () => {
      throw new Error('The disk is full.')
    },
  }
  for (const [what, pass] of Object.entries(REFUSALS)) {
    test(`that ${what}: nothing is touched, and the text is taken back`, async () => {
      const rig = makeUiRig()

      const sent = await rig.send('hello', { pass })

      expect(sent.outcome).toEqual(WITHDRAWN)
      expect(rig.phone.touches).toBe(0)
      expect(rig.phone.chat(FRIEND).draft).toBe('')
    })
  }

  test('an abort before it withdraws the send, and one behind it changes nothing', async () => {
    const rig = makeUiRig()
    const before = new AbortController()
    rig.commands.meddle = (name) => {
      if (name === 'value') before.abort()
      return null
    }
    const withdrawn = await rig.send('first', { signal: before.signal })
    rig.commands.meddle = () => null
    const behind = new AbortController()
    const pass = async () => {
      behind.abort()
      return true
    }

    const sent = await rig.send('second', { signal: behind.signal, pass })

    expect([withdrawn.outcome, sent.outcome]).toEqual([WITHDRAWN, ACCEPTED])
    expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['second'])
  })
})

test('a locked phone is opened; one with a passcode is in trouble', async () => {
  const rig = makeUiRig()
  rig.phone.isLocked = true
  const opened = await rig.send('hello')
  rig.phone.isLocked = true
  rig.phone.hasPasscode = true

  const locked = await rig.send('again')

  expect(opened.outcome).toEqual(ACCEPTED)
  expect(locked).toMatchObject({ outcome: { outcome: 'not_sent', blame: 'line' } })
  expect(rig.phone.sent(FRIEND, 'again')).toEqual([])
})

test('a locked phone is told as locked, also where its lock screen looks like nothing that is known', async () => {
  const rig = makeUiRig()
  Object.assign(rig.phone, { isLocked: true, hasPasscode: true })
  rig.phone.tree = () => node('Application', null)

  const sent = await rig.send('hello')

  expect(sent).toEqual({ outcome: notSent('locked'), service: null, trouble: 'locked' })
})

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
