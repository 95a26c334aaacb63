// A compatible API: an API of another product that programs already speak. It translates requests to the sends and
// reads of the relay's own API, and has no rule, table or queue of its own. A row in `apis.ts` adds it.

import type { Message } from '../api/messages.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import type { AnyEvent, Webhook } from '../api/webhooks.ts'
import type { KeyId } from '../domain/ids.ts'
import type { Scope } from '../domain/permissions.ts'
import type { EventName } from '../domain/webhook.ts'

export type CompatApi = {
  /** Its paths begin with `/compat/NAME`, and `keys create --for NAME` makes a key for it. */
  readonly name: string
  readonly title: string
  /** True if its routes also answer at the root, because some client can't use a base URL with a path. */
  readonly isAtRoot: boolean
  readonly credentials: readonly CredentialForm[]
  /** Makes keys and secrets in this API's own form, if its clients need one. The relay signs with the secret. */
  readonly account?: (keyId: KeyId, random: Uint8Array) => Account
  /** The scopes that its calls need. A key that is made for it has them, unless the request names others. */
  readonly scopes: readonly Scope[]
  readonly bodyBytesMax: number
  readonly routes: Readonly<Record<CompatRoute, CompatHandler>>
  /** Operations of the relay's own API that also answer below `/compat/NAME`, for a client that translates itself. */
  readonly operations?: readonly OperationId[]
  /** True if AI agents send by this API: nothing is then sent while a person answers the conversation. */
  readonly isForAgents?: true
  /** True if a send is answered as soon as it is accepted. Otherwise the answer waits some seconds for the line. */
  readonly answersAtOnce?: true
  /** An error in the format that its clients read. */
  readonly refusal: (error: CompatError) => CompatAnswer
  /** The values to enter into the other program, by the names that it uses. */
  readonly connect: (made: MadeKey) => Readonly<Record<string, string>>
  /** Its webhook format, which a webhook selects by this API's name as `format`; null if it has none. */
  readonly webhook: WebhookFormat | null
}

export type Account = { readonly key: string; readonly secret: string }

export type WebhookFormat = {
  /** One sentence for the dialog that adds a webhook. */
  readonly about: string
  /** The events that this format supports. A webhook with this format can't have others. */
  readonly events: readonly EventName[]
  /** False for an event that the format can't express: it isn't sent. If left out, all of `events` can be. */
  says?(event: AnyEvent): boolean
  readonly contentType: string
  /** Must return the same bytes for the same event, because each attempt calls it again. */
  body(sent: SentEvent): string
  /** Headers by which receivers recognize the sender, in addition to those of every webhook. */
  headers(signed: BodyToSign): Readonly<Record<string, string>>
  /** The URL to post to, for receivers that recognize the sender by a secret in it. */
  target?(url: string, secret: string): string
  /** True if an account's secret signs it, so that each webhook belongs to a key. */
  readonly hasAccount?: true
  /** The replies in a receiver's response to a received message. */
  repliesIn?(answer: string): Promise<readonly CompatReply[]>
}

export type CompatReply = {
  readonly text: string
  readonly mediaUrls: readonly string[]
  /** The recipient; null for the sender of the received message. */
  readonly to: string | null
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
  /** The key of the webhook's account; empty if it has none. */
  readonly account: string
  /** The relay's address, without a path. */
  readonly relay: string
}

/** The body of a webhook's post, for which `headers` makes the signature. */
export type BodyToSign = {
  readonly id: string
  readonly url: string
  readonly body: string
  /** Unix seconds of the attempt. */
  readonly timestamp: number
  /** The webhook's newest secret, as its owner saw it. */
  readonly secret: string
  /** The secret of the webhook's account; empty if it has none. */
  readonly token: string
}

export type CompatRoute = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/**
 * The forms in which clients send a key and its secret: `basic` as user and password, `bearer` as
 * `Bearer KEY:SECRET`, `one header` as `X-API-Key: KEY:SECRET`, `two headers` as the relay's own API has it, `account`
 * as `basic` with the id and the token of an account, `sb headers` as Sendblue has it, `query` as
 * `?password=KEY:SECRET`, for clients that can do nothing else.
 */
export type CredentialForm =
  | 'basic'
  | 'bearer'
  | 'one header'
  | 'two headers'
  | 'account'
  | 'sb headers'
  | 'query'

export type CompatHandler = (call: CompatCall) => Promise<CompatAnswer | Response>

export type CompatCall = {
  readonly params: Readonly<Record<string, string>>
  /** The fields of a body in JSON or of a form, over those of the query. */
  readonly fields: Fields
  readonly relay: CompatRelay
  /** The secret of the key, as the client sent it. */
  readonly secret: string
}

export type Fields = Readonly<Record<string, unknown>>

export type CompatAnswer = { readonly status: number; readonly body: object }

export type CompatError = {
  readonly status: number
  readonly code: string
  readonly message: string
  /** The field of the relay's own API that is wrong; empty if the error is about no field. */
  readonly path: string
}

/** The relay, with the rights of the request's key. Its calls throw RelayErrors. */
export type CompatRelay = {
  /** Accepts all messages in one transaction, or throws and sends none. */
  send(messages: readonly CompatMessage[]): Promise<readonly CompatState[]>
  state(messageId: string): Promise<CompatState>
  /** `requestId` is as in a message. */
  upload(file: CompatFile, requestId?: string): Promise<string>
  /** The webhooks in the form of the API that this key made, or one that it replaced. */
  webhooks(): Promise<readonly Webhook[]>
  /** Makes a webhook; or gives the one that the key has at this address, with the secret that is asked for. */
  subscribe(asked: CompatSubscription): Promise<Webhook>
  /** The id of the line with a number. Throws `phone_line_not_found` if the key has none. */
  lineWith(number: string): string
  /** The key itself, without its secret. */
  readonly key: string
  /** The lines that the key may use. */
  readonly lines: readonly { readonly id: string; readonly number: string }[]
  /** Calls an operation of the relay's own API. */
  call<Id extends OperationId>(id: Id, given: CompatArguments): Promise<Answer<Id>>
  /** The bytes of a file. */
  download(attachmentId: string): Promise<Response>
}

export type CompatArguments = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
}

export type CompatSubscription = {
  readonly url: string
  readonly events: readonly EventName[]
  /** The secret that the client chose; without it, the relay makes one. */
  readonly secret?: string | undefined
  /** Events have an address for each file, if the key may read files. */
  readonly hasFileLinks?: boolean
}

export type CompatMessage = {
  /**
   * A number or an address as a person writes it, or a conversation. A national number is read in the country of the
   * lines.
   */
  readonly to: string | { readonly conversationId: string }
  readonly text: string
  /** The number of the line to send by; without it, the relay chooses. */
  readonly from?: string | undefined
  readonly attachmentIds?: readonly string[]
  /** Files that the relay fetches before it accepts the message. */
  readonly mediaUrls?: readonly string[]
  /** The earliest time to send it, in ISO 8601. */
  readonly sendAt?: string | undefined
  /** Gets the events of this message in the form of the API's webhooks. */
  readonly callbackUrl?: string | undefined
  /** The id of the message that it replies to. A line that can't reply sends it plainly. */
  readonly replyTo?: string | undefined
  /** The client's own id of the request: two sends with the same id are one message. */
  readonly requestId?: string | undefined
}

/** A message, with the status of `statusOf`. */
export type CompatState = {
  readonly id: string
  readonly to: string
  readonly status: string
  /** Milliseconds since 1970. */
  readonly createdAtMs: number
  /** The reason of a failure, as a sentence; null without one. */
  readonly failure: string | null
  readonly message: Message
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
