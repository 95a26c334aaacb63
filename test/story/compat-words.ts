// The same call and its answer in the words of each compatible API, for the test of their rights.

import { expect } from 'bun:test'

import type { CredentialForm } from '../../src/compat/compat-api.ts'
import { idOfSid, sidOf } from '../../src/compat/twilio/ids.ts'
import { callAs, FORMS } from '../support/compat-credentials.ts'
import type { ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'

export const NUMBERS = ['+12025550801', '+12025550802', '+12025550803']
const FILE = 'c291cA=='
/** The words of SMS Gate for the status of a message. */
const GATE: Readonly<Record<string, string>> = {
  queued: 'Pending',
  uncertain: 'Processed',
  sent: 'Sent',
  delivered: 'Delivered',
  failed: 'Failed',
  canceled: 'Failed',
  expired: 'Failed',
}
/** Twilio's words, if they are others. */
const TWILIO_STATES: Readonly<Record<string, string>> = { uncertain: 'sending', expired: 'failed' }

/** An answer in words that all APIs have. */
export type Said = {
  readonly status: number
  readonly code: string | null
  readonly state: string | null
}

export type Call =
  | {
      readonly does: 'send'
      readonly to: string
      readonly from: number | null
      readonly hasFile: boolean
    }
  | { readonly does: 'look'; readonly at: number }

/** A relay, its key, and the ids of its messages in their order. */
export type Side = { readonly shop: ScriptedRelay; key: Json; readonly messages: string[] }

export const FORMS_OF: Readonly<Record<Api, readonly CredentialForm[]>> = {
  sms: FORMS,
  'signal-cli': FORMS.slice(0, 3),
  twilio: ['account'],
  bluebubbles: ['query'],
  sendblue: ['sb headers'],
}

/** What the relay's own API says, in the words of each API. */
export const asOf: Readonly<Record<Api, (said: Said, side: Side, call: Call) => Promise<Said>>> = {
  sms: async (said, _side, { does }) => (does === 'look' ? asOfGate(said) : said),
  'signal-cli': async (said, side, call) => asOfSignal(said, await isOwnLine(side, call)),
  twilio: async (said, side, call) => asOfTwilio(said, await isOwnLine(side, call), call),
  bluebubbles: async (said) => ({ ...said, state: said.state && (BUBBLES[said.state] ?? '0') }),
  sendblue: async (said, side, call) => asOfSendblue(said, await isOwnLine(side, call)),
}

/** It says only of what failed that it did. */
const BUBBLES: Readonly<Record<string, string>> = { failed: '1', expired: '1', canceled: '1' }
const SENDBLUE: Readonly<Record<string, string>> = {
  uncertain: 'PENDING',
  failed: 'ERROR',
  expired: 'ERROR',
  canceled: 'ERROR',
}

/** It looks for the line of a number before anything else. */
function asOfSendblue({ status, code, state }: Said, isOwn: boolean): Said {
  const isRefusedLater = code === 'recipient_not_allowed' || code === 'rate_limit_exceeded'
  if (!isOwn && isRefusedLater) return { status: 404, code: 'phone_line_not_found', state }
  return { status, code, state: state && (SENDBLUE[state] ?? state.toUpperCase()) }
}

/** It has no state of a received message. */
function asOfGate(said: Said): Said {
  if (said.state === 'received') return { status: 404, code: 'not_found', state: null }
  return { ...said, state: said.state && (GATE[said.state] ?? said.state) }
}

/** Twilio's numbers of the relay's errors, and their statuses. */
const TWILIO: Readonly<Record<string, readonly [number, number]>> = {
  unauthorized: [401, 20003],
  forbidden: [403, 20403],
  not_found: [404, 20404],
  recipient_not_allowed: [400, 21408],
  phone_line_not_found: [400, 21606],
  rate_limit_exceeded: [429, 20429],
  not_queued: [409, 30409],
}

/** It answers before the line does, and looks for the line of a number before anything else. */
function asOfTwilio(said: Said, isOwn: boolean, call: Call): Said {
  const isRefusedLater =
    said.code === 'recipient_not_allowed' || said.code === 'rate_limit_exceeded'
  const word = !isOwn && isRefusedLater ? 'phone_line_not_found' : said.code
  if (word !== null) {
    const [status, code] = TWILIO[word] ?? [said.status, 0]
    return { status, code: String(code), state: null }
  }
  const isUnsaid = call.does === 'send' && said.state === 'sent'
  const state = said.state && (TWILIO_STATES[said.state] ?? said.state)
  return { ...said, state: isUnsaid ? 'queued' : state }
}

async function isOwnLine({ shop, key }: Side, call: Call): Promise<boolean> {
  if (call.does !== 'send' || call.from === null || key.phone_line_ids === undefined) return true
  return key.phone_line_ids.includes((await shop.lines())[call.from]?.id)
}

/** Its clients get no codes, and it looks for the line of a number before anything else. */
function asOfSignal({ status, code, state }: Said, isOwn: boolean): Said {
  const isRefusedLater = code === 'recipient_not_allowed' || code === 'rate_limit_exceeded'
  return { status: !isOwn && isRefusedLater ? 404 : status, code: null, state }
}

export type Api = 'sms' | 'signal-cli' | 'twilio' | 'bluebubbles' | 'sendblue'

/** A text as JSON, or a text with a file as a form. */
function bubbleOf({ to, hasFile }: Extract<Call, { readonly does: 'send' }>): RequestInit {
  const fields = { chatGuid: `any;-;${to}`, message: 'hi' }
  if (!hasFile) return { method: 'POST', body: JSON.stringify(fields) }
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('attachment', new Blob(['soup']), 'file-1')
  return { method: 'POST', body: form }
}

function formOf({ to, from }: Extract<Call, { readonly does: 'send' }>): string {
  const number = from === null ? `MG${'0'.repeat(32)}` : (NUMBERS[from] ?? '')
  return new URLSearchParams({ To: to, Body: 'hi', From: number }).toString()
}

type Ask = (side: Side, call: Call, headers: Record<string, string>) => Promise<Said>

export const ask: Readonly<Record<Api, Ask>> = {
  sms: async ({ shop, messages }, call, headers) => {
    const isLook = call.does === 'look'
    const path = isLook ? `/compat/sms/message/${messages[call.at]}` : '/compat/sms/send'
    const body = isLook ? null : JSON.stringify({ to: call.to, text: 'hi' })
    const method = isLook ? 'GET' : 'POST'
    const response = await shop.fetch(path, { method, headers, body })
    const said: Json = await response.json()
    if (!response.ok) return { status: response.status, code: said.code, state: null }
    if (isLook) return { status: 200, code: null, state: said.state }
    expect([said.success, said.messages.length]).toEqual([true, 1])
    messages.push(said.id)
    return { status: 200, code: null, state: said.status }
  },
  twilio: async ({ shop, key, messages }, call, headers) => {
    const isLook = call.does === 'look'
    const sid = isLook ? `/${sidOf('SM', messages[call.at] ?? '')}` : ''
    const path = `/2010-04-01/Accounts/${key.key}/Messages${sid}.json`
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const given = { method: 'POST', headers: form, body: isLook ? '' : formOf(call) }
    const response = await shop.fetch(path, isLook ? { headers } : given)
    const said: Json = await response.json()
    if (!response.ok) return { status: response.status, code: String(said.code), state: null }
    if (!isLook) messages.push(idOfSid('msg', said.sid, ['SM']) ?? '')
    return { status: 200, code: null, state: said.status }
  },
  bluebubbles: async ({ shop, key, messages }, call) => {
    const isLook = call.does === 'look'
    const hasFile = !isLook && call.hasFile
    const kind = hasFile ? 'attachment' : 'text'
    const route = isLook ? messages[call.at] : kind
    const { path } = callAs('query', key, `/compat/bluebubbles/api/v1/message/${route}`)
    const response = await shop.fetch(path, isLook ? {} : bubbleOf(call))
    const said: Json = await response.json()
    if (!response.ok) return { status: response.status, code: said.error.code, state: null }
    if (!isLook) messages.push(said.data.guid)
    return { status: 200, code: null, state: String(said.data.error) }
  },
  sendblue: async ({ shop, messages }, call, headers) => {
    const isLook = call.does === 'look'
    const path = isLook ? `status?handle=${messages[call.at]}` : 'send-message'
    const from = isLook || call.from === null ? {} : { from_number: NUMBERS[call.from] }
    const body = isLook ? null : JSON.stringify({ number: call.to, content: 'hi', ...from })
    const given = { method: isLook ? 'GET' : 'POST', headers, body }
    const response = await shop.fetch(`/compat/sendblue/api/${path}`, given)
    const said: Json = await response.json()
    if (!response.ok) return { status: response.status, code: said.error_reason, state: null }
    if (!isLook) messages.push(said.message_handle)
    return { status: 200, code: null, state: said.status }
  },
  'signal-cli': async ({ shop, messages }, call, headers) => {
    if (call.does === 'look') throw new Error('It has no states.')
    const body = {
      recipients: [call.to],
      message: 'hi',
      ...(call.from === null ? {} : { number: NUMBERS[call.from] }),
      ...(call.hasFile ? { base64_attachments: [`data:text/plain;base64,${FILE}`] } : {}),
    }
    const given = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await shop.fetch('/v2/send', given)
    const said: Json = await response.json()
    if (!response.ok) {
      expect(Object.keys(said)).toEqual(['error'])
      return { status: response.status, code: null, state: null }
    }
    messages.push(said.messages[0].id)
    return { status: 200, code: null, state: said.messages[0].status }
  },
}
