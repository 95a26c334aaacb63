// Secrets, lists and lookups that keys and bridges share.

import { cursorSeq, pageOf, type PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { accountsOf } from '../compat/apis.ts'
import {
  CREDENTIAL_NAME_LENGTH_MAX,
  KEY_PREFIX,
  SECRET_PREFIX,
  type CredentialKind,
} from '../domain/credential.ts'
import { RelayError, assert, invalidRequest } from '../domain/errors.ts'
import { timestamp, type KeyId } from '../domain/ids.ts'
import type { FileCore } from '../storage/core.ts'
import { getCredential, listCredentials, type Credential } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { Random } from '../system/random.ts'
import type { Seal } from '../system/seal.ts'
import type { LastUsed } from './last-used.ts'

export const SECRET_BYTES = 32

export function list<K extends CredentialKind, T>(
  db: Db,
  asked: {
    readonly kind: K
    readonly isShown?: (credential: Credential<K>) => boolean
    readonly page: PageRequest
    readonly lastUsed: Pick<LastUsed, 'of'> | undefined
  },
  resource: (credential: Credential<K>) => T,
): Page<T> {
  const { kind, isShown, page, lastUsed } = asked
  const { limit, cursor } = page
  const found = listCredentials(db, kind, { limit: limit + 1, before: cursorSeq(cursor), isShown })
  const rows = found.rows.map((row) => {
    const use = lastUsed?.of(row.id) ?? null
    if (use === null) return row
    return { ...row, lastUsedAt: timestamp(Math.max(use, row.lastUsedAt ?? 0)) }
  })
  return pageOf({ ...found, rows }, limit, resource, ({ seq }) => [seq])
}

export function requireCredential<K extends CredentialKind>(tx: Tx, kind: K, id: string) {
  const found = getCredential(tx, kind, id)
  if (found === null) throw noCredential(kind)
  return found
}

export function noCredential(kind: CredentialKind): RelayError {
  return new RelayError('not_found', `There is no ${kind} with this id.`)
}

export function requireNameFits(path: string, name: string | null): void {
  if (Array.from(name ?? '').length <= CREDENTIAL_NAME_LENGTH_MAX) return
  const message = `must have at most ${CREDENTIAL_NAME_LENGTH_MAX} characters`
  throw invalidRequest({ path, message })
}

export function newToken(random: Random, prefix: string, bytes: number): string {
  return prefix + Buffer.from(random.bytes(bytes)).toString('base64url')
}

/** Called if a secret must be sealed; undefined only if no key is made for a compatible API. */
export type SealSource = (() => Seal) | undefined

/** A key of `hookline fake`, the same at each start; `account` replaces the random bytes of an account's secret. */
export type FixedKey = {
  readonly id: KeyId
  readonly key: string
  readonly secret: string
  readonly account: Uint8Array
}

/** A new key with its secret, which is sealed if the relay signs with it. */
export function newKey(
  { ids, random }: Pick<FileCore, 'ids' | 'random'>,
  asked: {
    readonly madeFor: string | null
    readonly seal: SealSource
    readonly fixed?: FixedKey | undefined
  },
) {
  const { madeFor, seal, fixed } = asked
  const accountOf = accountsOf(madeFor)
  if (accountOf === undefined) {
    const key = fixed?.key ?? newToken(random, KEY_PREFIX, 24)
    const secret = fixed?.secret ?? newToken(random, SECRET_PREFIX, SECRET_BYTES)
    return { id: fixed?.id ?? ids.id('key'), key, secret, sealedSecret: null }
  }
  assert(seal !== undefined, 'an account is made with the key that seals its secret')
  const id = fixed?.id ?? ids.id('key')
  const { key, secret } = accountOf(id, fixed?.account ?? random.bytes(SECRET_BYTES))
  return { id, key, secret, sealedSecret: Buffer.from(seal().seal(Buffer.from(secret), id)) }
}

export function hintOf(token: string, prefix: string): string {
  return token.slice(0, prefix.length + 6)
}
