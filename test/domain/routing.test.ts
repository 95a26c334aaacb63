import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import { chooseLine, type RoutingLine } from '../../src/domain/routing.ts'

const always = () => true

function line(id: string, changes: Partial<RoutingLine> = {}): RoutingLine {
  return {
    id: id as LineId, // Any name will do: routing only compares.
    driver: 'mac',
    isEnabled: true,
    isOnline: true,
    imessageActive: true,
    isConfigured: true,
    ...changes,
  }
}

test('the first line that is online takes the message', () => {
  const route = chooseLine([line('a', { isOnline: false }), line('b'), line('c')], always)

  expect(route).toEqual({ route: 'take', lineId: 'b' as LineId })
})

test('with no line online it is queued on the first available one', () => {
  const lines = [line('a', { isEnabled: false }), line('b', { isOnline: false })]

  expect(chooseLine(lines, always)).toEqual({ route: 'queue', lineId: 'b' as LineId })
})

test('a full line is passed over, and full is only said when all are', () => {
  const lines = [line('a'), line('b', { isOnline: false })]

  expect(chooseLine(lines, (id) => id === 'b')).toEqual({ route: 'queue', lineId: 'b' as LineId })
  expect(chooseLine(lines, () => false)).toEqual({ route: 'full', lineId: 'a' as LineId })
})

test('a simulated line gets nothing while an enabled line of another kind exists', () => {
  const simulated = line('s', { driver: 'simulated' })

  expect(chooseLine([simulated, line('m', { isOnline: false })], always)).toEqual({
    route: 'queue',
    lineId: 'm' as LineId,
  })
  expect(chooseLine([simulated, line('m', { isEnabled: false })], always)).toEqual({
    route: 'take',
    lineId: 's' as LineId,
  })
})

test('a line whose iMessage is not active takes nothing while another one can', () => {
  const lines = [line('a', { imessageActive: false }), line('b')]

  expect(chooseLine(lines, always)).toEqual({ route: 'take', lineId: 'b' as LineId })
})

test('lines that this start did not ask for do not count', () => {
  const lines = [line('s', { driver: 'simulated', isConfigured: false, isOnline: false })]

  expect(chooseLine(lines, always)).toEqual({ route: 'none' })
  expect(chooseLine([], always)).toEqual({ route: 'none' })
})
