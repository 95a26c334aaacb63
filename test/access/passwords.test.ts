import { expect, test } from 'bun:test'

import { LoginRateLimiter, Passwords, requireFit, type Share } from '../../src/access/passwords.ts'
import { RelayError } from '../../src/domain/errors.ts'
import { argon2id } from '../../src/system/hash.ts'
import { settle, TestClock } from '../support/test-clock.ts'
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
    const refused = ['xkvtr', '\u{1f40e}\u{1f98a}\u{1f41d}\u{1f988}\u{1f40d}'].map((letters) => {
      try {
        requireFit(Array.from(letters.repeat(41)).slice(0, length).join(''), [])
        return false
      } catch {
        return true
      }
    })

    expect(refused).toEqual([!isFit, !isFit])
  })
}

const NAMES = ['hookline', 'studio']
const GUESSED = {
  Unbelievable: 'one of the most common passwords',
  qwerty123456: 'one of the most common passwords',
  '234567890123': 'a sequence',
  abcdefghijklm: 'a sequence',
  '98765432abcdefg': 'a sequence',
  QWERTYUIOPasdf: 'a sequence',
  '1qaz2wsx3edc4r': 'a sequence',
  aaaaaaaaaaaa: 'a sequence',
  'abc!abc!abc!abc!': 'a sequence',
  'Hookline-2026': 'a name of this relay, such as hookline',
  'studio-hookline': 'a name of this relay, such as hookline',
}

for (const [password, why] of Object.entries(GUESSED)) {
  test(`${password} is refused, because it is ${why}`, () => {
    expect(() => requireFit(password, NAMES)).toThrow(why)
  })
}

for (const password of [
  'correct horse',
  'battery staple',
  'hookline correct horse',
  'Kl9-vvq2-1234',
  'ωραία πεταλούδα',
]) {
  test(`${password} is taken`, () => {
    expect(() => requireFit(password, NAMES)).not.toThrow()
  })
}

function limiterRig() {
  const clock = new TestClock()
  const limiter = new LoginRateLimiter(clock)
  /** How many seconds an address has to wait; 0 if it may try, which then counts as wrong. */
  const fail = (name = 'a', share: Share = 'strangers'): number => {
    try {
      limiter.begin({ name, share })
      return 0
    } catch (error) {
      if (error instanceof RelayError && error.code === 'rate_limit_exceeded') {
        return error.retryAfterSeconds ?? Number.NaN
      }
      throw error
    }
  }
  return { clock, limiter, fail }
}

test('five wrong passwords are free, then each wait is twice the one before, up to a minute', async () => {
  const { clock, fail } = limiterRig()
  const waits: number[] = []

  for (let attempt = 0; attempt < 14; attempt += 1) {
    const seconds = fail()
    waits.push(seconds)
    await clock.advance(seconds * 1_000)
    if (seconds > 0) expect(fail()).toBe(0)
  }

  expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
})

test('an attempt before its time counts for nothing', async () => {
  const { clock, fail } = limiterRig()
  for (let attempt = 0; attempt < 6; attempt += 1) {
    fail()
    await clock.advance(1_000)
  }

  const waits = [fail(), fail()]
  await clock.advance(999)
  waits.push(fail())
  await clock.advance(1)
  waits.push(fail())

  expect(waits).toEqual([1, 1, 1, 0])
})

test('attempts at the same time get no further than one after the other', () => {
  const { fail } = limiterRig()

  const waits = Array.from({ length: 20 }, () => fail())

  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(5)
})

test('a right password lets the address begin again, and no other address', () => {
  const { limiter, fail } = limiterRig()
  for (const address of ['a', 'b']) for (let attempt = 0; attempt < 4; attempt += 1) fail(address)

  limiter.begin({ name: 'a', share: 'strangers' }).succeed()
  const waits = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b'].map((address) => fail(address))

  expect(waits).toEqual([0, 0, 0, 0, 0, 1, 0, 1])
})

test('all strangers together get 30 wrong passwords a minute; right ones do not count', async () => {
  const { clock, limiter, fail } = limiterRig()
  const fromEverywhere = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => fail(`${name}${index}`))
  limiter.begin({ name: 'owner', share: 'strangers' }).succeed()

  const first = fromEverywhere(15, 'a')
  await clock.advance(20_000)
  const second = fromEverywhere(15, 'b')
  const blocked = fail('new')
  await clock.advance(40_000)
  const third = fromEverywhere(16, 'c')

  expect([...first, ...second]).toEqual(Array(30).fill(0))
  expect(blocked).toBe(40)
  expect(third).toEqual([...Array<number>(15).fill(0), 20])
})

for (const share of ['known', 'session', 'local'] as const) {
  test(`strangers who use up their share leave 10 guesses a minute to ${share}`, () => {
    const { fail } = limiterRig()
    for (let stranger = 0; stranger < 31; stranger += 1) fail(`stranger ${stranger}`)

    const waits = Array.from({ length: 11 }, (_, index) => fail(`own ${index}`, share))

    expect(fail('another stranger')).toBe(60)
    expect(waits).toEqual([...Array<number>(10).fill(0), 60])
  })
}

test('no more than 1,000 addresses are remembered, the latest ones', async () => {
  const { clock, fail } = limiterRig()
  for (let attempt = 0; attempt < 5; attempt += 1) fail('first')
  for (let address = 0; address < 1_000; address += 1) {
    await clock.advance(2_500)
    fail(`address ${address}`)
  }

  const waits = [fail('first'), fail('first')]

  expect(waits).toEqual([0, 0])
})
