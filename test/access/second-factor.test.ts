// The second factor of the owner's sign-in, on the test clock.

import { expect, test } from 'bun:test'

import { Secret, TOTP } from 'otpauth'

import { HERE, newToken, openAccess, refusal } from './access-rig.ts'

const PASSWORD = 'correct horse'
const STEP = 30_000

/** An owner whose sign-in takes two steps, and the codes of their phone. */
async function openWithPhone() {
  const rig = openAccess()
  await rig.claim(PASSWORD)
  const { secret, url } = rig.access.beginSecondFactor()
  const phone = new TOTP({ secret: Secret.fromBase32(secret) })
  const codeAt = (ms = 0) => phone.generate({ timestamp: rig.clock.now() + ms })
  const codes = await rig.access.turnOnSecondFactor(codeAt(), HERE)
  await rig.clock.advance(STEP)
  const signIn = (code?: string) => refusal(rig.access.signIn({ password: PASSWORD, code }, HERE))
  return { ...rig, secret, url, codes, codeAt, signIn }
}

/** The message of a refusal. */
async function whyRefused(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )
}

// RFC 6238, appendix B: the last six of its eight digits.
for (const [seconds, code] of [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const) {
  test(`the code of RFC 6238 at second ${seconds} is ${code}`, () => {
    const secret = Secret.fromUTF8('12345678901234567890')

    expect(new TOTP({ secret }).generate({ timestamp: seconds * 1_000 })).toBe(code)
  })
}

test('with a second factor the password alone is not enough, and a member needs none', async () => {
  const { signIn, codeAt, url } = await openWithPhone()

  expect(url).toStartWith('otpauth://totp/Hookline:owner%40mini.local?issuer=Hookline&secret=')
  expect(await signIn()).toBe('second_factor_needed')
  expect(await signIn('000000')).toBe('wrong_code')
  expect(await signIn(codeAt())).toBe('done')
})

test('a code works once, and neither does an older one afterwards', async () => {
  const { signIn, codeAt } = await openWithPhone()
  const [before, now] = [codeAt(-STEP), codeAt()]

  expect([await signIn(now), await signIn(now), await signIn(before)]).toEqual([
    'done',
    'wrong_code',
    'wrong_code',
  ])
})

test('of two sign-ins at once with one code, one gets in', async () => {
  const { signIn, codeAt } = await openWithPhone()

  const both = await Promise.all([signIn(codeAt()), signIn(codeAt())])

  expect(both.toSorted()).toEqual(['done', 'wrong_code'])
})

test('one step of 30 seconds is tolerated in each direction, and no more', async () => {
  const results: string[] = []

  for (const steps of [-2, -1, 0, 1, 2]) {
    const { signIn, codeAt, clock } = await openWithPhone()
    await clock.advance(10 * STEP)
    results.push(await signIn(codeAt(steps * STEP)))
  }

  expect(results).toEqual(['wrong_code', 'done', 'done', 'done', 'wrong_code'])
})

test('guesses are braked, up to a quarter of an hour, whatever their number', async () => {
  const { access, clock } = await openWithPhone()
  const waits: number[] = []

  for (let guess = 0; guess < 20; guess += 1) {
    const why = await whyRefused(access.signIn({ password: PASSWORD, code: '000000' }, HERE))
    const seconds = Number(/in (\d+) s/.exec(why)?.[1] ?? 0)
    waits.push(seconds)
    await clock.advance(seconds * 1_000)
  }

  expect(waits.slice(0, 8)).toEqual([0, 0, 0, 0, 0, 1, 0, 2])
  expect(Math.max(...waits)).toBe(128)
})

test('each of ten recovery codes works once, however it is typed', async () => {
  const { signIn, codes, access } = await openWithPhone()
  const [first = '', second = ''] = codes

  expect(new Set(codes).size).toBe(10)
  expect(first).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/)
  expect(await signIn(first)).toBe('done')
  expect(await signIn(first)).toBe('wrong_code')
  expect(await signIn(second.toUpperCase().replaceAll('-', ' '))).toBe('done')
  expect(access.secondFactor.recoveryCodesLeft()).toBe(8)
})

test('new recovery codes need a code and end the old ones, and there are none without a second factor', async () => {
  const { signIn, codes, codeAt, access } = await openWithPhone()
  const [old = ''] = codes

  const refused = await refusal(access.changeSecondFactor('codes_renewed', '000000', HERE))
  const renewed = await access.changeSecondFactor('codes_renewed', codeAt(), HERE)

  expect(refused).toBe('wrong_code')
  expect([new Set([...codes, ...renewed]).size, access.secondFactor.recoveryCodesLeft()]).toEqual([
    20, 10,
  ])
  expect(await signIn(old)).toBe('wrong_code')
  expect(await signIn(renewed[9])).toBe('done')
  await access.changeSecondFactor('removed', renewed[0] ?? '', HERE)
  expect(await refusal(access.changeSecondFactor('codes_renewed', '', HERE))).toBe('wrong_code')
})

test('a setup link lets in the owner without the phone, and removes the second factor', async () => {
  const { access, signIn } = await openWithPhone()
  const token = await newToken(access)

  await access.setUp({ token, password: PASSWORD }, HERE)

  expect(access.secondFactor.recoveryCodesLeft()).toBeNull()
  expect(await signIn()).toBe('done')
})

test('the secret is sealed, and one that cannot be opened says how to get in', async () => {
  const { db, secret, access, codeAt, codes, signIn } = await openWithPhone()
  const query = 'SELECT hex(totp_sealed) || hex(recovery_sha256) AS kept FROM dashboard_owner'
  const { kept } = db.sqlite.query(query).get() as { kept: string }
  const plain = Buffer.from(Secret.fromBase32(secret).bytes)

  expect(kept.length).toBeGreaterThan(640)
  expect(kept).not.toContain(plain.toString('hex').toUpperCase())
  expect(kept).not.toContain(
    Buffer.from(codes[0] ?? '')
      .toString('hex')
      .toUpperCase(),
  )

  db.sqlite.run("UPDATE dashboard_owner SET totp_sealed = x'00'")
  const why = await whyRefused(access.signIn({ password: PASSWORD, code: codeAt() }, HERE))
  expect(why).toContain('hookline setup-link')
  expect(await signIn(codes[0])).toBe('done')
})

test('a secret counts only with a code of it, within ten minutes', async () => {
  const { access, clock, claim } = openAccess()
  await claim(PASSWORD)
  const { secret } = access.beginSecondFactor()
  const phone = new TOTP({ secret: Secret.fromBase32(secret) })
  const codeNow = () => phone.generate({ timestamp: clock.now() })

  const wrong = await refusal(access.turnOnSecondFactor('000000', HERE))
  await clock.advance(600_000)
  const late = await refusal(access.turnOnSecondFactor(codeNow(), HERE))
  const signedIn = await refusal(access.signIn({ password: PASSWORD }, HERE))

  expect([wrong, late, signedIn]).toEqual(['wrong_code', 'wrong_code', 'done'])
})

test('it is turned off with a code', async () => {
  const { access, codeAt, signIn } = await openWithPhone()

  const wrong = await refusal(access.changeSecondFactor('removed', '000000', HERE))
  await access.changeSecondFactor('removed', codeAt(), HERE)

  expect([wrong, await signIn()]).toEqual(['wrong_code', 'done'])
})
