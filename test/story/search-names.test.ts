// Names as they are typed on keyboards that lack their letters, on data of this version and of the one before.

import { expect, test } from 'bun:test'

import { folded } from '../../src/domain/search-text.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { text } from './opt-outs-stage.ts'

const NAMES: readonly (readonly [name: string, typed: readonly string[]])[] = [
  ['Søren Kjærgaard', ['soren', 'kjaer', 'Søren', 'KJÆR', 'so']],
  ['Jürgen Weiß', ['weiss', 'WEISS', 'weiß', 'jurgen']],
  ['Siobhán O’Connor', ["o'connor", 'O’Connor', 'oʼconn']],
  ['Łukasz Đorđević', ['lukasz', 'dordevic', 'łukasz']],
  ['Þóra Guðmundsdóttir', ['thora', 'gudmund']],
  ['Ayşe Işık', ['isik', 'ayse']],
  ['Ġorġ Ħarb', ['harb', 'gorg']],
  ['Zoë Œuvre–Dvořák', ['oeuvre', 'uvre-dvo', 'dvorak']],
]

const found = async (relay: ScriptedRelay, query: string): Promise<Json> =>
  relay.get(`/api/v1/search?q=${encodeURIComponent(query)}`)

test('people and messages are found by the usual letters of their names, and with them', async () => {
  await using relay = await startScripted()
  for (const [place, [name]] of NAMES.entries()) {
    await relay.put(`/api/v1/contacts/%2B120255507${place + 10}`, { name })
    await text(relay, `Regards, ${name}!`, {})
  }

  await expectAll(relay)
  // The index has all of them by now.
  await relay.clock.advance(60_000)
  await expectAll(relay)
})

async function expectAll(relay: ScriptedRelay): Promise<void> {
  for (const [name, queries] of NAMES) {
    for (const query of queries) {
      const { people, messages } = await found(relay, query)
      expect([query, people.map((each: Json) => each.name)]).toEqual([query, [name]])
      if (query.length < 3) continue
      expect([query, messages.length]).toEqual([query, 1])
      const { text: shown, ranges } = messages[0].excerpt
      const { offset, length } = ranges[0]
      const marked = Array.from(String(shown)).slice(offset, offset + length)
      expect(folded(marked.join(''))).toBe(folded(query))
    }
  }
}
