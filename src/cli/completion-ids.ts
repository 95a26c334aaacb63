// Ids with their names from the lists of the running relay: shell completion offers them, and names mean them.

import type { CallArguments } from '../api/client.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import { groupedNumber } from '../domain/handle.ts'
import { webhookName } from '../domain/webhook-url.ts'

/** Calls an operation of the running relay. */
type Ask = <Id extends OperationId>(id: Id, ...call: CallArguments<Id>) => Promise<Answer<Id>>

/** `names` are all the names that a person may write in place of the id; `name` is shown beside it. */
export type NamedId = {
  readonly id: string
  readonly name: string
  readonly names?: readonly string[]
}

type ReadIds = (ask: Ask, limit: number) => Promise<readonly NamedId[]>

/** By the kinds of ids that arguments and options of commands take. */
export const COMPLETION_IDS = {
  keys: async (ask, limit) => {
    const { data } = await ask('listKeys', listed(limit))
    return unrevoked(data).map((key) => named(key.id, key.name, key.key_hint))
  },
  bridges: async (ask, limit) => {
    const { data } = await ask('listBridges', listed(limit))
    return unrevoked(data).map(({ id, label, phone_number }) =>
      named(id, label, groupedNumber(phone_number)),
    )
  },
  lines: async (ask) => {
    const { data } = await ask('listPhoneLines')
    return data.map(({ id, label, phone_number }) => named(id, label, groupedNumber(phone_number)))
  },
  sites: async (ask) => (await ask('listSites')).data,
  boxes: async (ask) => {
    const { data } = await ask('listBoxes')
    return data.map(({ name, id, status }) => ({ id: name, name: `${status}, ${id}` }))
  },
  webhooks: async (ask, limit) => {
    const { data } = await ask('listWebhooks', listed(limit))
    return data.map(({ id, description, url }) =>
      named(id, description, url, URL.canParse(url) ? webhookName({ url, description }) : null),
    )
  },
  alert_channels: async (ask) => {
    const { data } = await ask('listAlertChannels')
    return data.map(({ id, name, to, url }) => named(id, name, to, url))
  },
  members: async (ask) => (await ask('listMembers')).data,
  deliveries: failedDeliveries,
  messages: (ask, limit) => newestMessages(ask, limit),
  approvals: (ask, limit) => newestMessages(ask, limit, { queued_reason: 'approval' }),
  uncertain: (ask, limit) => newestMessages(ask, limit, { status: 'uncertain' }),
  conversations: async (ask, limit) => {
    const { data } = await ask('listConversations', {
      query: { ...listed(limit).query, type: 'all' },
    })
    return data.map(({ id, name, contact_name, handle }) =>
      named(id, name ?? null, contact_name ?? null, groupedNumber(handle)),
    )
  },
} as const satisfies Readonly<Record<string, ReadIds>>

export type IdKind = keyof typeof COMPLETION_IDS

/** At most `limit` of each list that is read. */
export function namedIds(
  client: { readonly ask: Ask },
  kind: IdKind,
  limit: number,
): Promise<readonly NamedId[]> {
  const read: ReadIds = COMPLETION_IDS[kind]
  return read((id, ...call) => client.ask(id, ...call), limit)
}

/** Candidates for `webhooks redeliver`. */
async function failedDeliveries(ask: Ask, limit: number): Promise<readonly NamedId[]> {
  const { data: webhooks } = await ask('listWebhooks', { query: { limit: '10' } })
  const query = { ...listed(limit).query, status: 'exhausted' }
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
  limit: number,
  filter: { readonly queued_reason?: string; readonly status?: string } = {},
): Promise<readonly NamedId[]> {
  const query = { ...listed(limit).query, type: 'all', ...filter }
  const { data } = await ask('listMessages', { query })
  return data.map(({ id, handle, status }) => named(id, `${status} ${groupedNumber(handle)}`))
}

function unrevoked<T extends { readonly revoked_at: string | null }>(rows: readonly T[]) {
  return rows.filter(({ revoked_at }) => revoked_at === null)
}

function listed(limit: number) {
  return { query: { limit: String(limit) } }
}

/** Leaves out empty names, and control characters. */
function named(id: string, ...names: readonly (string | null)[]): NamedId {
  const plain = names.flatMap((one) => (one ? [one.replaceAll(/\p{Cc}+/gu, ' ')] : []))
  return { id, name: plain[0] ?? '', names: plain }
}
