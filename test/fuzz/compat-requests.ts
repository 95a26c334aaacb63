// Requests to the compatible APIs: most of each is what a client of it sends, and something of it is not.

import * as fc from 'fast-check'

import { COMPAT_APIS, routesOf } from '../../src/compat/apis.ts'
import type { CredentialForm } from '../../src/compat/compat-api.ts'
import { FORMS } from '../support/compat-credentials.ts'
import { encoded, METHODS, mostly, spoiltBody } from './requests.ts'
import { hostileText, hostileValue, PEOPLE } from './schema-values.ts'

export type CompatRequest = {
  readonly api: string
  /** The route that it is meant for, as `POST /compat/sms/send`. */
  readonly route: string
  readonly method: string
  /**
   * `:id` and `:guid` stand for ids that the relay gave, several with commas; `:sid` and `:media` for one of Twilio's,
   * and `:account` for the key's own.
   */
  readonly path: string
  readonly ids: readonly number[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | FormData | null
  readonly credentials: {
    readonly whose: 'good' | 'limited' | 'wrong' | 'none'
    readonly form: CredentialForm
  }
}

/** Ids in queries. */
const QUERIES: Readonly<Record<string, string>> = {
  '/compat/sendblue/api/status': '?handle=:id',
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const TYPES = [JSON_TYPE, 'text/plain', 'application/xml', FORM_TYPE, 'multipart/form-data', '']

const RECIPIENT_FIELDS = 'to phone phone_number recipient number numbers phoneNumbers recipients'
const TEXT_FIELDS = 'text message body content msg textMessage'
const OTHER_FIELDS = 'id isEncrypted from sender base64_attachments base64_attachment text_mode'
const BUBBLES_FIELDS = 'chatGuid addresses tempGuid attachment effectId url events offset limit'
const SENDBLUE_FIELDS =
  'content from_number status_callback reply_to group_id webhooks type globalSecret'
const TWILIO_FIELDS = 'To From Body MediaUrl StatusCallback SendAt ScheduleType Status'
/** Nobody listens there. */
const HOOKS = ['http://127.0.0.1:9/hook', 'http://127.0.0.1:9/hook?order=7', 'http://127.0.0.1:9']
const OWN_FIELDS = `${BUBBLES_FIELDS} ${SENDBLUE_FIELDS} ${TWILIO_FIELDS}`
const FIELDS =
  `${RECIPIENT_FIELDS} ${TEXT_FIELDS} ${OTHER_FIELDS} ${OWN_FIELDS} __proto__ toString`.split(' ')
const FILES = [
  'aGVsbG8=',
  'data:text/plain;filename=menu.txt;base64,aGVsbG8=',
  'data:image/png;filename=../../a\u0000b;base64,iVBORw0KGgo=',
  'data:;filename=;base64,aGVsbG8=',
  'data:,',
  '%%%',
]
const NOWHERE = [
  '',
  '/',
  '/send/',
  '/sendx',
  '/..',
  '/%2e%2e/api/v1/keys',
  '/v2',
  '/%',
  '/message/',
]

const people = fc.constantFrom(...PEOPLE)
const recipients = fc.oneof(people, people.map(Number), fc.array(people, { maxLength: 4 }))

/** What a client of each API sends. */
const GOOD: Readonly<Record<string, fc.Arbitrary<object>>> = {
  sms: fc.record(
    { to: recipients, text: fc.string({ maxLength: 50 }), id: fc.string({ maxLength: 3 }) },
    { requiredKeys: ['to', 'text'] },
  ),
  'signal-cli': fc.record(
    {
      recipients: fc.array(people, { minLength: 1, maxLength: 3 }),
      message: fc.string({ maxLength: 50 }),
      base64_attachments: fc.array(fc.constantFrom(...FILES), { maxLength: 2 }),
    },
    { requiredKeys: ['recipients', 'message'] },
  ),
  bluebubbles: fc.record(
    {
      chatGuid: people.map((to) => `any;-;${to}`),
      addresses: people.map((to) => [to]),
      message: fc.string({ minLength: 1, maxLength: 50 }),
      tempGuid: fc.string({ maxLength: 4 }),
      attachment: fc.constantFrom(...FILES),
      url: fc.constantFrom(...HOOKS),
      events: fc.constantFrom(['new-message'], ['*'], ['new-message', 'updated-message']),
    },
    { requiredKeys: ['chatGuid', 'addresses', 'message', 'url', 'events'] },
  ),
  sendblue: fc.record(
    {
      number: people,
      content: fc.string({ minLength: 1, maxLength: 50 }),
      webhooks: fc.array(fc.constantFrom(...HOOKS), { maxLength: 2 }),
      status_callback: fc.constantFrom(...HOOKS),
      globalSecret: fc.string({ maxLength: 10 }),
      type: fc.constantFrom('receive', 'outbound'),
    },
    { requiredKeys: ['number', 'content', 'webhooks'] },
  ),
  twilio: fc
    .record({
      To: people,
      Body: fc.string({ minLength: 1, maxLength: 50 }),
      more: fc.constantFrom({}, scheduled(), { StatusCallback: 'http://127.0.0.1:9/status?n=1' }),
      Status: fc.constantFrom('canceled', 'sent'),
    })
    .map(({ more, ...fields }) => ({
      ...fields,
      ...more,
      MessagingServiceSid: `MG${'0'.repeat(32)}`,
    })),
}

/** Scheduled, so that some can be canceled. */
function scheduled(): object {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  return { ScheduleType: 'fixed', SendAt: at }
}

/** Any request to any route of any compatible API, and to paths beside them. */
export const compatRequests: fc.Arbitrary<CompatRequest> = fc.oneof(
  ...COMPAT_APIS.flatMap((api) =>
    routesOf(api).map(({ method, path }) => requestTo(api.name, { method, path })),
  ),
)

export const COMPAT_ROUTES: readonly string[] = COMPAT_APIS.flatMap((api) =>
  routesOf(api).map(({ method, path }) => `${method} ${path}`),
)

/** The forms of credentials that are tried on an API: all but a query are headers. */
function formsOf(name: string): readonly CredentialForm[] {
  const own = COMPAT_APIS.find((api) => api.name === name)?.credentials ?? []
  return own.some((form) => FORMS.includes(form)) ? FORMS : own
}

function requestTo(
  api: string,
  { method, path }: { readonly method: string; readonly path: string },
): fc.Arbitrary<CompatRequest> {
  const beside = fc.constantFrom(...NOWHERE).map((rest) => `/compat/${api}${rest}`)
  const hostile = hostileText.map((text) => path.replace(/:[a-z]+(?!.*:)/, encoded(text)))
  return fc
    .record({
      method: mostly(fc.constant(method), fc.constantFrom(...METHODS), 20),
      path: mostly(mostly(fc.constant(path + (QUERIES[path] ?? '')), hostile, 6), beside, 20),
      ids: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      sent: path.endsWith('/attachment') ? mostly(filesOf(api), bodyOf(api), 3) : bodyOf(api),
      repeated: fc.option(fc.constantFrom('a', 'b', 'é', 'x'.repeat(300)), { freq: 5 }),
      query: mostly(
        fc.constant(''),
        hostileText.map((text) => `?password=${encoded(text)}`),
        20,
      ),
      whose: mostly(
        fc.constantFrom('good', 'good', 'limited'),
        fc.constantFrom('wrong', 'none'),
        8,
      ),
      form: fc.constantFrom(...formsOf(api)),
    })
    .map(({ sent, repeated, query, whose, form, ...rest }) => ({
      ...rest,
      api,
      route: `${method} ${path}`,
      path: rest.path + query,
      headers: {
        ...sent.headers,
        ...(repeated === null ? {} : { 'Idempotency-Key': repeated }),
      },
      body: sent.body,
      credentials: { whose, form },
    }))
}

/** A form with a file. */
function filesOf(api: string): fc.Arbitrary<Sent> {
  const good = GOOD[api] ?? fc.constant({})
  return good.map((value) => ({ headers: {}, body: multipartOf(value) }))
}

type Sent = Pick<CompatRequest, 'headers' | 'body'>

function bodyOf(api: string): fc.Arbitrary<Sent> {
  const good = GOOD[api] ?? fc.constant({})
  const bent = fc
    .tuple(good, fc.constantFrom(...FIELDS), hostileValue)
    .map(([value, name, hostile]) => ({ ...value, [name]: hostile }))
  const fields = fc.oneof(good, bent)
  const json = fields.map((value) => ({ headers: typed(JSON_TYPE), body: JSON.stringify(value) }))
  const form = fields.map((value) => ({
    headers: typed(FORM_TYPE),
    body: formOf(value).toString(),
  }))
  const multipart = fields.map((value) => ({ headers: {}, body: multipartOf(value) }))
  const spoilt = fc
    .tuple(fc.constantFrom(...TYPES), spoiltBody)
    .map(([type, body]) => ({ headers: typed(type), body }))
  return mostly<Sent>(mostly<Sent>(json, fc.oneof(form, multipart), 3), spoilt, 6)
}

function typed(type: string): Readonly<Record<string, string>> {
  return type === '' ? {} : { 'Content-Type': type }
}

function formOf(fields: object): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value].flat()) form.append(name, textOf(each))
  }
  return form
}

function multipartOf(fields: object): FormData {
  const form = new FormData()
  for (const [name, value] of formOf(fields)) form.append(name, value)
  form.append('to', new Blob(['+12025550123']), 'a.txt')
  form.set('attachment', new Blob(['hello']), 'a.txt')
  return form
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)
}
