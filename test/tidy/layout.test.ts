import { expect, test } from 'bun:test'
import { readFileSync, readdirSync } from 'node:fs'

import { ROOT } from '../support/source-files.ts'

const TOP_LEVEL = [
  'LICENSE',
  'README.md',
  'bun.lock',
  'bunfig.toml',
  'migrations',
  'package.json',
  'scripts',
  'src',
  'test',
  'tsconfig.json',
]
/** Made here, and kept out of version control. */
const MADE = new Set(['node_modules', 'dist'])

const RUN_TIME_PACKAGES = [
  '@elysiajs/swagger',
  '@fontsource-variable/inter',
  '@modelcontextprotocol/server',
  '@nats-io/transport-node',
  '@preact/signals',
  '@xmldom/xmldom',
  'croner',
  'drizzle-orm',
  'elysia',
  'file-type',
  'jsonc-parser',
  'libphonenumber-js',
  'otpauth',
  'plist',
  'preact',
  'swagger-ui-dist',
  'typebox',
  'uqr',
]

type Manifest = {
  readonly packageManager: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

test('the top level holds what the README says, and nothing else', () => {
  const names = readdirSync(ROOT).filter((name) => !name.startsWith('.') && !MADE.has(name))

  expect(names.sort()).toEqual(TOP_LEVEL)
})

test('the program needs eighteen packages at run time: three in the browser, two for XML', () => {
  expect(Object.keys(manifest().dependencies).sort()).toEqual(RUN_TIME_PACKAGES)
})

test('every package, and bun itself, is pinned to one version', () => {
  const { dependencies, devDependencies, packageManager } = manifest()

  const loose = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(version))
    .map(([name]) => name)

  expect(loose).toEqual([])
  expect(packageManager).toBe(`bun@${devDependencies['bun-types']}`)
  expect(Bun.version).toBe(devDependencies['bun-types'] ?? '')
})

function manifest(): Manifest {
  return JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as Manifest // The file is ours.
}
