import { expect, test } from 'bun:test'

import { systemRandom } from '../../src/system/random.ts'
import { createSeal } from '../../src/system/seal.ts'

const key = new Uint8Array(32).fill(1)
const secret = new TextEncoder().encode('a signing secret')

test('what is sealed opens again, and looks different every time', () => {
  const seal = createSeal(key, systemRandom)

  const [first, second] = [seal.seal(secret, 'wh_1'), seal.seal(secret, 'wh_1')]

  expect(first).not.toEqual(second)
  expect(Buffer.from(first).includes('signing')).toBeFalse()
  expect(new Uint8Array(seal.open(first, 'wh_1') ?? [])).toEqual(secret)
  expect(new Uint8Array(seal.open(second, 'wh_1') ?? [])).toEqual(secret)
})

test('another key, another owner or one changed bit opens nothing, and a key has 32 bytes', () => {
  const seal = createSeal(key, systemRandom)
  const sealed = seal.seal(secret, 'wh_1')
  const changed = Uint8Array.from(sealed)
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1

  const opened = [
    createSeal(new Uint8Array(32).fill(2), systemRandom).open(sealed, 'wh_1'),
    seal.open(sealed, 'wh_2'),
    seal.open(changed, 'wh_1'),
    seal.open(sealed.subarray(0, 20), 'wh_1'),
    seal.open(new Uint8Array(), 'wh_1'),
  ]

  expect(opened).toEqual([null, null, null, null, null])
  expect(() => createSeal(new Uint8Array(16), systemRandom)).toThrow('32 bytes')
})
