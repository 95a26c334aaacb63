// Every kind of row that Messages writes, through the whole relay, on the databases of the first and the last
// macOS: what is announced, what is kept as history, what is counted. Each row is from another person. What
// each database says of a row is in test/lines/kinds/mac/chat-db-schemas.test.ts; how rows of our own sends
// are found is in sending.test.ts there.

import { expect, test } from 'bun:test'

import { SCHEMAS, type SchemaName } from '../support/mac/chat-db-schemas.ts'
import { ROW_KINDS } from '../support/mac/row-kinds.ts'
import type { RowKind } from '../support/mac/row-writers.ts'
import type { Json, TestRelay } from '../support/test-relay.ts'
import { MacBox } from './mac-relay.ts'

for (const schema of ['macos12', 'macos27'] as const) {
  test(`${schema}: each row is announced, kept or counted, and none is announcements as what it is not`, async () => {
    using box = new MacBox(schema)
    const { relay } = await box.start()
    await using _ = relay
    await relay.clock.advance(1_000)
    const kinds = kindsOf(schema)

    const later: { ms: number; act: () => void }[] = []
    const after = (ms: number, act: () => void) => void later.push({ ms, act })
    const { file } = box.model
    for (const [index, [, kind]] of kinds.entries()) {
      kind.write({ file, from: personOf(index), at: relay.clock.now(), after })
    }
    for (const ms of [1_000, 12_000]) {
      await relay.clock.advance(ms === 1_000 ? ms : 11_000)
      for (const one of later) if (one.ms === ms) one.act()
    }
    await relay.clock.advance(65_000)

    const announcements = await announcementsOf(relay)
    const found = kinds.map(([name, { handle }], index) => [
      name,
      announcements.get(handle ?? personOf(index)),
    ])
    expect(found).toEqual(kinds.map(([name, kind]) => [name, kind.expected]))
    expect(await countsOf(relay)).toEqual(tally(kinds.flatMap(([, { counts }]) => counts ?? [])))
    const services = (await listed(relay)).map(({ service }) => service)
    expect(services).toHaveLength(
      kinds.filter(([, { expected: text }]) => text !== undefined).length,
    )
    expect(new Set(services)).toEqual(
      new Set(['iMessage', 'SMS', 'RCS', 'iMessageLite', 'Telegraph']),
    )
  })
}

function kindsOf(schema: SchemaName): readonly (readonly [string, RowKind])[] {
  const place = SCHEMAS.indexOf(schema)
  return Object.entries(ROW_KINDS).filter(
    ([, { since }]) => SCHEMAS.indexOf(since ?? 'macos12') <= place,
  )
}

function personOf(index: number): string {
  return `+1555200${1_000 + index}`
}

async function listed(relay: TestRelay): Promise<readonly Json[]> {
  return (await relay.get('/api/v1/messages?limit=200')).data
}

/** By handle, each message with whether it was announced. */
async function announcementsOf(relay: TestRelay): Promise<ReadonlyMap<string, string>> {
  const announced = new Set(relay.events().map(({ messageId }) => messageId))
  const messages = await listed(relay)
  return new Map(
    messages.map(({ id, handle, text }) => {
      return [handle, `${announced.has(id) ? 'announced' : 'kept'}: ${text}`]
    }),
  )
}

async function countsOf(relay: TestRelay): Promise<Readonly<Record<string, number>>> {
  const [line] = await relay.lines()
  return Object.fromEntries(line.not_relayed.map(({ kind, count }: Json) => [kind, count]))
}

function tally(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
