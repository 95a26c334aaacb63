// What keeps a phone line from sending, before anything can have left.

import { describe, expect, test } from 'bun:test'

import { ACCEPTED, notSent } from '../../../../support/iphone/expected-sends.ts'
import { node } from '../../../../support/iphone/messages-tree.ts'
import { FRIEND, makeUiRig, OTHER } from '../../../../support/iphone/ui-rig.ts'

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
