// Copies a new executable beside the old one, verifies it, asks for its version, and puts it in place. Renames
// within one folder do that, so at every moment the name is a whole file, old or new. A file is never overwritten:
// Linux refuses that for a running file, and macOS kills a program that changes after it has seen its signature.

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

/** The answer of an executable about itself. */
export type ExecutableAbout = { readonly version: string; readonly schema: number }

/** The entry of a file in a checksum file, as sha256sum writes it. */
type PublishedSum = {
  readonly sum: string
  /** The whole checksum file, which is what was signed. */
  readonly content: string
  readonly signature: string
}

/** The paths of the executable, and of the files beside it that an upgrade makes. */
export type SwapPaths = ReturnType<typeof swapPathsOf>

const KEY_TEXT: string | null = readReleaseKey()
/** The key that signs releases; null if the checkout had none when this was built. */
export const RELEASE_KEY: MinisignKey | null = KEY_TEXT === null ? null : parseMinisignKey(KEY_TEXT)

const ABOUT_MS_MAX = 20_000
const EXECUTABLE_MODE = 0o755
/** A checksum and a name; a star before the name means binary. */
const SUM = /^([0-9a-f]{64})[ \t]+\*?(\S.*?)[ \t\r]*$/i

/**
 * Copies only the bytes, because the attributes that macOS adds to a downloaded file would keep it from running.
 * Returns the SHA-256 in hexadecimal.
 */
export function copyExecutable(from: string, to: string): string {
  const hash = createHash('sha256')
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w', EXECUTABLE_MODE)]
  try {
    const chunk = Buffer.alloc(1_024 * 1_024)
    for (let length = readSync(source, chunk); length > 0; length = readSync(source, chunk)) {
      const part = chunk.subarray(0, length)
      hash.update(part)
      for (let at = 0; at < length;) at += writeSync(target, part.subarray(at))
    }
  } finally {
    closeSync(source)
    closeSync(target)
  }
  // The umask may have reduced the mode.
  chmodSync(to, EXECUTABLE_MODE)
  flush(to)
  return hash.digest('hex')
}

/** The SHA-256 published for the name of `file`: in `file.sha256`, else in a SHA256SUMS beside it. */
export function publishedSum(file: string): PublishedSum | null {
  for (const path of [`${file}.sha256`, join(dirname(file), 'SHA256SUMS')]) {
    const content = readTextOrNull(path) ?? ''
    const matches = content.split('\n').map((line) => SUM.exec(line))
    const sum = matches.find((match) => match?.[2] === basename(file))?.[1]
    if (sum !== undefined) return { sum: sum.toLowerCase(), content, signature: `${path}.minisig` }
  }
  return null
}

/** The reason not to trust a checksum file; null if `key` signed it. */
export function signatureProblem(published: PublishedSum, key: MinisignKey): string | null {
  const { content, signature } = published
  const text = readTextOrNull(signature)
  if (text === null) return `The release signature ${signature} is missing.`
  if (verifyMinisign(key, Buffer.from(content), text) !== null) return null
  return `${signature} does not match: it is not from Hookline's release key, or the sums were changed.`
}

/** Returns null if the file isn't a Hookline executable for this machine. */
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

export function swapPathsOf(executable: string) {
  return {
    current: executable,
    /** The new one, until it takes the place of `current`. */
    staged: `${executable}.new`,
    /** The old one, for a rollback. */
    previous: `${executable}.previous`,
    /** A second name on its way to `current` or `previous`. */
    temporary: `${executable}.passing`,
  } as const
}

/** Removes the files of an interrupted upgrade. */
export function clearStaged({ staged, temporary }: SwapPaths): void {
  for (const left of [staged, temporary]) rmSync(left, { force: true })
}

/** Gives the current executable a second name, for a rollback. */
export function keepPrevious({ current, previous, temporary }: SwapPaths): void {
  addName(current, previous, temporary)
}

export function placeStaged({ current, staged }: SwapPaths): void {
  renameDurably(staged, current)
}

/** Makes the previous executable the current one again; it keeps its name, too. */
export function putPreviousBack({ current, previous, temporary }: SwapPaths): void {
  addName(previous, current, temporary)
}

function addName(from: string, to: string, temporary: string): void {
  rmSync(temporary, { force: true })
  try {
    linkSync(from, temporary)
  } catch {
    // The file system has no hard links.
    copyFileSync(from, temporary)
    flush(temporary)
  }
  renameDurably(temporary, to)
  // POSIX: if both names are the same file already, a rename does nothing.
  rmSync(temporary, { force: true })
}
