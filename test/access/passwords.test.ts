import { expect, test } from 'bun:test'

import { Passwords, requireFit } from '../../src/access/passwords.ts'
import { argon2id } from '../../src/system/password-hash.ts'
import { settle } from '../support/test-clock.ts'
import { PlainHash } from './access-rig.ts'

test('a password is kept as argon2id with 64 MiB, two passes and a salt of its own', async () => {
  const hash = await argon2id.make('correct horse')
  const another = await argon2id.make('correct horse')

  expect(hash).toStartWith('$argon2id$v=19$m=65536,t=2,p=1$')
  expect(hash).not.toBe(another)
  expect(await argon2id.fits('correct horse', hash)).toBe(true)
  expect(await argon2id.fits('correct horses', hash)).toBe(false)
})

test('the same letters fit, however a system writes them', async () => {
  const passwords = new Passwords(new PlainHash())

  const hash = await passwords.make('cafe\u0301 cafe\u0301')

  expect(await passwords.fits('caf\u00e9 caf\u00e9', hash)).toBe(true)
})

test('one password is hashed at a time, also after one that failed', async () => {
  const gates: (() => void)[] = []
  let running = 0
  let most = 0
  const passwords = new Passwords({
    async make(password) {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => gates.push(resolve))
      running -= 1
      if (password === 'bad') throw new Error('no memory')
      return password
    },
    fits: () => Promise.resolve(true),
  })

  const all = Promise.allSettled(['bad', 'b', 'c'].map((password) => passwords.make(password)))
  for (let turn = 0; turn < 3; turn += 1) {
    await settle()
    gates.shift()?.()
  }

  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(most).toBe(1)
})

for (const [length, isFit] of [
  [11, false],
  [12, true],
  [200, true],
  [201, false],
] as const) {
  test(`${length} characters ${isFit ? 'are' : 'are not'} a password, of any script`, () => {
    const refused = ['x', '\u{1f40e}'].map((letter) => {
      try {
        requireFit(letter.repeat(length))
        return false
      } catch {
        return true
      }
    })

    expect(refused).toEqual([!isFit, !isFit])
  })
}
