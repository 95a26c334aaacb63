// Executables of versions that do not exist yet: the sources of this one with a migration more, compiled
// in a folder of their own.

import { generateKeyPairSync } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { minisignPublicKey } from '../../scripts/sign-release.ts'
import { MIGRATIONS, USABLE_FROM } from '../../src/storage/migrations.ts'
import type { ScratchFolder } from './scratch-folder.ts'
import { ROOT } from './source-files.ts'

/** A place in the sources, and what stands there instead. */
export type Patch = readonly [file: string, from: string, to: string]

/** The secret half of the key that these versions trust. */
export const RELEASE_KEY = generateKeyPairSync('ed25519').privateKey

const COPIED = ['src', 'migrations', 'scripts', 'package.json', 'tsconfig.json', 'LICENSE']
const ADDS = 'CREATE TABLE notes (id TEXT PRIMARY KEY NOT NULL) STRICT;'

/** Makes every older executable refuse what this one leaves. */
const BREAKS_OLDER: Patch = [
  'src/storage/migrations.ts',
  `const USABLE_FROM = ${USABLE_FROM}`,
  `const USABLE_FROM = ${MIGRATIONS.length + 1}`,
]

/** The version `version`, with a migration that older ones cannot live with; compiled at the first call. */
export function builtOnce(
  folder: ScratchFolder,
  version: string,
  patches: readonly Patch[] = [],
): string {
  const built = folder.file(`${version}/out/hookline`)
  return existsSync(built) ? built : buildVersion(folder, version, [BREAKS_OLDER, ...patches])
}

/** Compiles the version `version` in `folder`, and gives the path of the executable. */
function buildVersion(
  folder: ScratchFolder,
  version: string,
  patches: readonly Patch[] = [],
): string {
  const sources = folder.file(version)
  mkdirSync(sources)
  for (const name of COPIED) cpSync(join(ROOT, name), join(sources, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'))
  writeFileSync(join(sources, 'migrations', '9999_adds.sql'), ADDS)
  writeFileSync(join(sources, '.release-key.pub'), minisignPublicKey(RELEASE_KEY))
  const own = readFileSync(join(ROOT, 'package.json'), 'utf8')
  const { version: before } = JSON.parse(own) as { readonly version: string } // The file is ours.
  const isVersion: Patch = ['package.json', `"version": "${before}"`, `"version": "${version}"`]
  for (const [file, from, to] of [isVersion, ...patches]) replaceIn(join(sources, file), from, to)
  const out = join(sources, 'out')
  const command = [process.execPath, 'scripts/build.ts', '--to', out]
  const build = Bun.spawnSync(command, { cwd: sources })
  if (build.exitCode !== 0) throw new Error(`The build failed:\n${build.stderr.toString()}`)
  return join(out, 'hookline')
}

function replaceIn(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} does not say: ${from}`)
  writeFileSync(path, text.replace(from, to))
}
