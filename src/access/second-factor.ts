// The owner's second factor: codes of an authenticator app (TOTP, RFC 6238), and ten recovery codes.

// This entry point uses the system's hash functions; the package's entry for Bun bundles its own.
import { Secret, TOTP } from 'otpauth/dist/otpauth.node.min.mjs'

import { RelayError } from '../domain/errors.ts'
import type { Core } from '../storage/core.ts'
import { getOwner, saveFactor } from '../storage/dashboard-access.ts'
import type { Db, Tx } from '../storage/database.ts'
import { equalBytes, sha256 } from '../system/hash.ts'
import type { Seal } from '../system/seal.ts'
import { LoginRateLimiter } from './passwords.ts'

/** A secret that no code has confirmed yet. */
export type NewFactor = { readonly secret: string; readonly url: string }

type Proof = { readonly totpStep: number } | { readonly recoverySha256: Uint8Array }

const CONTEXT = 'second factor of the owner'
const SECRET_BYTES = 20
const STEP_SECONDS = 30
/** A code of the step before or after counts, because clocks differ. */
const TOLERANCE_STEPS = 1
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10
const HASH_BYTES = 32
/** 100 guesses a day, of which each has 3 chances in a million. */
const DELAY_MAX_MS = 15 * 60_000
const PENDING_MS = 10 * 60_000
const NONE = { totpSealed: null, totpStep: null, recoverySha256: null }

export class SecondFactor {
  readonly #core: Core
  readonly #seal: Seal
  readonly #limiter: LoginRateLimiter
  #pending: { readonly secret: Secret; readonly until: number } | null = null

  constructor(core: Core, { seal }: { readonly seal: Seal }) {
    this.#core = core
    this.#seal = seal
    this.#limiter = new LoginRateLimiter(core.clock, { delayMaxMs: DELAY_MAX_MS, what: 'codes' })
  }

  /** The number of recovery codes that are left; null if there is no second factor. */
  recoveryCodesLeft(db: Db = this.#core.db): number | null {
    const owner = getOwner(db)
    if (owner === null || owner.totpSealed === null) return null
    return (owner.recoverySha256?.length ?? 0) / HASH_BYTES
  }

  /** Makes a secret, which takes effect once a code of it is given within ten minutes. */
  begin(host: string): NewFactor {
    const { random, clock } = this.#core
    const secret = new Secret({ buffer: Uint8Array.from(random.bytes(SECRET_BYTES)).buffer })
    this.#pending = { secret, until: clock.monotonic() + PENDING_MS }
    return { secret: secret.base32, url: totpOf(secret, host).toString() }
  }

  /** Turns the second factor on, and returns the recovery codes, which can't be shown again. */
  confirm(tx: Tx, code: string): readonly string[] {
    const pending = this.#pending
    if (pending === null || this.#core.clock.monotonic() >= pending.until) {
      throw wrongCode('The secret is more than ten minutes old. Begin again.')
    }
    const totpStep = this.#stepOf(pending.secret, code)
    if (totpStep === null) throw wrongCode('Wrong code. Is the clock of the phone right?')
    const totpSealed = this.#seal.seal(Buffer.from(pending.secret.buffer), CONTEXT)
    saveFactor(tx, { totpSealed, totpStep })
    this.#core.writer.afterCommit(() => (this.#pending = null))
    return this.renewCodes(tx)
  }

