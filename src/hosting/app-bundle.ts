// Bundle around the executable on a Mac: permissions go to an app with a name, and bare executables can
// no longer be added to Full Disk Access (reported of macOS 26).

import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { writeFileAtomically } from '../system/files.ts'
import type { RunProcess } from '../system/process.ts'
import { signBundle, type Signer } from './code-signing.ts'
import { bundleInfoText, entitlementsText } from './property-lists.ts'
import { useTool } from './system-tool.ts'

export type BundleOrder = {
  /** Its path: `.../Hookline.app`. */
  readonly bundle: string
  /** The executable to copy. */
  readonly source: string
  readonly version: string
  readonly signer: Signer
}

const XATTR = '/usr/bin/xattr'

/** Path of the executable in a bundle. */
export function executableIn(bundle: string): string {
  return join(bundle, 'Contents', 'MacOS', 'hookline')
}

/**
 * Makes a new bundle in a staging folder and moves it into place once it is signed: macOS remembers the
 * signature of a file that has run, and kills a file that is overwritten in place.
 */
export async function makeBundle(
  run: RunProcess,
  { bundle, source, version, signer }: BundleOrder,
  signal: AbortSignal,
): Promise<void> {
  const folder = dirname(bundle)
  const [staging, aside] = [join(folder, '.hookline-new'), join(folder, '.hookline-old')]
  const made = join(staging, 'Hookline.app')
  const entitlements = join(staging, 'entitlements.plist')
  for (const left of [staging, aside]) rmSync(left, { recursive: true, force: true })
  try {
    mkdirSync(dirname(executableIn(made)), { recursive: true })
    copyFileSync(source, executableIn(made))
    chmodSync(executableIn(made), 0o755)
    writeFileAtomically(join(made, 'Contents', 'Info.plist'), bundleInfoText(version))
    writeFileAtomically(entitlements, entitlementsText())
    // Quarantine, and Finder's attributes: codesign refuses to sign with them.
    const args = ['-cr', made]
    await useTool(run, { path: XATTR, args, purpose: 'clean the bundle' }, signal)
    await signBundle(run, { bundle: made, entitlements, signer }, signal)
    mkdirSync(aside)
    exchange(bundle, made, join(aside, 'Hookline.app'))
  } finally {
    for (const left of [staging, aside]) rmSync(left, { recursive: true, force: true })
  }
}

/** Moves `bundle` to `aside` and `made` into its place, and back where that fails. */
function exchange(bundle: string, made: string, aside: string): void {
  if (existsSync(bundle)) renameSync(bundle, aside)
  try {
    renameSync(made, bundle)
  } catch (error) {
    if (existsSync(aside)) renameSync(aside, bundle)
    throw error
  }
}
