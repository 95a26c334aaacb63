// The access room on a real database and the test clock.

import { Access, type Client } from '../../src/access/access.ts'
import type { PasswordHash } from '../../src/system/hash.ts'
import { createSeal } from '../../src/system/seal.ts'
import { openTestStorage } from '../support/test-storage.ts'

export const HERE: Client = {
  actor: { kind: 'dashboard', id: null },
  address: '127.0.0.1',
  requestId: null,
  isLocal: true,
}

const ADDRESSES = { publicUrl: null, listeningUrl: 'http://127.0.0.1:1', localName: 'mini.local' }

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
  const { core, db, clock, writer } = openTestStorage()
  const passwordHash = new PlainHash()
  const faults: Error[] = []
  const write = writer.write.bind(writer)
  writer.write = (work) => {
    const fault = faults.pop()
    return fault === undefined ? write(work) : Promise.reject(fault)
  }
  const access = new Access(core, {
    passwordHash,
    lockedPassword: null,
    seal: createSeal(new Uint8Array(32), core.random),
    addresses: () => ADDRESSES,
  })
  const claim = async (password: string) => {
    const token = await newToken(access)
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

/** The token of a new setup link. */
export async function newToken(access: Access): Promise<string> {
  const { url } = await access.createSetupLink(HERE)
  return url.slice(url.lastIndexOf('/') + 1)
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
