import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import { chooseLine, type RecipientView, type RoutingLine } from '../../src/domain/routing.ts'

const always = seen()

/** What each line, by its name, has to do with the recipient; all of them have budget. */
function seen(
  more: {
    readonly knows?: string
    readonly full?: string
    readonly unable?: string
    readonly newContacts?: Readonly<Record<string, number>>
  } = {},
): RecipientView {
  return {
    knowsContact: (id) => more.knows?.includes(id) ?? false,
    hasBudget: (id) => !(more.full?.includes(id) ?? false),
    newContacts: (id) => more.newContacts?.[id] ?? 0,
    isAble: (id) => !(more.unable?.includes(id) ?? false),
  }
}

function line(id: string, changes: Partial<RoutingLine> = {}): RoutingLine {
  return {
    id: id as LineId, // Any name will do: routing only compares.
    isReal: true,
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

  expect(chooseLine(lines, seen({ full: 'a' }))).toEqual({ route: 'queue', lineId: 'b' as LineId })
  expect(chooseLine(lines, seen({ full: 'ab' }))).toEqual({ route: 'full', lineId: 'a' as LineId })
})

test('a simulated line gets nothing while an enabled line of another kind exists', () => {
  const simulated = line('s', { isReal: false })

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
  const lines = [line('s', { isReal: false, isConfigured: false, isOnline: false })]

  expect(chooseLine(lines, always)).toEqual({ route: 'none' })
  expect(chooseLine([], always)).toEqual({ route: 'none' })
})

const [A, B, C] = [line('a'), line('b'), line('c')]
const GONE = line('g', { isOnline: false })

const CHOICES: readonly (readonly [
  story: string,
  lines: readonly RoutingLine[],
  recipient: RecipientView,
  chosen: string,
])[] = [
  ['a stranger on a quiet day: the oldest line', [A, B, C], seen(), 'take a'],
  [
    'a stranger: the line with the fewest new contacts today',
    [A, B, C],
    seen({ newContacts: { a: 3, b: 1, c: 2 } }),
    'take b',
  ],
  [
    'a stranger where two have equally few: the older one of them',
    [A, B, C],
    seen({ newContacts: { a: 3, b: 1, c: 1 } }),
    'take b',
  ],
  [
    'a stranger where the one with the fewest is full',
    [A, B],
    seen({ full: 'b', newContacts: { a: 3 } }),
    'take a',
  ],
  [
    'a contact stays with the line that knows it, however many that line had today',
    [A, B],
    seen({ knows: 'b', newContacts: { b: 40 } }),
    'take b',
  ],
  [
    'a contact that several lines know: the oldest of them',
    [A, B, C],
    seen({ knows: 'bc' }),
    'take b',
  ],
  [
    'a contact whose line is offline is a stranger to the others',
    [A, GONE, B],
    seen({ knows: 'g', newContacts: { a: 1 } }),
    'take b',
  ],
  [
    'a contact waits for its own line where none is online',
    [line('o', { isOnline: false }), GONE],
    seen({ knows: 'g' }),
    'queue g',
  ],
  [
    'a stranger waits for the offline line with the fewest',
    [line('o', { isOnline: false }), GONE],
    seen({ newContacts: { o: 2, g: 1 } }),
    'queue g',
  ],
]

for (const [story, lines, recipient, chosen] of CHOICES) {
  test(story, () => {
    const route = chooseLine(lines, recipient)

    expect(route.route === 'none' ? 'none' : `${route.route} ${route.lineId}`).toBe(chosen)
  })
}
