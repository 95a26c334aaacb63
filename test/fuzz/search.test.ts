// Queries made of whatever is hard to search for: each has an answer, and every message is found by its
// own words.

import { expect, test } from 'bun:test'

import { SCALE, SEED } from '../support/scale.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'

const QUERIES = 1_000 * SCALE
const MESSAGES = 60
const PERSON = '+12025550701'

const SIGNS =
  '" "" \' * ^ % _ \\ ;-- ( ) { : - + . | \u0001 NEAR(a words: rowid $q ?1 -- /* \u202E \uFEFF'
const LETTERS =
  '👍🏽 👨‍👩‍👧 🇩🇪 שלום مرحبا 日本語 한국 é e\u0301 \u0301 İ ß ﷺ ﬁ \uFFFF 𝔘 0701 (202) +1202 00 anna Miller a xy'
const WORDS = [
  ...`${SIGNS} ${LETTERS}`.split(' '),
  ' AND ',
  ' OR ',
  ' NOT ',
  ' ',
  '\t',
  '\u00A0',
  '\u2028',
]
/** NUL, broken UTF-8, lone surrogates, broken escapes, and 10,000 characters. */
const RAW = [
  ...'%00 %FF %F0%9F %ED%A0%80 %ED%B0%80 %C0%AF % %G0 + &q= %0A'.split(' '),
  'x'.repeat(10_000),
]

const textOf = (random: SeededRandom) =>
  Array.from({ length: 1 + random.below(8) }, () => random.of(WORDS)).join('')

async function furnished(random: SeededRandom) {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  const relay = await startRelay({ drivers: [driver] })
  const texts = Array.from({ length: MESSAGES }, (_, place) => `w${place}w ${textOf(random)}`)
  for (const [place, text] of texts.entries()) {
    if (place === MESSAGES / 2) await relay.clock.advance(60_000) // The index follows.
    expect((await relay.send({ to: PERSON, text })).status).toBe(200)
  }
  return { relay, texts }
}

const search = (relay: TestRelay, query: string) =>
  relay.request('GET', `/api/v1/search?q=${query}`)

test(
  `every message is found by its own words, and ${QUERIES} queries of any kind have an answer (seed ${SEED})`,
  async () => {
    const random = new SeededRandom(SEED)
    const { relay, texts } = await furnished(random)
    await using _ = relay

    const unfound: string[] = []
    for (const text of texts) {
      const { body } = await search(relay, encodeURIComponent(text))
      const found: readonly string[] = body.messages.map(
        ({ message }: { message: { text: string } }) => message.text,
      )
      if (!found.includes(text)) unfound.push(text)
    }
    expect(unfound).toEqual([])

    const faults: string[] = []
    for (let count = 0; count < QUERIES; count += 1) {
      const text = random.below(4) === 0 ? random.text(1 + random.below(300)) : textOf(random)
      const query = encodeURIComponent(text) + (random.below(4) === 0 ? random.of(RAW) : '')
      const path = random.below(2) === 0 ? '/api/v1/search' : '/api/v1/contacts'
      const { status } = await relay.request('GET', `${path}?q=${query}`)
      const isLong = text.length + (query.endsWith('x') ? 10_000 : 0) > 200 - 9
      const isBroken = /&q=$|%G0$|%$/.test(query)
      if (status !== 200 && !(status === 400 && (isLong || isBroken)))
        faults.push(`${status}: ${path} ${query}`)
    }
    expect(faults).toEqual([])
  },
  120_000 * SCALE,
)
