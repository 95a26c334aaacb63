// Makes a release: executables, packages, checksums, and the signature over them.
//
//   bun scripts/release.ts --key FILE --repository OWNER/NAME   everything, into dist/release
//   bun scripts/release.ts --unsigned       for a try: nobody can verify where it is from
//
// `--targets linux-x64,darwin-arm64` makes some of it, `--out FOLDER` elsewhere, `--built FOLDER` of
// executables that are there. What names an address names the repository; a try without one names none. The
// key is made once by `scripts/sign-release.ts --make-key`.

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { VERSION } from '../src/system/version.ts'
import { sha256 } from './release/archives.ts'
import { deb, debName } from './release/deb.ts'
import { changesOf, readDocuments, type Documents } from './release/documents.ts'
import { formula } from './release/formula.ts'
import { findLibrary, imageArchive, LIBRARY_PACKAGES, type ImagePart } from './release/image.ts'
import { repositoryUrl } from './release/repository.ts'
import { packagesInside, sbom } from './release/sbom.ts'
import { packagedOf, targetsOf, type TargetName } from './release/targets.ts'
import { minisignPublicKey, signRelease } from './sign-release.ts'

const ROOT = `${import.meta.dir}/..`
const PUBLIC_KEY = `${ROOT}/.release-key.pub`

type Release = {
  readonly documents: Documents
  /** Address of the repository that publishes it; null for a try that names none. */
  readonly repository: string | null
  /** Part of the changelog about this version. */
  readonly changes: string
  readonly executables: Map<TargetName, Uint8Array>
  /** Sentences on what could not be made. */
  readonly problems: string[]
}

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: `${ROOT}/dist/release` },
    targets: { type: 'string', default: '' },
    built: { type: 'string' },
    key: { type: 'string' },
    unsigned: { type: 'boolean', default: false },
    repository: { type: 'string' },
  },
})

try {
  await make(releaseKey(), releaseRepository())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function make(key: KeyObject | null, repository: string | null): Promise<void> {
  const { out } = options
  const targets = targetsOf(options.targets.split(',').filter((name) => name !== ''))
  const changes = changesOf(VERSION)
  const documents = await readDocuments()
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const release: Release = { documents, repository, changes, executables: new Map(), problems: [] }
  for (const name of targets) addExecutable(release, name)
  await writeFiles(release)
  await writeSums()
  if (key !== null && repository !== null) signRelease(out, key, repository)
  for (const problem of release.problems) console.error(`Missing: ${problem}`)
  console.log(`${out}: ${readdirSync(out).length} files of Hookline ${VERSION}`)
  process.exitCode = release.problems.length === 0 ? 0 : 1
}

/** Key to sign with; null for a release that is not signed. */
function releaseKey(): KeyObject | null {
  if (options.unsigned) return null
  if (options.key === undefined) {
    throw new Error('A release is signed: --key FILE. For a try without a signature: --unsigned.')
  }
  const secret = createPrivateKey(readFileSync(options.key))
  const trusted = existsSync(PUBLIC_KEY) ? readFileSync(PUBLIC_KEY, 'utf8') : 'none'
  if (trusted.trim() === minisignPublicKey(secret).trim()) return secret
  throw new Error(
    `${options.key} is not the secret half of .release-key.pub, which every executable trusts. ` +
      'A key is made once: bun scripts/sign-release.ts --make-key FILE',
  )
}

/** Address of the repository that publishes the release; null for a try that names none. */
function releaseRepository(): string | null {
  if (options.repository !== undefined) return repositoryUrl(options.repository)
  if (options.unsigned) return null
  throw new Error('A release says where it is published: --repository OWNER/NAME.')
}

/** Date of the commit, so that two releases of it are the same; SOURCE_DATE_EPOCH goes first. */
function commitSeconds(): number {
  const given = process.env['SOURCE_DATE_EPOCH']
  if (given !== undefined) return Number(given)
  const git = Bun.spawnSync(['git', 'log', '-1', '--format=%ct'], { cwd: ROOT })
  return Number(git.stdout.toString())
}

/** Builds the executable, or takes it from the folder of those that are built. */
function addExecutable(release: Release, name: TargetName): void {
  const { executables, problems, repository } = release
  const { built, out } = options
  const file = join(out, `hookline-${name}`)
  if (built === undefined) {
    const command = [process.execPath, `${ROOT}/scripts/build.ts`, '--target', name, '--to', out]
    if (repository !== null) command.push('--repository', repository)
    const build = Bun.spawnSync(command, { stdout: 'inherit', stderr: 'pipe' })
    if (build.exitCode !== 0) {
      const why = `Bun fetches the runtime of each target once:\n${build.stderr.toString().trim()}`
      return void problems.push(`hookline-${name}, which cannot be built. ${why}`)
    }
  } else if (existsSync(join(built, `hookline-${name}`))) {
    cpSync(join(built, `hookline-${name}`), file, { dereference: true })
    const map = join(built, `hookline-${name}.map`)
    if (existsSync(map)) cpSync(map, `${file}.map`, { dereference: true })
  } else return void problems.push(`hookline-${name}, which is not in ${built}`)
  executables.set(name, readFileSync(file))
}

async function writeFiles(release: Release): Promise<void> {
  const { documents, repository, executables, problems } = release
  const seconds = commitSeconds()
  const write = (name: string, content: string | Uint8Array) =>
    Bun.write(join(options.out, name), content)
  await write('LICENSES.txt', documents.licenses)
  await write('CHANGES.md', `${release.changes}\n`)
  await write(
    `hookline-${VERSION}.cdx.json`,
    sbom({ version: VERSION, repository, seconds, inside: await packagesInside() }),
  )
  const sums = new Map([...executables].map(([name, bytes]) => [name, sha256(bytes)] as const))
  if (repository !== null)
    await write('hookline.rb', formula({ version: VERSION, repository, sums }))
  const parts: ImagePart[] = []
  for (const [name, executable] of executables) {
    const architecture = packagedOf(name)
    if (architecture === null) continue
    const order = { version: VERSION, repository, architecture, executable, documents, seconds }
    await write(debName(VERSION, architecture), deb(order))
    const library = findLibrary(architecture)
    if (library !== null) parts.push({ architecture, executable, library })
    else
      problems.push(`the image for ${architecture}: apt install ${LIBRARY_PACKAGES[architecture]}`)
  }
  if (parts.length === 0) return
  await write(
    `hookline-${VERSION}-oci.tar`,
    imageArchive({ version: VERSION, repository, documents, seconds, parts }),
  )
}

async function writeSums(): Promise<void> {
  const { out } = options
  // A build leaves the sums of its own files.
  const names = readdirSync(out)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
  const lines = names.map((name) => `${sha256(readFileSync(join(out, name)))}  ${name}\n`)
  await Bun.write(join(out, 'SHA256SUMS'), lines.join(''))
}
