// The ids that shell completion offers, from the lists of the running relay.

import type { CallArguments } from '../api/client.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import { groupedNumber } from '../domain/handle.ts'

/** Calls an operation of the running relay. */
type Ask = <Id extends OperationId>(id: Id, ...call: CallArguments<Id>) => Promise<Answer<Id>>

export type NamedId = { readonly id: string; readonly name: string }

type ReadIds = (ask: Ask) => Promise<readonly NamedId[]>

const LISTED = { query: { limit: '50' } }

/** By the kinds of ids that arguments and options of commands take. */
export const COMPLETION_IDS = {
  keys: async (ask) => {
    const { data } = await ask('listKeys', LISTED)
    return unrevoked(data).map((key) => named(key.id, key.name, key.key_hint))
  },
  bridges: async (ask) => {
    const { data } = await ask('listBridges', LISTED)
    return unrevoked(data).map(({ id, label, phone_number }) =>
      named(id, label, groupedNumber(phone_number)),
    )
  },
  lines: async (ask) => {
    const { data } = await ask('listPhoneLines')
    return data.map(({ id, label, phone_number }) => named(id, label, groupedNumber(phone_number)))
  },
  boxes: async (ask) => {
    const { data } = await ask('listBoxes')
    return data.map(({ name, id, status }) => ({ id: name, name: `${status}, ${id}` }))
  },
  webhooks: async (ask) => {
    const { data } = await ask('listWebhooks', LISTED)
    return data.map(({ id, description, url }) => named(id, description, url))
  },
  members: async (ask) => (await ask('listMembers')).data,
  deliveries: failedDeliveries,
  messages: (ask) => newestMessages(ask),
  approvals: (ask) => newestMessages(ask, { queued_reason: 'approval' }),
  uncertain: (ask) => newestMessages(ask, { status: 'uncertain' }),
  conversations: async (ask) => {
    const { data } = await ask('listConversations', { query: { ...LISTED.query, type: 'all' } })
    return data.map(({ id, name, contact_name, handle }) =>
      named(id, name ?? null, contact_name ?? null, groupedNumber(handle)),
    )
  },
} as const satisfies Readonly<Record<string, ReadIds>>

export type IdKind = keyof typeof COMPLETION_IDS

/** Candidates for `webhooks redeliver`. */
async function failedDeliveries(ask: Ask): Promise<readonly NamedId[]> {
  const { data: webhooks } = await ask('listWebhooks', { query: { limit: '10' } })
  const query = { ...LISTED.query, status: 'exhausted' }
  const lists = await Promise.all(
    webhooks.map(async ({ id, description, url }) => {
      const { data } = await ask('listWebhookDeliveries', { params: { id }, query })
      const { name } = named(id, description, url)
      return data.map((delivery) => ({ id: delivery.id, name: `${delivery.event} to ${name}` }))
    }),
  )
  return lists.flat()
}

async function newestMessages(
  ask: Ask,
  filter: { readonly queued_reason?: string; readonly status?: string } = {},
): Promise<readonly NamedId[]> {
  const query = { ...LISTED.query, type: 'all', ...filter }
  const { data } = await ask('listMessages', { query })
  return data.map(({ id, handle, status }) => named(id, `${status} ${groupedNumber(handle)}`))
}

function unrevoked<T extends { readonly revoked_at: string | null }>(rows: readonly T[]) {
  return rows.filter(({ revoked_at }) => revoked_at === null)
}

/** Takes the first name that isn't empty, without control characters. */
function named(id: string, ...names: readonly (string | null)[]): NamedId {
  const name = names.find((one) => one !== null && one !== '') ?? ''
  return { id, name: name.replaceAll(/\p{Cc}+/gu, ' ') }
}
