// The new executable: copied beside the old one, verified, asked for its version, and put in its place.
//
// It takes its place by renames within one folder: at every moment the name stands for a whole file, old
// or new. A file is never written over: Linux refuses that for a running one, and macOS kills what
// changes under a signature that it has seen.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { flush, readTextOrNull, renameDurably } from '../system/files.ts'
import { parseMinisignKey, verifyMinisign, type MinisignKey } from '../system/minisign.ts'
import type { RunProcess } from '../system/process.ts'
import { readReleaseKey } from './release-key.macro.ts' with { type: 'macro' }
import { tryTool } from './system-tool.ts'

/** Self-description of an executable. */
export type ExecutableAbout = { readonly version: string; readonly schema: number }

/** Line that names a file in a sum file, as sha256sum writes it. */
export type PublishedSum = {
  readonly sum: string
  /** The whole sum file, which is what was signed. */
  readonly content: string
  readonly signature: string
}

/** The executable, and the files beside it that an upgrade makes. */
export type SwapPaths = {
  readonly current: string
  /** The new one, until it takes its place. */
  readonly staged: string
  /** The old one, for the way back. */
  readonly previous: string
  /** A second name on its way to `current` or `previous`. */
  readonly passing: string
}

const KEY_TEXT: string | null = readReleaseKey()
/** Key that signs releases; null in a build from a checkout without one. */
export const RELEASE_KEY: MinisignKey | null = KEY_TEXT === null ? null : parseMinisignKey(KEY_TEXT)

const CHUNK_BYTES = 1_024 * 1_024
const ABOUT_MS_MAX = 20_000
const EXECUTABLE_MODE = 0o755
/** Sum and name; a star before the name means binary. */
const SUM = /^([0-9a-f]{64})[ \t]+\*?(\S.*?)[ \t\r]*$/i

/**
 * Copies the bytes only, because attributes that macOS adds to a downloaded file would keep it from
 * running. Returns their SHA-256 in hexadecimal.
 */
export function copyExecutable(from: string, to: string): string {
  const hash = createHash('sha256')
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w', EXECUTABLE_MODE)]
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let length = readSync(source, chunk); length > 0; length = readSync(source, chunk)) {
      const part = chunk.subarray(0, length)
      hash.update(part)
      for (let at = 0; at < length;) at += writeSync(target, part.subarray(at))
    }
  } finally {
    closeSync(source)
    closeSync(target)
  }
  // The umask has cut the mode of the new file.
  chmodSync(to, EXECUTABLE_MODE)
  flush(to)
  return hash.digest('hex')
}

/** SHA-256 published for the name of `file`: in `file.sha256`, else in a SHA256SUMS beside it. */
export function publishedSum(file: string): PublishedSum | null {
  for (const path of [`${file}.sha256`, join(dirname(file), 'SHA256SUMS')]) {
    const content = readTextOrNull(path) ?? ''
    const matches = content.split('\n').map((line) => SUM.exec(line))
    const sum = matches.find((match) => match?.[2] === basename(file))?.[1]
    if (sum !== undefined) return { sum: sum.toLowerCase(), content, signature: `${path}.minisig` }
  }
  return null
}

/** Reason not to trust a sum file; null where `key` signed it. */
export function signatureProblem(published: PublishedSum, key: MinisignKey): string | null {
  const { content, signature } = published
  const text = readTextOrNull(signature)
  if (text === null) return `The release signature ${signature} is missing.`
  if (verifyMinisign(key, Buffer.from(content), text) !== null) return null
  return `${signature} does not match: it is not from Hookline's release key, or the sums were changed.`
}

/** Version of the executable at `path`; null where it is not ours, or not for this machine. */
export async function aboutExecutable(
  run: RunProcess,
  path: string,
  signal: AbortSignal,
): Promise<ExecutableAbout | null> {
  const order = { path, args: ['version', '--json'], timeoutMs: ABOUT_MS_MAX }
  const answer = await tryTool(run, order, signal)
  if (answer?.exitCode !== 0) return null
  try {
    const { version, schema } = JSON.parse(answer.stdout) as Partial<ExecutableAbout> // Checked below.
    if (typeof version !== 'string' || typeof schema !== 'number') return null
    return { version: version.slice(0, 100), schema }
  } catch {
    return null
  }
}

export function swapPathsOf(executable: string): SwapPaths {
  return {
    current: executable,
    staged: `${executable}.new`,
    previous: `${executable}.previous`,
    passing: `${executable}.passing`,
  }
}

/** Removes files of an upgrade that was interrupted. */
export function clearStaged({ staged, passing }: SwapPaths): void {
  for (const left of [staged, passing]) rmSync(left, { force: true })
}

/** Gives the current executable a second name, which the way back uses. */
export function keepPrevious({ current, previous, passing }: SwapPaths): void {
  addName(current, previous, passing)
}

export function placeStaged({ current, staged }: SwapPaths): void {
  renameDurably(staged, current)
}

/** Makes the previous executable the current one again; its own name stays too. */
export function putPreviousBack({ current, previous, passing }: SwapPaths): void {
  addName(previous, current, passing)
}

function addName(from: string, to: string, passing: string): void {
  rmSync(passing, { force: true })
  try {
    linkSync(from, passing)
  } catch {
    // A file system without hard links.
    copyFileSync(from, passing)
    flush(passing)
  }
  renameDurably(passing, to)
  // POSIX: where both names stand for the same file already, a rename does nothing.
  rmSync(passing, { force: true })
}
