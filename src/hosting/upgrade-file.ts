// The new executable before it is anything: copied beside the old one, compared with what its makers
// published, and asked what it is.

import { createHash } from 'node:crypto'
import { closeSync, chmodSync, openSync, readSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { flush, readTextOrNull } from '../system/files.ts'
import { verifyMinisign, type MinisignKey } from '../system/minisign.ts'
import type { RunProcess } from '../system/process.ts'
import { tryTool } from './system-tool.ts'

/** What an executable says of itself. */
export type About = { readonly version: string; readonly schema: number }

const CHUNK_BYTES = 1_024 * 1_024
const ABOUT_MS_MAX = 20_000
const EXECUTABLE_MODE = 0o755

/**
 * Copies the bytes, and nothing else: what macOS writes beside a file that was downloaded would keep it
 * from running. Gives their SHA-256, in hexadecimal.
 */
export function copyExecutable(from: string, to: string): string {
  const hash = createHash('sha256')
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w', EXECUTABLE_MODE)]
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let length = readSync(source, chunk); length > 0; length = readSync(source, chunk)) {
      const part = chunk.subarray(0, length)
      hash.update(part)
      writeAll(target, part)
    }
  } finally {
    closeSync(source)
    closeSync(target)
  }
  // The mode at its making is cut by the umask.
  chmodSync(to, EXECUTABLE_MODE)
  flush(to)
  return hash.digest('hex')
}

/** The line that names a file in a sum file, as sha256sum writes it, and the signature of that sum file. */
export type PublishedSum = {
  readonly sum: string
  /** The whole sum file, which is what was signed. */
  readonly content: string
  /** The path of its signature. */
  readonly signature: string
}

/**
 * Finds the SHA-256 that was published for `file` by its name: in `file.sha256`, or else in a SHA256SUMS
 * beside it. Null where neither names it.
 */
export function publishedSum(file: string): PublishedSum | null {
  for (const path of [`${file}.sha256`, join(dirname(file), 'SHA256SUMS')]) {
    const content = readTextOrNull(path) ?? ''
    const matches = content.split('\n').map((line) => SUM.exec(line))
    const sum = matches.find((match) => match?.[2] === basename(file))?.[1]
    if (sum !== undefined) return { sum: sum.toLowerCase(), content, signature: `${path}.minisig` }
  }
  return null
}

/** Explains why a sum file cannot be trusted; null where its signature is of `key`. */
export function signatureProblem(published: PublishedSum, key: MinisignKey): string | null {
  const { content, signature } = published
  const text = readTextOrNull(signature)
  if (text === null) return `There is no signature of the release: ${signature} is missing.`
  if (verifyMinisign(key, Buffer.from(content), text) !== null) return null
  return `${signature} was not made with Hookline's release key, or its sums were changed afterwards.`
}

/** What the executable at `path` says of itself; null where it is none of ours, or none for this machine. */
export async function aboutExecutable(
  run: RunProcess,
  path: string,
  signal: AbortSignal,
): Promise<About | null> {
  const order = { path, args: ['version', '--json'], timeoutMs: ABOUT_MS_MAX }
  const answer = await tryTool(run, order, signal)
  return answer?.exitCode === 0 ? parseAbout(answer.stdout) : null
}

/** The sum and the name; a star before the name means binary. */
const SUM = /^([0-9a-f]{64})[ \t]+\*?(\S.*?)[ \t\r]*$/i

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes.subarray(at))
}

function parseAbout(text: string): About | null {
  try {
    const { version, schema } = JSON.parse(text) as Partial<About> // Checked below.
    if (typeof version !== 'string' || typeof schema !== 'number') return null
    return { version: version.slice(0, 100), schema }
  } catch {
    return null
  }
}
