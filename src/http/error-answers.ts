// How the OpenAPI document tells what can go wrong.

import { Type } from 'typebox'

import type { ErrorCode } from '../domain/errors.ts'
import { ERRORS } from './errors.ts'
import { shape, toldWord } from './schema-parts.ts'

/** What can be wrong with any body. The document says it of every route that has one. */
export const BODY_ERRORS = ['payload_too_large', 'unsupported_media_type'] as const

export const ERROR_ANSWER = 'ErrorAnswer'

const CODES = Object.entries(ERRORS).filter(([, { isOfDashboard = false }]) => !isOfDashboard)
const MEANINGS = CODES.map(([code, { status, when }]) => `- \`${code}\` (${status}): ${when}`)

const ErrorDetail = shape('ErrorDetail', {
  code: toldWord(
    'ErrorCode',
    CODES.map(([code]) => code),
    ['For programs.', ...MEANINGS].join('\n'),
  ),
  message: Type.String({ description: 'For people: what was wrong and what would be right.' }),
  details: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'More for programs, by the code.',
    }),
  ),
})

const ErrorAnswer = shape(ERROR_ANSWER, { error: ErrorDetail })

/** One answer for each status, which tells every code that it can have. */
export function errorAnswers(codes: readonly ErrorCode[]) {
  const known = Object.keys(ERRORS).filter((code) => codes.some((one) => one === code))
  // The keys of the table are the codes.
  const byStatus = Object.groupBy(known as ErrorCode[], (code) => ERRORS[code].status)
  const told = Object.entries(byStatus).map(([status, codes = []]) => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join(' '),
      content: {
        'application/json': {
          schema: ErrorAnswer,
          examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
        },
      },
    },
  ])
  return Object.fromEntries(told)
}

function exampleOf(code: ErrorCode) {
  const message = code === 'unauthorized' ? 'Invalid or missing API credentials' : ERRORS[code].when
  return { value: { error: { code, message } } }
}
