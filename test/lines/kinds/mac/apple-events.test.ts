import { expect, test } from 'bun:test'

import { classOf, isNotCompiled, lastNumber } from '../../../../src/lines/kinds/mac/apple-events.ts'

test('every number that is known has its meaning, and any other is a failure', () => {
  const numbers = {
    permission: [-1743, -1744],
    not_running: [-600, -609, -10810],
    timeout: [-1712],
    not_found: [-1728],
    no_account: [-1719, -2753],
    vocabulary: [-1700, -1708, -2740, -2741],
    file: [-43],
    failed: [-128, -2700, -10000, -10004, 1002, -1, 0, 1743],
  }

  const misread = Object.entries(numbers).flatMap(([name, list]) =>
    list.filter((number) => classOf(number) !== name),
  )

  expect(misread).toEqual([])
})

test('two numbers alone say that a script did not compile', () => {
  const numbers = [-2740, -2741, -1743, -2753, -1700, 0, null]

  expect(numbers.map(isNotCompiled)).toEqual([true, true, false, false, false, false, false])
})

const LINES: readonly (readonly [language: string, stderr: string, number: number | null])[] = [
  [
    'American English',
    '11:52: execution error: Messages got an error: Can’t get chat id "iMessage;-;x". (-1728)\n',
    -1728,
  ],
  [
    'English with a straight apostrophe',
    "0:5: execution error: Messages got an error: Application isn't running. (-600)\n",
    -600,
  ],
  [
    'British English',
    '94:99: execution error: Not authorised to send Apple events to Messages. (-1743)\n',
    -1743,
  ],
  [
    'Japanese',
    '94:99: execution error: “メッセージ”でエラーが起きました: AppleEventがタイムアウトしました。 (-1712)\n',
    -1712,
  ],
  ['Japanese parentheses', '実行エラー：チャットを取り出せません。（-1728）\n', -1728],
  [
    'a minus sign',
    'Fehler bei der Ausführung: „account 1“ kann nicht gelesen werden. (−1719)\n',
    -1719,
  ],
  ['a positive number', 'execution error: Messages got an error: 1002 (1002)\n', 1002],
  ['numbers in the words', 'execution error: Can’t get chat id "(-1743) (5)". (-1728)\n', -1728],
  ['several lines', '2024 osascript[7:(9)] warning (-1)\n0:3: syntax error: … (-2741)\n', -2741],
  ['no number', 'osascript: OpenDefaultComponent() failed.\n', null],
  ['a number without parentheses', 'execution error: -1743\n', null],
  ['a number that is none', 'execution error (-) (99999999999) (1.5) (0x10)', null],
  ['nothing', '', null],
]

for (const [language, stderr, number] of LINES) {
  test(`the number is found in an error line: ${language}`, () => {
    expect(lastNumber(stderr)).toBe(number)
  })
}
