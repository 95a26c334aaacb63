// Twilio's webhooks, as a receiver checks them.

import { createHmac } from 'node:crypto'

type Posted = { readonly url: string; readonly body: string }

export function parametersOf({ body }: Pick<Posted, 'body'>): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(body))
}

/** The signature that Twilio's libraries expect. */
export function signatureFor({ url, body }: Pick<Posted, 'url' | 'body'>, token: string): string {
  const parameters = parametersOf({ body })
  const text = Object.keys(parameters)
    .sort()
    .map((name) => name + parameters[name])
    .join('')
  return createHmac('sha1', token)
    .update(new URL(url).href + text)
    .digest('base64')
}
