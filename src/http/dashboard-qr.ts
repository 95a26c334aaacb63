// QR codes for the page. They are drawn here, because the script that draws them is larger than that of
// most pages, and only a line that is being tried out shows one.

import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { encode } from 'uqr'

import { invalidRequest } from '../domain/errors.ts'
import { readQuery } from './query.ts'
import { contextOf, sessionOf } from './request-context.ts'
import { respond } from './respond.ts'

const QrQuery = Type.Object({ text: Type.Optional(Type.String()) })

/** A link that opens a text to somebody, as RFC 5724 has it but for the `?&` that iOS and Android share. */
const TEXT_LINK = /^sms:[\w.+@-]{3,254}\?&body=[\w.!~*'()%-]{0,300}$/
/** The quiet zone around the code, in modules; scanners want four. */
const BORDER = 4
/** Nothing of it is a document: opened by itself, it must not run or load anything. */
const POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Behind the door of the dashboard. Throws `invalid_request` for what is no link to a new text. */
export function qrRoutes() {
  return new Elysia().get('/dashboard/qr', ({ request }) => {
    sessionOf(request)
    const { text } = readQuery(request, QrQuery)
    if (text === undefined || !TEXT_LINK.test(text)) {
      throw invalidRequest({ path: 'text', message: 'must be a link that opens a text' })
    }
    return respond(qrCode(text), {
      status: 200,
      requestId: contextOf(request).requestId,
      headers: { 'content-type': 'image/svg+xml', 'content-security-policy': POLICY },
    })
  })
}

/** Black on white in either theme, because cameras want it so: one stroke for each run of dark modules. */
function qrCode(text: string): string {
  const { size, data } = encode(text, { ecc: 'M', border: BORDER })
  const path = data
    .flatMap((row, y) => {
      const modules = row.map((isDark) => (isDark ? '1' : '0')).join('')
      return [...modules.matchAll(/1+/g)].map((run) => `M${run.index} ${y + 0.5}h${run[0].length}`)
    })
    .join('')
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}">` +
    '<rect width="100%" height="100%" fill="#fff"/>' +
    `<path stroke="#000" shape-rendering="crispEdges" d="${path}"/></svg>`
  )
}
