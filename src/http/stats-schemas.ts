// The shape of the figures by day.

import { Type } from 'typebox'

import { id, shape } from './schema-parts.ts'

const FIGURES = {
  sent: Type.Integer({ description: 'Sent, delivered or read; those typed on the device too.' }),
  received: Type.Integer(),
  failed: Type.Integer({ description: 'Failed or expired.' }),
  uncertain: Type.Integer({ description: 'Handed to the device, and not known to have left.' }),
}

export const Stats = shape('Stats', {
  data: Type.Array(
    shape('DayStats', {
      date: Type.String({ description: 'A UTC day.', example: '2026-11-21' }),
      ...FIGURES,
      lines: Type.Array(
        shape('LineDayStats', { phone_line_id: id('line', 'The line.'), ...FIGURES }),
        { description: 'The lines that had messages on that day.' },
      ),
    }),
  ),
})
