import { expect, test } from 'bun:test'

import { LogInBrake, type Share } from '../../src/access/log-in-brake.ts'
import { RelayError } from '../../src/domain/errors.ts'
import { TestClock } from '../support/test-clock.ts'

function rig() {
  const clock = new TestClock()
  const brake = new LogInBrake(clock)
  /** How many seconds an address has to wait; 0 where it may try, which then counts as wrong. */
  const fail = (name = 'a', share: Share = 'strangers'): number => {
    try {
      brake.begin({ name, share })
      return 0
    } catch (error) {
      if (error instanceof RelayError && error.code === 'rate_limit_exceeded') {
        return error.retryAfterSeconds ?? Number.NaN
      }
      throw error
    }
  }
  return { clock, brake, fail }
}

test('five wrong passwords are free, then each wait is twice the one before, up to a minute', async () => {
  const { clock, fail } = rig()
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
  const { clock, fail } = rig()
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
  const { fail } = rig()

  const waits = Array.from({ length: 20 }, () => fail())

  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(5)
})

test('a right password lets the address begin anew, and no other address', () => {
  const { brake, fail } = rig()
  for (const address of ['a', 'b']) for (let attempt = 0; attempt < 4; attempt += 1) fail(address)

  brake.begin({ name: 'a', share: 'strangers' }).succeed()
  const waits = ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b'].map((address) => fail(address))

  expect(waits).toEqual([0, 0, 0, 0, 0, 1, 0, 1])
})

test('all strangers together get 30 wrong passwords a minute; right ones do not count', async () => {
  const { clock, brake, fail } = rig()
  const fromEverywhere = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => fail(`${name}${index}`))
  brake.begin({ name: 'owner', share: 'strangers' }).succeed()

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
    const { fail } = rig()
    for (let stranger = 0; stranger < 31; stranger += 1) fail(`stranger ${stranger}`)

    const waits = Array.from({ length: 11 }, (_, index) => fail(`own ${index}`, share))

    expect(fail('another stranger')).toBe(60)
    expect(waits).toEqual([...Array<number>(10).fill(0), 60])
  })
}

test('no more than 1,000 addresses are remembered, the latest ones', async () => {
  const { clock, fail } = rig()
  for (let attempt = 0; attempt < 5; attempt += 1) fail('first')
  for (let address = 0; address < 1_000; address += 1) {
    await clock.advance(2_500)
    fail(`address ${address}`)
  }

  const waits = [fail('first'), fail('first')]

  expect(waits).toEqual([0, 0])
})
