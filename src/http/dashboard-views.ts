// Small views for the dashboard: counts of messages, facts about the relay, QR codes.

import { encode } from 'uqr'

import type { KindInfo } from '../api/dashboard.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { formats } from '../compat/apis.ts'
import { invalidRequest } from '../domain/errors.ts'
import { permissionsOf } from '../domain/permissions.ts'
import type { LineKind } from '../lines/line-kind.ts'
import { contactCost } from '../messages/contact-cost.ts'
import { VERSION } from '../system/version.ts'
import { bind } from './bind.ts'
import { readHandle } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, linesOf } from './request-context.ts'
import { respondTo } from './respond.ts'

export function messageViewBindings({
  lines,
  reading: { attention, conversations, messages },
  routing,
}: Pick<Relay, 'lines' | 'reading' | 'routing'>) {
  return [
    bind(DASHBOARD.getAttention, ({ request, query }) => attention(linesOf(request, query))),
    bind(DASHBOARD.countUnread, ({ request, query }) => ({
      count: conversations.countUnread(linesOf(request, query)),
    })),
    bind(DASHBOARD.getMessageTimes, ({ params }) => messages.times(params.id)),
    bind(DASHBOARD.getContactCost, ({ request, query }) => {
      const to = readHandle(query.to) ?? ''
      const { limits } = permissionsOf(callerOf(request))
      const preview = routing.preview(to, query.phone_line_id ?? null, limits)
      const line = lines.list().find(({ id }) => id === preview.lineId)
      return contactCost(line ?? null, preview.knowsContact)
    }),
  ]
}

export function aboutBindings(given: Pick<Relay, 'address' | 'config' | 'kinds'>) {
  const { config, kinds, address } = given
  return [
    bind(DASHBOARD.getAbout, () => ({
      version: VERSION,
      data_directory: config.dataDir,
      address: address(),
      public_url: config.publicUrl,
      trusted_proxies: config.trustedProxies,
      backup_folder: config.backupFolder,
      is_password_locked: config.adminPassword !== null,
      drivers: kinds.drivers.map(({ kind }) => kind),
      kinds: kinds.kinds.map(kindInfo),
      formats: formats(),
    })),
  ]
}

export function kindInfo(kind: LineKind): KindInfo {
  return {
    name: kind.name,
    title: kind.title,
    start: kind.start,
    is_real: kind.isReal,
    needs_permissions: kind.checklist.some(({ isOfMachine }) => isOfMachine === true),
    deletable_reason: kind.deletable === null ? null : kind.reasons.absent.code,
    trial_command: kind.trialCommand ?? null,
    practice_numbers: kind.practiceNumbers ?? null,
  }
}

/** A link that opens a new text, by RFC 5724 except for `?&`, which works on both iOS and Android. */
const TEXT_LINK = /^sms:[\w.+@-]{3,254}\?&body=[\w.!~*'()%-]{0,300}$/
/** Keeps the image, opened by itself, from running or loading anything. */
const POLICY = "default-src 'none'; frame-ancestors 'none'"

export function qrBindings() {
  return [
    bind(DASHBOARD.drawQrCode, ({ request, query: { text } }) => {
      if (text === undefined || !TEXT_LINK.test(text)) {
        throw invalidRequest({ path: 'text', message: 'must be a link that opens a text' })
      }
      return respondTo(request, qrCode(text), {
        headers: { 'content-type': 'image/svg+xml', 'content-security-policy': POLICY },
      })
    }),
  ]
}

/** An SVG, black on white in both themes because cameras need that, with one stroke per run of dark modules. */
export function qrCode(text: string): string {
  // The quiet zone that scanners need is four modules wide.
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
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
