// Texts that go along with the executable, made from the sources of this version.

import { readFileSync } from 'node:fs'

import { readLicenses } from '../../src/cli/licenses.macro.ts'

const ROOT = `${import.meta.dir}/../..`
const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Documents = {
  /** Licences of everything inside. */
  readonly licenses: string
  /** Markdown. */
  readonly changelog: string
  /** Manual page, in roff. */
  readonly manual: string
  readonly completions: Readonly<Record<(typeof SHELLS)[number], string>>
}

export function readDocuments(): Documents {
  const [bash, zsh, fish] = SHELLS.map((shell) => printed('completions', shell))
  return {
    licenses: readLicenses(),
    changelog: readFileSync(`${ROOT}/src/guides/changelog.md`, 'utf8'),
    manual: printed('help', '--man'),
    completions: { bash: bash ?? '', zsh: zsh ?? '', fish: fish ?? '' },
  }
}

/** Part of the changelog about `version`, without its heading; throws where there is none. */
export function changesOf(changelog: string, version: string): string {
  const parts = changelog.split(/^## /m)
  const part = parts.find(
    (text) => text.startsWith(`${version}\n`) || text.startsWith(`${version} `),
  )
  if (part === undefined) {
    throw new Error(`src/guides/changelog.md says nothing of ${version}. Add: ## ${version}`)
  }
  return part.slice(part.indexOf('\n')).trim()
}

/** Output of a command of the sources. */
function printed(...args: readonly string[]): string {
  const env = { HOME: '/nowhere', PATH: process.env['PATH'] ?? '' }
  const child = Bun.spawnSync([process.execPath, `${ROOT}/src/main.ts`, ...args], { env })
  if (child.exitCode !== 0) throw new Error(child.stderr.toString())
  return child.stdout.toString()
}
