// A name that Messages suggests, such as `Maybe: Ann`, proves nobody: several people may have it, and it may go from
// one to another.

import { describe, expect, test } from 'bun:test'

import { linger } from '../../../../../src/lines/kinds/iphone/screens/receipts.ts'
import {
  detailsAsked,
  FRIEND,
  makeKnownLine,
  NEVER,
  notSent,
  OTHER,
  QUIET,
  run,
  toldOf,
} from '../../../../support/iphone/ui-rig.ts'

describe('a suggested name', () => {
  for (const isKnown of [true, false]) {
    test(`is ${isKnown ? 'still' : 'also at first'} the person that the details name`, async () => {
      const rig = await makeKnownLine()
      if (isKnown) {
        rig.phone.receive(FRIEND, 'hello')
        await rig.poll()
      }
      rig.phone.suggest(FRIEND, 'Ann')
      rig.phone.receive(FRIEND, 'STOP')

      const report = await rig.poll()
      const sent = await rig.send('as you wish')
      await rig.poll()

      expect(report).toEqual({ ...QUIET, reportedCount: 1 })
      expect(toldOf(rig).at(-1)).toBe(`${FRIEND} STOP`)
      expect(sent.outcome.outcome).toBe('accepted')
      expect(rig.told.messages).toHaveLength(isKnown ? 2 : 1)
    })
  }

  test('of two people is each of them', async () => {
    const rig = await makeKnownLine()
    for (const key of [FRIEND, OTHER]) {
      rig.phone.suggest(key, 'Ann')
      rig.phone.receive(key, `from ${key}`)
    }
    await rig.poll()
    rig.phone.receive(FRIEND, 'me again')
    await rig.poll()

    expect(toldOf(rig).toSorted()).toEqual([
      `${FRIEND} from ${FRIEND}`,
      `${FRIEND} me again`,
      `${OTHER} from ${OTHER}`,
    ])
  })

  describe.each([[[]], [[OTHER]], [[FRIEND]]])('with %p pinned,', (pinned) => {
    test('of two people who write the same at once is each of them, read elsewhere too', async () => {
      const rig = await makeKnownLine()
      for (const key of [FRIEND, OTHER]) rig.phone.suggest(key, 'Ann')
      rig.phone.pinned = [...pinned]
      rig.phone.receive(FRIEND, 'hi')
      await rig.poll()
      rig.phone.receive(OTHER, 'hi')
      rig.phone.chat(OTHER).isUnread = false
      await rig.poll()

      expect(toldOf(rig)).toEqual([`${FRIEND} hi`, `${OTHER} hi`])
    })

    test('of two people who write the same, one while the other is read, is each of them', async () => {
      const rig = await makeKnownLine()
      for (const key of [FRIEND, OTHER]) rig.phone.suggest(key, 'Ann')
      rig.phone.pinned = [...pinned]
      rig.phone.receive(FRIEND, 'hi')
      let hasWritten = false
      rig.commands.meddle = (name) => {
        const { screen } = rig.phone
        if (screen.on === 'chat' && name === 'tap' && !hasWritten) {
          hasWritten = true
          rig.phone.receive(OTHER, 'hi')
          rig.phone.chat(OTHER).isUnread = false
        }
        return null
      }
      await rig.poll()
      await rig.poll()

      expect(toldOf(rig)).toEqual([`${FRIEND} hi`, `${OTHER} hi`])
    })

    test('of two people whose first words are the same is each of them, in one look', async () => {
      const rig = await makeKnownLine()
      rig.phone.pinned = [...pinned]
      for (const key of [FRIEND, OTHER]) {
        rig.phone.suggest(key, 'Ann')
        rig.phone.receive(key, 'hi')
      }
      await rig.poll()

      expect(toldOf(rig).toSorted()).toEqual([`${FRIEND} hi`, `${OTHER} hi`])
    })
  })

  test.each([[['hi', 'hello']], [['hi', 'hi']]])(
    'of two people who said %p is not read again while nothing comes',
    async (texts) => {
      const rig = await makeKnownLine()
      for (const [index, key] of [FRIEND, OTHER].entries()) {
        rig.phone.suggest(key, 'Ann')
        rig.phone.receive(key, texts[index] ?? '')
      }
      await rig.poll()
      await rig.clock.advance(120_000)
      await rig.poll()
      const asked = detailsAsked(rig)
      await rig.poll()
      await rig.poll()

      expect(detailsAsked(rig)).toBe(asked)
    },
  )

  test('that goes from one person to another who wrote the same is the other’s then', async () => {
    const rig = await makeKnownLine()
    for (const key of [FRIEND, OTHER]) rig.phone.receive(key, 'ok')
    await rig.poll()
    rig.phone.suggest(OTHER, 'Ann')
    rig.phone.receive(OTHER, 'I am Ann')
    await rig.poll()
    rig.phone.suggest(FRIEND, 'Ann')
    rig.phone.receive(FRIEND, 'so am I')
    rig.phone.write(FRIEND, 'are you?')
    await rig.poll()

    expect(toldOf(rig).slice(2)).toEqual([
      `${OTHER} I am Ann`,
      `${FRIEND} so am I`,
      `${FRIEND} are you?`,
    ])
  })

  test('is no one’s word after a send while another chat with it is in front', async () => {
    const rig = await makeKnownLine()
    for (const key of [FRIEND, OTHER]) {
      rig.phone.suggest(key, 'Ann')
      rig.phone.receive(key, 'hi')
    }
    await rig.poll()
    await rig.poll()
    await rig.send('for Ann')
    const before = toldOf(rig)
    rig.phone.receive(OTHER, 'I am the other one')
    rig.phone.open(OTHER)
    await run(rig.clock, linger(rig.reader, FRIEND, NEVER))
    await rig.poll()

    expect(toldOf(rig)).toEqual([...before, `${OTHER} I am the other one`])
  })

  test('takes no message to another person who has it too', async () => {
    const rig = await makeKnownLine()
    for (const key of [FRIEND, OTHER]) {
      rig.phone.suggest(key, 'Ann')
      rig.phone.receive(key, 'hi')
    }
    await rig.poll()
    rig.phone.wrongChats = [OTHER, OTHER, OTHER]

    const sent = await rig.send('for Ann')

    expect(sent.outcome).toEqual(notSent('wrong_chat'))
    expect(rig.phone.touches).toBe(0)
  })

  test.each([[['hi']], [[]]])(
    'does not confirm a send by the same words in another chat, if %p was said before',
    async (before) => {
      const rig = await makeKnownLine()
      for (const text of before) rig.phone.receive(FRIEND, text)
      if (before.length === 0) rig.phone.chat(FRIEND).bubbles = []
      rig.phone.receive(OTHER, 'hi')
      for (const key of [FRIEND, OTHER]) rig.phone.suggest(key, 'Ann')
      await rig.poll()
      await rig.send('for Ann', { to: OTHER })
      await rig.clock.advance(5_000)
      rig.phone.nextTouches = ['nothing']
      rig.commands.meddle = (name) => {
        if (name === 'click' && rig.phone.chat(FRIEND).draft !== '') {
          rig.clock.after(100, () => rig.phone.open(OTHER))
        }
        return null
      }

      const { outcome } = await rig.send('for Ann', { id: 'msg_2' })

      expect(rig.phone.sent(FRIEND, 'for Ann')).toEqual([])
      expect(outcome).toEqual(notSent('not_touched'))
    },
  )

  test('without details is counted, and reported once the number can be seen', async () => {
    const rig = await makeKnownLine()
    rig.phone.details = 'nobody'
    rig.phone.suggest(FRIEND, 'Ann')
    rig.phone.receive(FRIEND, 'hello')

    const report = await rig.poll()
    const hasHidden = rig.reader.memory.list.hasHidden('unproven')
    rig.phone.details = 'people'
    rig.phone.receive(FRIEND, 'hello?')
    await rig.poll()

    expect([report, hasHidden]).toEqual([QUIET, true])
    expect(toldOf(rig)).toEqual([`${FRIEND} hello`, `${FRIEND} hello?`])
  })
})
