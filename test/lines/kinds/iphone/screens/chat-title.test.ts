import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { parseTree } from '../../../../../src/lines/kinds/iphone/agent/ui-tree.ts'
import {
  conversationCell,
  isTitleOf,
  readChatTitle,
} from '../../../../../src/lines/kinds/iphone/screens/labels.ts'
import { ENGLISH } from '../../../../../src/lines/kinds/iphone/screens/ui-words.ts'
import { FRIEND } from '../../../../support/iphone/ui-rig.ts'

const NUMBER = '+1 (202) 555-0123'

describe('the title of a chat', () => {
  const kindOf = (title: string) => readChatTitle(title, ENGLISH)

  test('is a handle, a group or a name', () => {
    expect(kindOf('\u202A+1\u00A0(202)\u00A0555-0123\u202C')).toEqual({
      kind: 'direct',
      handle: FRIEND,
    })
    expect(kindOf('Ann@Example.com')).toEqual({
      kind: 'direct',
      handle: deviceHandle('ann@example.com'),
    })
    expect(kindOf('262 966')).toEqual({ kind: 'direct', handle: deviceHandle('262966') })
    expect(kindOf(`${NUMBER} & +1 (202) 555-0199`)).toEqual({ kind: 'group' })
    expect(kindOf('4 People')).toEqual({ kind: 'group' })
    expect(kindOf('Ann Example')).toEqual({ kind: 'named' })
    expect(kindOf('')).toEqual({ kind: 'named' })
  })

  test('fits a number in any spelling, and no other number', () => {
    const fits = (title: string, handle: string) => isTitleOf(kindOf(title), deviceHandle(handle))

    expect(fits(NUMBER, '+12025550123')).toBe(true)
    expect(fits('(202) 555-0123', '+12025550123')).toBe(true)
    expect(fits('1 (202) 555-0123', '+12025550123')).toBe(true)
    expect(fits('ann@example.com', 'ann@example.com')).toBe(true)
    expect(fits(NUMBER, '+12025550124')).toBe(false)
    expect(fits('+44 2025550123', '+12025550123')).toBe(false)
    expect(fits('+20 25550123', '+12025550123')).toBe(false)
    expect(fits('0123', '+12025550123')).toBe(false)
    expect(fits('5550123', '+12025550123')).toBe(false)
    expect(fits('Ann', '+12025550123')).toBe(false)
    expect(fits('ann@example.com', '+12025550123')).toBe(false)
  })
})

test('a conversation is the same on another day, and another one with another preview', () => {
  const markOf = (label: string) => conversationCell(cellOf(label), ENGLISH).mark

  const marks = ['1:30\u202FPM', 'Yesterday', 'Monday', '11/21/26'].map((date) =>
    markOf(`${NUMBER}, hello, there, ${date}`),
  )

  expect(new Set(marks)).toEqual(new Set([`${NUMBER}, hello, there`]))
  expect(markOf(`${NUMBER}, hello, there, Monday, Muted, Unread`)).toBe(`${NUMBER}, hello, there\n`)
  expect(markOf(`${NUMBER}, bye, Monday`)).toBe(`${NUMBER}, bye`)
})

function cellOf(label: string) {
  const cell = parseTree({ type: 'Cell', label })
  if (cell === null) throw new Error('The cell of the test is none.')
  return cell
}
