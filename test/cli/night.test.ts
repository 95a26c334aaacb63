// Last night as the terminal shows it.

import { expect, test } from 'bun:test'

import { nightLines } from '../../src/cli/night.ts'
import { laidOut } from '../../src/cli/table.ts'
import { runBeside, type Asked } from './fake-relay.ts'
import { IN_PIPE } from './recorded-output.ts'

const LINE = { id: 'line_a', phone_number: '+12025550101', label: 'Front desk' }
const entry = (at: string, text: string) => ({ id: at, kind: 'line.off', at, text })

const NIGHT = {
  data: [
    entry(
      '2026-11-20T23:30:00.000Z',
      'Front desk was off for 4 minutes: The device is not connected to this machine.',
    ),
    entry('2026-11-20T23:10:00.000Z', 'Webhook Shop\u001B[2J began to fail.'),
    entry('2026-11-20T22:10:00.000Z', 'The daily backup was made.'),
  ],
  has_more: false,
  next_cursor: null,
  since: '2026-11-20T17:00:00.000Z',
  until: '2026-11-21T06:00:00.000Z',
  time_zone: 'Europe/Berlin',
  summary: { text: 'Quiet night: 1 line off for 4 minutes, 31 messages received, 3 to answer.' },
}

test('entries stand below their days of the relay, within 80 columns, without signs for the terminal', () => {
  const night = NIGHT as unknown as Parameters<typeof nightLines>[0] // All that it reads.

  expect(laidOut(nightLines(night), { ...IN_PIPE, columns: 80 })).toEqual([
    'Quiet night: 1 line off for 4 minutes, 31 messages received, 3 to answer.',
    '',
    '2026-11-21',
    '00:30  Front desk was off for 4 minutes: The device is not connected to this',
    '       machine.',
    '00:10  Webhook Shop [2J began to fail.',
    '',
    '2026-11-20',
    '23:10  The daily backup was made.',
  ])
})

test('the line can be named, and JSON is the answer itself', async () => {
  const { asked, stdout } = await runBeside(
    'night --line "Front desk" --limit 5 --json',
    ({ path }: Asked) => (path.startsWith('/api/v1/phone-lines') ? { data: [LINE] } : NIGHT),
  )

  expect(asked.map(({ path }) => path)).toContain('/api/v1/timeline?limit=5&phone_line_id=line_a')
  expect(JSON.parse(stdout)).toEqual(NIGHT)
})

test('a night without entries is said to be one', async () => {
  const { stdout } = await runBeside('night', () => ({ ...NIGHT, data: [], summary: null }))

  expect(stdout).toBe('Nothing happened in this time.\n')
})
