import { COMPAT_APIS, routesOf } from '../../src/compat/apis.ts'
import type { CompatApi, CredentialForm } from '../../src/compat/compat-api.ts'
import type { ApiKey } from './relay-process.ts'

export const FORMS: readonly CredentialForm[] = ['basic', 'bearer', 'one header', 'two headers']

/** The headers of a key in one of the forms that clients use. */
export function credentialsAs(
  form: CredentialForm,
  { key, secret }: Pick<ApiKey, 'key' | 'secret'>,
): Record<string, string> {
  const both = `${key}:${secret}`
  switch (form) {
    case 'basic':
    case 'account':
      return { Authorization: `Basic ${btoa(both)}` }
    case 'bearer':
      return { Authorization: `Bearer ${both}` }
    case 'one header':
      return { 'X-API-Key': both }
    case 'two headers':
      return { 'X-API-Key': key, 'X-API-Secret': secret }
    case 'sb headers':
      return { 'sb-api-key-id': key, 'sb-api-secret-key': secret }
    case 'query':
      return {}
  }
}

/** The path and the headers of a call with a key in one of the forms that clients use. */
export function callAs(
  form: CredentialForm,
  made: Pick<ApiKey, 'key' | 'secret'>,
  path: string,
): { readonly path: string; readonly headers: Record<string, string> } {
  if (form !== 'query') return { path, headers: credentialsAs(form, made) }
  const password = encodeURIComponent(`${made.key}:${made.secret}`)
  return { path: `${path}${path.includes('?') ? '&' : '?'}password=${password}`, headers: {} }
}

/** A form that the API takes. */
export function formOf(name: string): CredentialForm {
  const form = COMPAT_APIS.find((api) => api.name === name)?.credentials[0]
  if (form === undefined) throw new Error(`${name} takes no credentials.`)
  return form
}

/** A good body of a send by each API. */
export const SENDS: Readonly<Record<string, (to: string, text: string) => object>> = {
  sms: (to, text) => ({ to, text }),
  'signal-cli': (to, text) => ({ recipients: [to], message: text }),
  bluebubbles: (to, text) => ({ chatGuid: `any;-;${to}`, message: text, addresses: [to] }),
  sendblue: (to, text) => ({ number: to, content: text }),
  twilio: (to, text) => ({ To: to, Body: text, MessagingServiceSid: `MG${'0'.repeat(32)}` }),
}

/** The paths of an API that send. */
export function sendPathsOf(api: CompatApi): readonly string[] {
  return routesOf(api)
    .filter(({ method }) => method === 'POST')
    .map(({ path }) => path)
}