  /** Replaces the recovery codes and returns the new ones, which can't be shown again. */
  renewCodes(tx: Tx): readonly string[] {
    if (this.recoveryCodesLeft(tx) === null) throw wrongCode('The second factor is off.')
    const codes = Array.from({ length: RECOVERY_CODES }, () => newRecoveryCode(this.#core))
    saveFactor(tx, { recoverySha256: Buffer.concat(codes.map((each) => sha256(plain(each)))) })
    return codes
  }

  /** Turns the second factor off. Returns no recovery codes. */
  remove(tx: Tx): readonly string[] {
    saveFactor(tx, NONE)
    return []
  }

  /**
   * Throws `second_factor_needed` without a code, `wrong_code` for a wrong or used one, and `rate_limit_exceeded`
   * without checking it. Does nothing if there is no second factor. `use` makes the code work only once.
   */
  check(code: string | undefined): { use(tx: Tx): void } {
    if (this.recoveryCodesLeft() === null) return { use: () => this.#requireNone() }
    if (code === undefined) {
      const message = 'Enter the code of your authenticator app, or a recovery code.'
      throw new RelayError('second_factor_needed', message)
    }
    const attempt = this.#limiter.begin({ name: 'code', share: 'local' })
    this.#proofOf(this.#core.db, code)
    return {
      use: (tx) => {
        saveFactor(tx, this.#proofOf(tx, code))
        attempt.succeed()
      },
    }
  }

  /** A second factor may have been turned on while the password was checked. */
  #requireNone(): void {
    if (this.recoveryCodesLeft() !== null)
      throw wrongCode('A second factor was turned on just now.')
  }

  /** The second factor's state after the code is used. Throws `wrong_code`. */
  #proofOf(db: Db | Tx, code: string): Proof {
    const { totpSealed, totpStep, recoverySha256 } = getOwner(db) ?? NONE
    if (totpSealed === null) throw wrongCode('The second factor was turned off just now.')
    if (!/^\s*\d[\d\s]*$/.test(code)) return recoveryProof(recoverySha256, code)
    const secret = this.#seal.open(totpSealed, CONTEXT)
    if (secret === null) {
      throw wrongCode(`The second factor was sealed with another secret.key. ${ON_THE_MACHINE}`)
    }
    const step = this.#stepOf(new Secret({ buffer: Uint8Array.from(secret).buffer }), code)
    if (step !== null && step > (totpStep ?? -1)) return { totpStep: step }
    const isUsed = step !== null
    throw wrongCode(
      isUsed
        ? 'This code was used already. Wait for the next one.'
        : `Wrong code. The clocks of the phone and of this machine must agree. ${ON_THE_MACHINE}`,
    )
  }

  /** The step of the code; null for a wrong one. */
  #stepOf(secret: Secret, code: string): number | null {
    const token = code.replaceAll(/\s/g, '')
    const now = this.#core.clock.now()
    const delta = totpOf(secret).validate({ token, timestamp: now, window: TOLERANCE_STEPS })
    return delta === null ? null : Math.floor(now / 1_000 / STEP_SECONDS) + delta
  }
}

const ON_THE_MACHINE =
  'Lost the phone? Use a recovery code, or run "hookline setup-link" on the machine itself.'

/** SHA-1 and six digits, because many apps support nothing else. */
function totpOf(secret: Secret, host = ''): TOTP {
  const label = host === '' ? 'owner' : `owner@${host}`
  return new TOTP({
    issuer: 'Hookline',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
    secret,
  })
}

function recoveryProof(left: Uint8Array | null, code: string): Proof {
  const hash = sha256(plain(code))
  const all = Array.from({ length: (left?.length ?? 0) / HASH_BYTES }, (_, index) =>
    (left ?? hash).subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  )
  const others = all.filter((one) => !equalBytes(one, hash))
  if (others.length === all.length) throw wrongCode('Wrong or used recovery code.')
  return { recoverySha256: Buffer.concat(others) }
}

/** Such as `k3pd-7qxa-m2vn-9r4t`: 80 bits without letters that look alike. */
function newRecoveryCode({ random }: Core): string {
  const text = new Secret({ buffer: Uint8Array.from(random.bytes(RECOVERY_BYTES)).buffer }).base32
  return text.toLowerCase().match(/.{4}/g)?.join('-') ?? ''
}

function plain(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

function wrongCode(message: string): RelayError {
  return new RelayError('wrong_code', message)
}
