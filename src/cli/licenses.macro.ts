import { existsSync, readFileSync, readdirSync } from 'node:fs'

type Manifest = {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

const ROOT = `${import.meta.dir}/../..`
const OWN = `${import.meta.dir}/licenses`
const TEXT = /^(licen[cs]e|notice|copying)|\.license\.txt$/i
const RULE = '-'.repeat(80)

/** Licenses of everything in the executable, read at build time. */
export function readLicenses(): string {
  const packages = [...manifestsBelow(readManifest(ROOT))].toSorted()
  const read = (name: string) => readFileSync(`${OWN}/${name}`, 'utf8')
  const parts = [
    section('Hookline', readFileSync(`${ROOT}/LICENSE`, 'utf8')),
    ...packages.map((name) => packageSection(name)),
    section('Bun', read('bun.txt')),
    section('GNU Library General Public License, version 2', read('lgpl-2.txt')),
    section('GNU Lesser General Public License, version 2.1', read('lgpl-2.1.txt')),
  ]
  return parts.join('\n').replaceAll(/[\r\f]/g, '')
}

/** Names of all runtime dependencies of `manifest`, direct and indirect. */
function manifestsBelow(manifest: Manifest, found = new Set<string>()): ReadonlySet<string> {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (found.has(name) || !existsSync(folderOf(name))) continue
    found.add(name)
    manifestsBelow(readManifest(folderOf(name)), found)
  }
  return found
}

function packageSection(name: string): string {
  const folder = folderOf(name)
  const { version, license = 'no license named', author } = readManifest(folder)
  const texts = readdirSync(folder)
    .filter((file) => TEXT.test(file))
    .toSorted()
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim())
  const holder = typeof author === 'string' ? author : (author?.name ?? 'its authors')
  const without = `Copyright (c) ${holder}. The package does not include the text of its license, ${license}.`
  return section(`${name} ${version} (${license})`, texts.length > 0 ? texts.join('\n\n') : without)
}

function section(title: string, text: string): string {
  return `${RULE}\n${title}\n${RULE}\n\n${text.trim()}\n`
}

function folderOf(name: string): string {
  return `${ROOT}/node_modules/${name}`
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest // npm's own format.
}
