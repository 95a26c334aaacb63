import { expect, test } from 'bun:test'

import type { LineId } from '../../src/domain/ids.ts'
import { chooseLine, type RecipientView, type RoutingLine } from '../../src/domain/routing.ts'

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

const [A, B, C] = [line('a'), line('b'), line('c')]
const GONE = line('g', { isOnline: false })
const OFF = line('x', { isEnabled: false })
const SIMULATED = line('s', { isReal: false })

const CHOICES: readonly (readonly [
  story: string,
  lines: readonly RoutingLine[],
  recipient: RecipientView,
  chosen: string,
])[] = [
  ['the first line that is online', [GONE, B, C], seen(), 'take b'],
  ['none is online: the first available one', [OFF, GONE], seen(), 'queue g'],
  ['a full line is passed over', [A, GONE], seen({ full: 'a' }), 'queue g'],
  ['full is only said when all are', [A, GONE], seen({ full: 'ag' }), 'full a'],
  ['a simulated line beside one of another kind', [SIMULATED, GONE], seen(), 'queue g'],
  ['a simulated line beside one that is off', [SIMULATED, OFF], seen(), 'take s'],
  [
    'a line whose iMessage is not active, while another can',
    [line('i', { imessageActive: false }), B],
    seen(),
    'take b',
  ],
  [
    'a line that this start did not ask for',
    [line('s', { isReal: false, isConfigured: false, isOnline: false })],
    seen(),
    'none',
  ],
  ['no line at all', [], seen(), 'none'],
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
    'a contact waits for its own line if none is online',
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

test.each(CHOICES)('%s', (_story, lines, recipient, chosen) => {
  const route = chooseLine(lines, recipient)

  expect(route.route === 'none' ? 'none' : `${route.route} ${route.lineId}`).toBe(chosen)
})
