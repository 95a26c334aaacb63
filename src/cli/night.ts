import type { Answer } from '../api/operations.ts'
import { isoTime } from '../system/iso-time.ts'
import { SITE_OPTION, TIME_FORMS, type Call, type Command } from './command.ts'
import { askRelay } from './own-file.ts'
import { printable, type Line, type Part } from './table.ts'

const LIMIT_DEFAULT = 100
const TIME_WIDTH = 7

export const NIGHT_COMMAND: Command = {
  name: 'night',
  options: [
    {
      name: 'since',
      value: 'TIME',
      sentence: `Start: ${TIME_FORMS} (default: yesterday at 18:00).`,
    },
    { name: 'line', value: 'LINE', ids: 'lines', sentence: 'Only what is about this line.' },
    SITE_OPTION,
    {
      name: 'limit',
      value: 'N',
      sentence: `Maximum number of entries (default ${LIMIT_DEFAULT}).`,
    },
  ],
  sentence: 'Show what happened last night: lines, webhooks, messages and changes, newest first.',
  run: show,
}

async function show(call: Call): Promise<undefined> {
  const since = call.options.time('since')
  const limit = call.options.number('limit', { fallback: LIMIT_DEFAULT, max: 200 })
  const query = {
    limit: String(limit),
    since: since && isoTime(since),
    phone_line_id: call.options.get('line'),
    site_id: call.options.get('site'),
  }
  const night = await askRelay(call, 'getTimeline', { query })
  call.out.data(night, nightLines(night))
  if (night.data.length === 0) call.out.note('Nothing happened in this time.')
  if (night.has_more) call.out.note('Earlier entries exist. Show more with --limit.')
}

/** The summary, and the entries below their days, in the relay's time zone. */
export function nightLines({ summary, data, time_zone }: Answer<'getTimeline'>): readonly Line[] {
  const times = data.map(({ at }) => Temporal.Instant.from(at).toZonedDateTimeISO(time_zone))
  const days = times.map((at) => at.toPlainDate().toString())
  const entries = data.flatMap(({ text }, n): readonly Line[] => {
    const time = times[n]?.toPlainTime().toString({ smallestUnit: 'minute' }) ?? ''
    const day = days[n] === days[n - 1] ? [] : ['', days[n] ?? '']
    return [...day, wrapped(text, time)]
  })
  return [...(summary === null ? [] : [wrapped(summary.text, '')]), ...entries]
}

/** A sentence beside a time, in as many lines as the terminal needs. */
function wrapped(text: string, time: string): Part {
  return ({ columns }) => {
    const indent = time === '' ? 0 : TIME_WIDTH
    const width = (columns ?? Infinity) - indent
    const rows = ['']
    for (const word of printable(text).split(' ')) {
      const row = rows.at(-1) ?? ''
      if (row !== '' && row.length + 1 + word.length > width) rows.push(word)
      else rows[rows.length - 1] = row === '' ? word : `${row} ${word}`
    }
    return rows.map((row, n) => `${(n === 0 ? time : '').padEnd(indent)}${row}`)
  }
}
