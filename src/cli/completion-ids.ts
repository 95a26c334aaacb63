// What the completions of a shell ask for when an id comes next: ids with the names of what they are of.

import { systemClock, within } from '../system/clock.ts'
import { rowsOf, textOf, type Row } from './answers.ts'
import { EXIT, argument, type Call, type Command, type IdKind } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { runningRelay } from './own-file.ts'

/** Who pressed Tab waits, and would rather type on than wait longer. */
const PATIENCE_MS = 1_000
/** More than anybody chooses from. */
const LISTED_MAX = 50
const WEBHOOKS_MAX = 10

type Named = { readonly id: string; readonly name: string }

const LISTS: Readonly<Record<IdKind, (ask: Ask) => Promise<readonly Named[]>>> = {
  keys: async (ask) => living(await ask(`/keys?limit=${LISTED_MAX}`), ['name', 'key_hint']),
  bridges: async (ask) =>
    living(await ask(`/bridges?limit=${LISTED_MAX}`), ['label', 'phone_number']),
  lines: async (ask) => named(await ask('/phone-lines'), ['label', 'phone_number']),
  webhooks: async (ask) => named(await ask(`/webhooks?limit=${LISTED_MAX}`), WEBHOOK_NAMES),
  deliveries: failedDeliveries,
  messages: async (ask) =>
    named(await ask(`/messages?status=uncertain&limit=${LISTED_MAX}`), ['handle']),
}
const WEBHOOK_NAMES = ['description', 'url']

export const COMPLETION_IDS_COMMAND: Command = {
  name: 'completion-ids',
  args: [{ name: 'KIND', choices: Object.keys(LISTS) }],
  options: [],
  sentence: 'Print the ids that can come next, each with a name.',
  async run(call) {
    const found = await within(systemClock, PATIENCE_MS, idsOf(call), []).catch(() => [])
    const lines = found.map(({ id, name }) => `${id}\t${name}`)
    call.out.data({ data: found }, lines)
    return EXIT.ok
  },
}

type Ask = (path: string) => Promise<readonly Row[]>

async function idsOf(call: Call): Promise<readonly Named[]> {
  const client = await runningRelay(call)
  const kind = argument(call, 0) as IdKind // The parser lets no other word through.
  return LISTS[kind](asking(client))
}

function asking(client: ControlClient): Ask {
  return async (path) => rowsOf((await client.ask('GET', path)).body)
}

/** Those that were given up, which are what one delivers again. */
async function failedDeliveries(ask: Ask): Promise<readonly Named[]> {
  const webhooks = await ask(`/webhooks?limit=${WEBHOOKS_MAX}`)
  const lists = await Promise.all(
    webhooks.map(async (webhook) => {
      const path = `/webhooks/${textOf(webhook, 'id')}/deliveries`
      const rows = await ask(`${path}?status=exhausted&limit=${LISTED_MAX}`)
      const of = nameIn(webhook, WEBHOOK_NAMES)
      return rows.map((row) => ({
        id: textOf(row, 'id'),
        name: `${textOf(row, 'event')} to ${of}`,
      }))
    }),
  )
  return lists.flat()
}

function living(rows: readonly Row[], names: readonly string[]): readonly Named[] {
  return named(
    rows.filter((row) => row['revoked_at'] === null),
    names,
  )
}

function named(rows: readonly Row[], names: readonly string[]): readonly Named[] {
  return rows.map((row) => ({ id: textOf(row, 'id'), name: nameIn(row, names) }))
}

/** The first of these fields that says something, in one line that cannot steer the terminal. */
function nameIn(row: Row, names: readonly string[]): string {
  const text = names.map((name) => textOf(row, name)).find((one) => one !== '') ?? ''
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
