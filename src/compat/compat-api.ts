// A compatible API: an API of another product that programs already speak. It translates requests to the sends and
// reads of the relay's own API, and has no rule, table or queue of its own. A row in `apis.ts` adds it.

import type { OperationId } from '../api/operations.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import type { Scope } from '../domain/permissions.ts'
import type { EventName } from '../domain/webhook.ts'

export type CompatApi = {
  /** Its paths begin with `/compat/NAME`, and `keys create --for NAME` makes a key for it. */
  readonly name: string
  readonly title: string
  /** True if its routes also answer at the root, because a client of it can't have a path in the relay's address. */
  readonly isAtRoot: boolean
  readonly credentials: readonly CredentialForm[]
  /** The scopes that its calls need. A key that is made for it has them, unless the request names others. */
  readonly scopes: readonly Scope[]
  readonly bodyBytesMax: number
  readonly routes: Readonly<Record<CompatRoute, CompatHandler>>
  /** Operations of the relay's own API that are also below `/compat/NAME`, for a client that translates by itself. */
  readonly operations?: readonly OperationId[]
  /** True if AI agents send by it: then nothing is sent while a person answers the conversation. */
  readonly isForAgents?: true
  /** An error in the form that its clients read. */
  readonly refusal: (error: CompatError) => CompatAnswer
  /** The values to enter into the other program, by the names that it uses. */
  readonly connect: (made: MadeKey) => Readonly<Record<string, string>>
  /** The form of its webhooks, for a relay's webhook with this name as its `format`; null without one. */
  readonly webhook: WebhookFormat | null
}

export type WebhookFormat = {
  /** One sentence for the form in which a webhook is added. */
  readonly about: string
  /** The events that the form has. A webhook of this format can't have others. */
  readonly events: readonly EventName[]
  readonly contentType: string
  /** Makes the same bytes from the same event, because each attempt makes them again. */
  body(sent: SentEvent): string
  /** The headers by which its receivers know the sender, beside those of every webhook of the relay. */
  headers(signed: SignedBody): Readonly<Record<string, string>>
}

export type SentEvent = {
  /** The same in each attempt. */
  readonly id: string
  readonly webhookId: string
  readonly event: AnyEvent
  /** The time of the event: in milliseconds since 1970, and in ISO 8601. */
  readonly at: number
  readonly time: string
  /** The number of the event's line; null for a test event. */
  readonly line: string | null
}

export type SignedBody = {
  readonly url: string
  readonly body: string
  /** Unix seconds of the attempt. */
  readonly timestamp: number
  /** The webhook's newest secret, as its owner saw it. */
  readonly secret: string
}

export type CompatRoute = `${'GET' | 'POST'} /${string}`

/**
 * The forms in which clients send a key and its secret: `basic` as user and password, `bearer` as
 * `Bearer KEY:SECRET`, `one header` as `X-API-Key: KEY:SECRET`, `two headers` as the relay's own API has it.
 */
export type CredentialForm = 'basic' | 'bearer' | 'one header' | 'two headers'

export type CompatHandler = (call: CompatCall) => Promise<CompatAnswer>

export type CompatCall = {
  readonly params: Readonly<Record<string, string>>
  /** The fields of a body in JSON or of a form, over those of the query. */
  readonly fields: Fields
  readonly relay: CompatRelay
}

export type Fields = Readonly<Record<string, unknown>>

export type CompatAnswer = { readonly status: number; readonly body: object }

export type CompatError = {
  readonly status: number
  readonly code: string
  readonly message: string
}

/** The relay, with the rights of the request's key. Its calls throw RelayErrors. */
export type CompatRelay = {
  /** Accepts all messages in one transaction, or throws and sends none. */
  send(messages: readonly CompatMessage[]): Promise<readonly CompatState[]>
  state(messageId: string): Promise<CompatState>
  upload(file: CompatFile): Promise<string>
  /** The numbers of the lines that the key may use. */
  numbers(): readonly string[]
}

export type CompatMessage = {
  /** A number or an address as a person writes it; a national number is read in the country of the lines. */
  readonly to: string
  readonly text: string
  /** The number of the line to send by; without it, the relay chooses. */
  readonly from?: string | undefined
  readonly attachmentIds?: readonly string[]
  /** The client's own id of the request: two sends with the same id are one message. */
  readonly requestId?: string | undefined
}

/** A message, with the status that `GET /messages/:id` gives. */
export type CompatState = {
  readonly id: string
  readonly to: string
  readonly status: string
  /** Milliseconds since 1970. */
  readonly createdAtMs: number
  /** The reason of a failure, as a sentence; null without one. */
  readonly failure: string | null
}

export type CompatFile = {
  readonly bytes: Uint8Array
  readonly name: string
  readonly type: string | null
}

export type MadeKey = {
  /** The relay's address, without a path. */
  readonly url: string
  readonly key: string
  readonly secret: string
  readonly numbers: readonly string[]
}
