// All operations by their ids, and the types of a call.

import type { AnswerOf, BodyOf, Callers, Operation, ParamsOf, QueryOf } from './operation.ts'
import { ALERTS } from './operations/alerts.ts'
import { ATTACHMENTS } from './operations/attachments.ts'
import { CONTACTS } from './operations/contacts.ts'
import { CONTROL } from './operations/control.ts'
import { CONVERSATIONS } from './operations/conversations.ts'
import { DASHBOARD } from './operations/dashboard.ts'
import { EVENTS } from './operations/events.ts'
import { BRIDGES, KEYS } from './operations/keys.ts'
import { MESSAGES } from './operations/messages.ts'
import { OWNER } from './operations/owner.ts'
import { PHONE_LINES } from './operations/phone-lines.ts'
import { SERVICE } from './operations/service.ts'
import { SHORTCUTS } from './operations/shortcuts.ts'
import { SITES } from './operations/sites.ts'
import { WEBHOOKS } from './operations/webhooks.ts'

export const OPERATIONS = {
  ...MESSAGES,
  ...ATTACHMENTS,
  ...CONVERSATIONS,
  ...CONTACTS,
  ...PHONE_LINES,
  ...SITES,
  ...EVENTS,
  ...WEBHOOKS,
  ...KEYS,
  ...BRIDGES,
  ...SERVICE,
  ...ALERTS,
  ...SHORTCUTS,
  ...OWNER,
  ...CONTROL,
  ...DASHBOARD,
}

type Operations = typeof OPERATIONS

export type OperationId = keyof Operations

export type IdFor<C extends Callers> = {
  [Id in OperationId]: Operations[Id]['callers'] extends C ? Id : never
}[OperationId]

export type Answer<Id extends OperationId> = AnswerOf<Operations[Id]>

/** The fields of a call. `Value` is the type of query values: text, unless the client converts others. */
export type CallOf<O extends Operation, Value = string | undefined> = ParamsPart<O> &
  BodyPart<O> & {
    readonly query?: { readonly [Name in keyof QueryOf<O>]?: Value | undefined } | undefined
    readonly headers?: Readonly<Record<string, string>> | undefined
  }

type ParamsPart<O extends Operation> = keyof ParamsOf<O> extends never
  ? { readonly params?: undefined }
  : { readonly params: ParamsOf<O> }

type BodyPart<O extends Operation> =
  BodyOf<O> extends undefined
    ? { readonly body?: undefined }
    : O extends { readonly isBodyOptional: true }
      ? { readonly body?: Given<BodyOf<O>> | undefined }
      : { readonly body: Given<BodyOf<O>> }

/** The value that a client sends. JSON leaves out fields that are undefined. */
type Given<T> = T extends readonly (infer Each)[]
  ? readonly Given<Each>[]
  : T extends object
    ? { readonly [Name in keyof T]: Given<T[Name]> | undefined }
    : T

export type Call<Id extends OperationId, Value = string | undefined> = CallOf<Operations[Id], Value>

/** The arguments of a call: none are needed if all fields are optional. */
export type ArgumentsOf<C> = object extends C ? [call?: C] : [call: C]
