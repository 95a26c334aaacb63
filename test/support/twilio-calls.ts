// Calls of Twilio's API on a relay in this process.

import { keyFor, type Made } from './compat-calls.ts'
import type { ScriptedRelay } from './scripted-relay.ts'
import type { Json } from './test-relay.ts'
import { answered } from './webhook-sink.ts'

export type Account = { readonly made: Made; readonly sid: string; readonly path: string }

export async function accountOn(relay: ScriptedRelay, more: object = {}): Promise<Account> {
  const made = await keyFor(relay, 'twilio', more)
  const sid = made.key
  return { made, sid, path: `/2010-04-01/Accounts/${sid}` }
}

type Parameters = Readonly<Record<string, string | readonly string[]>>

/** A call with the account's credentials; `parameters` make it a POST of a form. */
export async function ask(
  relay: ScriptedRelay,
  { made, path }: Account,
  rest: string,
  parameters?: Parameters,
): Promise<{ readonly status: number; readonly body: Json }> {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters ?? {})) {
    for (const each of [value].flat()) form.append(name, each)
  }
  const response = await relay.fetch(rest.startsWith('/2010') ? rest : path + rest, {
    method: parameters === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Basic ${btoa(`${made.key}:${made.secret}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    ...(parameters === undefined ? {} : { body: form.toString() }),
  })
  return { status: response.status, body: await response.json() }
}

/** Sends by any line. */
export const create = (relay: ScriptedRelay, account: Account, parameters: Parameters) =>
  ask(relay, account, '/Messages.json', {
    MessagingServiceSid: `MG${'0'.repeat(32)}`,
    ...parameters,
  })

/** An answer of a receiver with replies. */
export function twiml(...messages: readonly string[]) {
  const document = `<?xml version="1.0" encoding="UTF-8"?><Response>${messages
    .map((message) => `<Message>${message}</Message>`)
    .join('')}</Response>`
  return { ...answered(200), document } as const
}
