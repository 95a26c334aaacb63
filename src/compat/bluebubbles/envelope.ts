import type { CompatAnswer, CompatError } from '../compat-api.ts'

/** Every BlueBubbles answer repeats its status in the body. */
export function answered(data: unknown, message = 'Success', metadata?: object): CompatAnswer {
  return { status: 200, body: { status: 200, message, data, ...(metadata && { metadata }) } }
}

type Words = readonly [message: string, type: string]

const WORDS: Readonly<Record<number, Words>> = {
  400: ["You've made a bad request! Please check your request params & body", 'Validation Error'],
  401: ['You are not authorized to access this resource', 'Authentication Error'],
  403: ['You are forbidden from accessing this resource', 'Authentication Error'],
  404: ['The requested resource was not found', 'Database Error'],
  409: ['Message Send Error', 'iMessage Error'],
  422: ['Message Send Error', 'iMessage Error'],
}
const OTHER: Words = ['The server has encountered an error', 'Server Error']

export function refusal({ status, code, message: why }: CompatError): CompatAnswer {
  const [message, type] = WORDS[status] ?? OTHER
  return { status, body: { status, message, error: { type, message: why, code } } }
}
