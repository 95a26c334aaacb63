// The executable changes by renames within one folder: at every moment its name stands for a whole file,
// the old one or the new one. It is never written over: a running one refuses that on Linux, and macOS
// kills what changes under a signature that it has seen.

import { copyFileSync, linkSync, rmSync } from 'node:fs'

import { flush, renameDurably } from '../system/files.ts'

/** The executable, and the files beside it that an upgrade makes. */
export type SwapPaths = {
  readonly current: string
  /** The new one, until it takes its place. */
  readonly staged: string
  /** The old one, for the way back. */
  readonly previous: string
  /** What is about to become another name. */
  readonly passing: string
}

export function swapPathsOf(executable: string): SwapPaths {
  return {
    current: executable,
    staged: `${executable}.new`,
    previous: `${executable}.previous`,
    passing: `${executable}.passing`,
  }
}

/** Removes what an upgrade left that did not come to its end. */
export function clearStaged({ staged, passing }: SwapPaths): void {
  for (const left of [staged, passing]) rmSync(left, { force: true })
}

/** Gives the current executable the second name under which the way back finds it. */
export function keepPrevious({ current, previous, passing }: SwapPaths): void {
  rename(current, { passing, to: previous })
}

export function placeStaged({ current, staged }: SwapPaths): void {
  renameDurably(staged, current)
}

/** Makes the previous executable the current one again; its own name stays too. */
export function putPreviousBack({ current, previous, passing }: SwapPaths): void {
  rename(previous, { passing, to: current })
}

function rename(
  from: string,
  { passing, to }: { readonly passing: string; readonly to: string },
): void {
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
