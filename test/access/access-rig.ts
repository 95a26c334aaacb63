// The access room on a real database and the test clock.

import { createAccess, type Client } from '../../src/access/access.ts'
import type { Writer } from '../../src/storage/writer.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import type { PasswordHash } from '../../src/system/hash.ts'
import { silentLog } from '../../src/system/log.ts'
import { openTestStorage } from '../support/test-storage.ts'

export const HERE: Client = {
  actor: { kind: 'dashboard', id: null },
  address: '127.0.0.1',
  requestId: null,
  isLocal: true,
}

/** Makes a hash at once, and notes what it was asked. */
export class PlainHash implements PasswordHash {
  readonly asked: string[] = []
  /** Resolves before each look. */
  before: () => Promise<void> = async () => {}

  async make(password: string): Promise<string> {
    this.asked.push(`make ${password}`)
    return `hash of ${password}`
  }

  async fits(password: string, hash: string): Promise<boolean> {
    this.asked.push(`fits ${password}`)
    await this.before()
    return hash === `hash of ${password}`
  }
}

export function openAccess() {
  const storage = openTestStorage()
  const { db, clock, writer: real } = storage
  const passwordHash = new PlainHash()
  const faults: Error[] = []
  const write: Writer['write'] = (work) => {
    const fault = faults.pop()
    return fault === undefined ? real.write(work) : Promise.reject(fault)
  }
  const access = createAccess({
    ...storage,
    clock: new ConfirmedClock(clock, null),
    writer: { write, afterCommit: (act) => real.afterCommit(act) },
    passwordHash,
    log: silentLog,
    lockedPassword: null,
  })
  const claim = async (password: string) => {
    const { token } = await access.createSetupToken(HERE)
    return access.setUp({ token, password }, HERE)
  }
  return {
    access,
    clock,
    db,
    passwordHash,
    claim,
    /** The next write meets this in place of the database. */
    failNextWrite: (fault: Error) => void faults.push(fault),
  }
}

/** The code that something was refused with, or `done`. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'done'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}
