// The facts of a box about its head: `box.json`, which only its user can read. It is there once it is complete.

import { rmSync } from 'node:fs'

import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

import type { Shape } from '../api/schema.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { Joined } from './enrolment.ts'

const text = Type.String({ minLength: 1 })
const orNull = Type.Union([text, Type.Null()])

const BoxFile = Type.Object({
  box_id: text,
  head_name: orNull,
  addresses: Type.Array(text, { minItems: 1 }),
  server_name: orNull,
  /** PEM; null for public authorities. */
  ca: orNull,
  /** Public nkey of the head; null, or left out, until it is known. */
  head_key: Type.Optional(orNull),
  /** The box's nkey: a secret. */
  seed: text,
  /** SHA-256 of the token that it joined with. */
  token: text,
})
export type BoxFile = Shape<typeof BoxFile>

const CHECK = Compile(BoxFile)

/** Null where there is none; throws where it was edited into something else. */
export function readBoxFile(path: string): BoxFile | null {
  const written = readTextOrNull(path)
  if (written === null) return null
  try {
    const value: unknown = JSON.parse(written)
    if (CHECK.Check(value)) return value
  } catch {
    // Not even JSON: the same error.
  }
  throw new Error(`${path} is damaged. Delete it, and join again: hookline boxes add, on the head.`)
}

export function writeBoxFile(path: string, joined: Joined, token: string): BoxFile {
  const { boxId, headName, serverName, headKey: head_key, ...rest } = joined
  const ids = { box_id: boxId, head_name: headName, server_name: serverName }
  const file = { ...ids, ...rest, head_key, token }
  write(path, file)
  return file
}

/** The head with this key is the only one from now on. */
export function keepHeadKey(path: string, file: BoxFile, head_key: string): void {
  write(path, { ...file, head_key })
}

function write(path: string, file: BoxFile): void {
  writeFileAtomically(path, `${JSON.stringify(file, null, 2)}\n`)
}

const KeyFile = Type.Object({ token: text, seed: text, publicKey: text })
const CHECK_KEY = Compile(KeyFile)
type Key = { readonly seed: string; readonly publicKey: string }

/**
 * The key to join with by `token`, kept beside the box's file until it has joined: the same command again
 * gives the same key, so an answer that was lost does no harm.
 */
export async function keepKey(
  path: string,
  token: string,
  make: () => Promise<Key>,
): Promise<Key & { readonly forget: () => void }> {
  const forget = () => rmSync(path, { force: true })
  const known = parsed(readTextOrNull(path))
  if (CHECK_KEY.Check(known) && known.token === token) return { ...known, forget }
  const key = await make()
  writeFileAtomically(path, JSON.stringify({ token, ...key }))
  return { ...key, forget }
}

function parsed(json: string | null): unknown {
  try {
    return JSON.parse(json ?? '')
  } catch {
    return null
  }
}
