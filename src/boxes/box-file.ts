// A box's facts about its head: `box.json`, which only its user can read. The file is written once all are known.

import { rmSync } from 'node:fs'

import { Type } from 'typebox'

import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { Joined } from './enrolment.ts'
import type { NkeyPair } from './nkeys.ts'
import type { Wire } from './wire-values.ts'
import { parsed } from './wire.ts'

const text = Type.String({ minLength: 1 })
const orNull = Type.Union([text, Type.Null()])

const BoxFile = Type.Object({
  box_id: text,
  head_name: orNull,
  addresses: Type.Array(text, { minItems: 1 }),
  server_name: orNull,
  /** The certificate authority of the broker in PEM; null for the public authorities. */
  ca: orNull,
  /** Public nkey of the head; null or missing until it is known. */
  head_key: Type.Optional(orNull),
  seed: text,
  /** SHA-256 of the token that it joined with. */
  token: text,
})
export type BoxFile = Wire<typeof BoxFile>

/** Null if there is no file; throws if it was edited into something else. */
export function readBoxFile(path: string): BoxFile | null {
  const written = readTextOrNull(path)
  if (written === null) return null
  const file = parsed(BoxFile, written)
  if (file !== null) return file
  throw new Error(`${path} is damaged. Delete it, and join again: hookline boxes add, on the head.`)
}

export function writeBoxFile(path: string, joined: Joined, token: string): BoxFile {
  const { boxId, headName, serverName, headKey: head_key, ...rest } = joined
  const ids = { box_id: boxId, head_name: headName, server_name: serverName }
  const file = { ...ids, ...rest, head_key, token }
  write(path, file)
  return file
}

/** Trusts only the head with this key from now on. */
export function keepHeadKey(path: string, file: BoxFile, head_key: string): void {
  write(path, { ...file, head_key })
}

function write(path: string, file: BoxFile): void {
  writeFileAtomically(path, `${JSON.stringify(file, null, 2)}\n`)
}

const KeyFile = Type.Object({ token: text, seed: text, publicKey: text })

/**
 * The key to join with by `token`, kept in a file until the box has joined: the same command again gives the same
 * key, so a lost answer does no harm.
 */
export async function keepKey(
  path: string,
  token: string,
  make: () => Promise<NkeyPair>,
): Promise<NkeyPair & { readonly forget: () => void }> {
  const forget = () => rmSync(path, { force: true })
  const known = parsed(KeyFile, readTextOrNull(path) ?? '')
  if (known?.token === token) return { ...known, forget }
  const key = await make()
  writeFileAtomically(path, JSON.stringify({ token, ...key }))
  return { ...key, forget }
}
