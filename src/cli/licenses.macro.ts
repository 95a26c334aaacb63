import { existsSync, readFileSync, readdirSync } from 'node:fs'

type Manifest = {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name: string }
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Peer dependencies that the bundle contains. */
const PEERS = ['@sinclair/typebox', 'supports-color']

const ROOT = `${import.meta.dir}/../..`
const TEXT = /^(licen[cs]e|notice|copying)|\.license\.txt$/i
const RULE = '-'.repeat(80)

/** Licenses of everything in the executable, read at build time. */
export function readLicenses(): string {
  const packages = [...foldersBelow(ROOT), ...PEERS.map((name) => `${ROOT}/node_modules/${name}`)]
  const read = (name: string) => readFileSync(`${import.meta.dir}/licenses/${name}`, 'utf8')
  const parts = [
    section('Hookline', readFileSync(`${ROOT}/LICENSE`, 'utf8')),
    ...packages.toSorted().map((folder) => packageSection(folder)),
    section('Bun', read('bun.txt')),
    section('GNU Library General Public License, version 2', read('lgpl-2.txt')),
    section('GNU Lesser General Public License, version 2.1', read('lgpl-2.1.txt')),
  ]
  return parts.join('\n').replaceAll(/[\r\f]/g, '')
}

/** The folders of all runtime dependencies of the package in `folder`, direct and indirect. */
function foldersBelow(folder: string, found = new Set<string>()): ReadonlySet<string> {
  for (const name of Object.keys(readManifest(folder).dependencies ?? {})) {
    const below = folderOf(folder, name)
    if (found.has(below) || !existsSync(below)) continue
    found.add(below)
    foldersBelow(below, found)
  }
  return found
}

function packageSection(folder: string): string {
  const { name, version, license = 'no license named', author } = readManifest(folder)
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

/** Finds the package `name` as the package in `from` does: its own copy, or the copy of a folder above. */
function folderOf(from: string, name: string): string {
  const own = `${from}/node_modules/${name}`
  const above = from.replace(/\/node_modules\/(@[^/]+\/)?[^/]+$/, '')
  return existsSync(own) || above === from ? own : folderOf(above, name)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest // npm's own format.
}
