// Ids and names from the running relay's lists: shell completion offers the ids, and commands accept the names instead.

import type { CallArguments } from '../api/client.ts'
import type { Answer, OperationId } from '../api/operations.ts'
import { groupedNumber } from '../domain/handle.ts'
import { filledPage } from '../domain/pages.ts'
import { webhookName } from '../domain/webhook-url.ts'

/** The most entries of a page of the API. */
const PAGE_MAX = 200

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
    const data = await listed(limit, (query) => ask('listKeys', { query }))
    return unrevoked(data).map((key) => named(key.id, key.name, key.key_hint))
  },
  bridges: async (ask, limit) => {
    const data = await listed(limit, (query) => ask('listBridges', { query }))
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
    const data = await listed(limit, (query) => ask('listWebhooks', { query }))
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
    const data = await listed(limit, (query) =>
      ask('listConversations', { query: { ...query, type: 'all' } }),
    )
    return data.map(({ id, name, contact_name, handle }) =>
      named(id, name ?? null, contact_name ?? null, groupedNumber(handle)),
    )
  },
} as const satisfies Readonly<Record<string, ReadIds>>

export type IdKind = keyof typeof COMPLETION_IDS

/** At most `limit` of each list that is read. */
export function namedIds(client: { readonly ask: Ask }, kind: IdKind, limit: number) {
  const read: ReadIds = COMPLETION_IDS[kind]
  return read((id, ...call) => client.ask(id, ...call), limit)
}

/** Candidates for `webhooks redeliver`. */
async function failedDeliveries(ask: Ask, limit: number): Promise<readonly NamedId[]> {
  const { data: webhooks } = await ask('listWebhooks', { query: { limit: '10' } })
  const lists = await Promise.all(
    webhooks.map(async ({ id, description, url }) => {
      const data = await listed(limit, (query) =>
        ask('listWebhookDeliveries', { params: { id }, query: { ...query, status: 'exhausted' } }),
      )
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
  const data = await listed(limit, (query) =>
    ask('listMessages', { query: { ...query, type: 'all', ...filter } }),
  )
  return data.map(({ id, handle, status }) => named(id, `${status} ${groupedNumber(handle)}`))
}

function unrevoked<T extends { readonly revoked_at: string | null }>(rows: readonly T[]) {
  return rows.filter(({ revoked_at }) => revoked_at === null)
}

/** The first entries of a list, page by page. */
async function listed<T>(
  limit: number,
  read: (query: { readonly limit: string; readonly cursor?: string }) => Promise<{
    readonly data: readonly T[]
  }>,
): Promise<readonly T[]> {
  const page = (left: number) => ({ limit: String(Math.min(left, PAGE_MAX)) })
  const all = await filledPage(await read(page(limit)), limit, (cursor, left) =>
    read({ ...page(left), cursor }),
  )
  return all.data
}

/** Leaves out empty names, and control characters. */
function named(id: string, ...names: readonly (string | null)[]): NamedId {
  const plain = names.flatMap((one) => (one ? [one.replaceAll(/\p{Cc}+/gu, ' ')] : []))
  return { id, name: plain[0] ?? '', names: plain }
}
