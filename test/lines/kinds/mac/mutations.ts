// Damage as disks, other programs and enemies do it to a typedstream.

import { decodeAttributedBody } from '../../../../src/lines/kinds/mac/attributed-body.ts'
import {
  ATTACHMENT_THEN_TEXT,
  BARE_STRING,
  bytesOf,
  ONE_RUN,
} from '../../../fixtures/typed-streams.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'
import { SeededRandom } from '../../../support/seeded-random.ts'

export const WHOLE = [
  ONE_RUN,
  ATTACHMENT_THEN_TEXT,
  BARE_STRING,
  encodeAttributedBody(''),
  encodeAttributedBody('\uFFFCa\uFFFCb', { attachments: ['at_0', 'at_2'] }),
  encodeAttributedBody('x'.repeat(300), { root: 'NSMutableString' }),
  encodeAttributedBody('\u{1F600} \u0623\u0647'),
]

/** What is put in place of how many bytes, at a place that chance says. */
type Change = { readonly cut: number; readonly piece: Uint8Array }

const CHANGES_MAX = 4
const NOTHING = new Uint8Array()
const TAGS = [0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x91, 0x92, 0x93]
/** What a reader may trip over. */
const PIECES = [
  bytesOf([0x84, 1, '@']),
  bytesOf([0x84, 1, '[']),
  bytesOf([0x84, 1, '{']),
  bytesOf([0x84, 12, '[9999999{?=}']),
  bytesOf([0x84, 10, '[99[99[99@']),
  bytesOf([0x84, 6, '{}{}{}']),
  bytesOf([0x84, 0x84, 0x84, 1, 'A', 0]),
  bytesOf([0x81, 0xff, 0xff]),
  bytesOf([0x82, 0xff, 0xff, 0xff, 0x7f]),
  bytesOf([0x87, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  bytesOf([0x92, 0x92]),
]

const CHANGES: readonly ((random: SeededRandom, bytes: Uint8Array) => Change)[] = [
  (random) => ({ cut: 1, piece: Uint8Array.of(random.below(256)) }),
  (random) => ({ cut: random.below(2), piece: Uint8Array.of(random.of(TAGS)) }),
  (random) => {
    const piece = random.of(PIECES)
    return { cut: piece.length * random.below(2), piece }
  },
  (random) => ({ cut: 1 + random.below(8), piece: NOTHING }),
  (random, bytes) => {
    const from = random.below(bytes.length)
    return { cut: 0, piece: bytes.subarray(from, from + 1 + random.below(64)) }
  },
  (random, bytes) => ({ cut: random.below(4) === 0 ? bytes.length : 0, piece: NOTHING }),
]

/** `stream` with one to four changes. */
function mutated(stream: Uint8Array, random: SeededRandom): Uint8Array {
  let bytes = stream
  for (let left = 1 + random.below(CHANGES_MAX); left > 0; left -= 1) {
    const at = random.below(bytes.length + 1)
    const { cut, piece } = random.of(CHANGES)(random, bytes)
    bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + cut)])
  }
  return bytes
}

/** Why whole streams are refused once they are damaged, without the place, of `count` of them. */
export function problemsOfDamaged(count: number, seed: number): ReadonlySet<string> {
  const random = new SeededRandom(seed)
  const problems = new Set<string>()
  for (let left = count; left > 0; left -= 1) {
    const body = decodeAttributedBody(mutated(random.of(WHOLE), random))
    if (!body.ok) problems.add(body.problem.replace(/, at byte.*/, ''))
  }
  return problems
}
