// The layout of tables, times and states: for a person at a terminal, and for a program at a pipe.

import { expect, test } from 'bun:test'

import { fields, laidOut, stateCell, table, timeCell, type Look } from '../../src/cli/table.ts'
import { TEST_START } from '../support/test-clock.ts'
import { IN_PIPE } from './recorded-output.ts'

const AT_TERMINAL: Look = { ...IN_PIPE, columns: 44 }
const HEAD = ['ID', 'STATE', 'URL', 'EVENTS']
const ROWS = [
  [
    'wh_1',
    stateCell('failing'),
    'https://shop.example.com/hooks',
    'message.received, message.sent',
  ],
  ['wh_2', stateCell('active'), 'https://日本.example.com/フック/フック', 'message.read'],
]

test('a table fits the terminal: the least important column is dropped, then the widest shrinks, ids never', () => {
  const lines = laidOut([table(HEAD, ROWS, ['EVENTS'])], AT_TERMINAL)

  expect(lines).toEqual([
    'ID    STATE    URL',
    'wh_1  failing  https://shop.example.com/hoo…',
    'wh_2  active   https://日本.example.com/フッ…',
  ])
  for (const columns of [1, 10, 20, 30, 44, 60, 200]) {
    for (const line of laidOut([table(HEAD, ROWS)], { ...AT_TERMINAL, columns })) {
      expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns)
    }
  }
})

test('too narrow for a table, the id stands alone above what belongs to it', () => {
  const lines = laidOut([table(HEAD, ROWS)], { ...AT_TERMINAL, columns: 28 })

  expect(lines).toEqual([
    'ID',
    '  STATE    URL       EVENTS',
    'wh_1',
    '  failing  https:/…  messag…',
    'wh_2',
    '  active   https:/…  messag…',
  ])
})

test('in a pipe a table is whole and plain', () => {
  const [, row] = laidOut([table(HEAD, ROWS)], IN_PIPE)

  expect(row).toMatch(
    /^wh_1 {2}failing .*shop\.example\.com\/hooks +message\.received, message\.sent$/,
  )
  expect(laidOut([table(HEAD, [])], IN_PIPE)).toEqual([])
})

test('states are coloured by their meaning and times are dim, where colours are wanted', () => {
  const part = fields([
    ['a', stateCell('active')],
    ['b', stateCell('failing')],
    ['c', stateCell('stopped (gone)')],
    ['d', stateCell('unknown')],
    ['e', timeCell(timeAfter(0))],
  ])

  expect(laidOut([part], { ...AT_TERMINAL, hasColour: true })).toEqual([
    'a  \u001B[32mactive\u001B[0m',
    'b  \u001B[33mfailing\u001B[0m',
    'c  \u001B[31mstopped (gone)\u001B[0m',
    'd  unknown',
    'e  \u001B[2mjust now\u001B[0m',
  ])
  expect(laidOut([part], AT_TERMINAL).join()).not.toContain('\u001B')
})

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const TIMES: readonly (readonly [ms: number, shown: RegExp])[] = [
  [-59_000, /^just now$/],
  [30_000, /^in a moment$/],
  [-3 * MINUTE, /^3 min ago$/],
  [5 * MINUTE, /^in 5 min$/],
  [-90 * MINUTE, /^today \d\d:\d\d$/],
  [-DAY, /^yesterday \d\d:\d\d$/],
  [DAY, /^tomorrow \d\d:\d\d$/],
  [-40 * DAY, /^2026-10-12 \d\d:\d\d$/],
]

for (const [ms, shown] of TIMES) {
  test(`a time ${ms} ms from now is written as people say it, and in ISO 8601 in a pipe`, () => {
    const iso = timeAfter(ms)

    expect(laidOut([table(['T'], [[timeCell(iso)]])], AT_TERMINAL)[1]).toMatch(shown)
    expect(laidOut([table(['T'], [[timeCell(iso)]])], IN_PIPE)[1]).toBe(iso)
  })
}

function timeAfter(ms: number): string {
  return new Date(TEST_START + ms).toISOString()
}
