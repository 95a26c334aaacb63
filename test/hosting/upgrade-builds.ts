// Executables that are notes of how they behave.

import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'

import { MIGRATIONS } from '../../src/storage/migrations.ts'
import type { ProcessEnd, ProcessOrder } from '../../src/system/process.ts'

/** An executable: what it says, and what it does. */
export type Build = {
  readonly version: string
  readonly schema: number
  /** Written into the database by its migration. */
  readonly usableFrom: number
  readonly how:
    | 'works'
    /** Finds something wrong with the copy. */
    | 'refuses'
    /** Takes 100 s for the trial of its migrations, and 200 s to start. */
    | 'is slow'
    /** Migrates, and says nothing. */
    | 'is silent'
    | 'is in safe mode'
    /** Is ready, and takes no word. */
    | 'is deaf'
    /** Cannot be started by the service. */
    | 'does not start'
}

export const OLD: Build = {
  version: '1.0.0',
  schema: MIGRATIONS.length,
  usableFrom: 1,
  how: 'works',
}
export const NEXT: Build = { ...OLD, version: '2.0.0', schema: MIGRATIONS.length + 1 }
/** The old executable cannot use what this one leaves. */
export const BREAKING: Build = { ...NEXT, usableFrom: NEXT.schema }

export function writeBuild(path: string, build: Build): void {
  writeFileSync(path, JSON.stringify(build), { mode: 0o755 })
}

/** Null if there is no whole executable. */
export function readBuild(path: string): Build | null {
  try {
    accessSync(path, constants.X_OK)
    return JSON.parse(readFileSync(path, 'utf8')) as Build // Written above.
  } catch {
    return null
  }
}

export function runBuild({ path, args }: ProcessOrder): ProcessEnd {
  const build = readBuild(path)
  if (build === null) return { end: 'not_started', why: 'ENOEXEC' }
  const isAsked = args[0] === 'version'
  const exitCode = !isAsked && build.how === 'refuses' ? 78 : 0
  const stdout = isAsked ? JSON.stringify({ version: build.version, schema: build.schema }) : ''
  return { end: 'exited', exitCode, stdout, stderr: exitCode === 0 ? '' : 'It does not fit.' }
}
