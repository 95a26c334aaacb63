import { CHANGE, READ, rows } from '../operation.ts'
import { PhoneLine, PhoneLineChanges, PhoneLineList } from '../phone-lines.ts'
import { PageQuery } from '../query.ts'
import { Deleted } from '../schema.ts'

const SHARED = { callers: 'keys', tag: 'Phone lines', limits: ['lines'] } as const

/** Rights of every change of a line, also of the actions that kinds of lines define. */
export const LINE_CHANGES = { ...SHARED, ...CHANGE, scope: 'lines:write' } as const

export const PHONE_LINES = rows({
  listPhoneLines: {
    ...SHARED,
    ...READ,
    route: 'GET /phone-lines',
    scope: 'lines:read',
    summary: 'List phone lines',
    description: 'Oldest first, which is the order of routing.',
    query: PageQuery,
    answers: { 200: PhoneLineList },
    member: 'yes',
    compress: true,
  },
  updatePhoneLine: {
    ...LINE_CHANGES,
    route: 'PATCH /phone-lines/:id',
    summary: 'Change a phone line',
    description: 'Fields that are left out stay as they are.',
    answers: { 200: PhoneLine },
    errors: ['not_found', 'not_supported', 'storage_full'],
    body: PhoneLineChanges,
    password: 'if it opens the line',
    audit: 'line.changed',
  },
  deletePhoneLine: {
    ...LINE_CHANGES,
    route: 'DELETE /phone-lines/:id',
    summary: 'Delete an unused line',
    description:
      'A simulated line that the relay was started without, or a Shortcuts line whose bridge was ' +
      'removed. Its messages keep its id and number.',
    answers: { 200: Deleted },
    errors: ['not_found', 'phone_line_in_use'],
    audit: 'line.deleted',
  },
})
