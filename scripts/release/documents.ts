// Texts that go along with the executable, made from the sources of this version.

import { readFileSync } from 'node:fs'

import { Options, type Call, type Command } from '../../src/cli/command.ts'
import { COMPLETIONS_COMMAND } from '../../src/cli/completions.ts'
import { HELP_COMMAND } from '../../src/cli/help.ts'
import { readLicenses } from '../../src/cli/licenses.macro.ts'
import type { Output } from '../../src/cli/output.ts'
import { COMMAND_GROUPS } from '../../src/cli/run.ts'

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

export async function readDocuments(): Promise<Documents> {
  const [bash = '', zsh = '', fish = ''] = await Promise.all(
    SHELLS.map((shell) => printed(COMPLETIONS_COMMAND, { args: [shell] })),
  )
  return {
    licenses: readLicenses(),
    changelog: readChangelog(),
    manual: await printed(HELP_COMMAND, { options: new Options([['man', 'true']]) }),
    completions: { bash, zsh, fish },
  }
}

/** Part of the changelog about `version`, without its heading; throws if there is none. */
export function changesOf(version: string): string {
  const parts = readChangelog().split(/^## /m)
  const part = parts.find((text) => /^\S*/.exec(text)?.[0] === version)
  if (part === undefined) {
    throw new Error(`src/guides/changelog.md says nothing of ${version}. Add: ## ${version}`)
  }
  return part.slice(part.indexOf('\n')).trim()
}

function readChangelog(): string {
  return readFileSync(`${import.meta.dir}/../../src/guides/changelog.md`, 'utf8')
}

/** Output of a command in a pipe. */
async function printed(command: Command, given: Partial<Call>): Promise<string> {
  const lines: unknown[] = []
  const out: Output = {
    data: (_json, more) => void lines.push(...more),
    note: () => {},
    problem: () => {},
    bar: () => ({ add: () => {}, end: () => {} }),
    during: (_title, work) => work,
  }
  const surroundings = { args: [], environment: {}, folder: '/', isTerminal: false, columns: null }
  const loadConfig = () => {
    throw new Error('These commands need no options.')
  }
  const own = { args: [], options: new Options(), groups: COMMAND_GROUPS }
  await command.run({ ...own, surroundings, out, loadConfig, ...given })
  return `${lines.join('\n')}\n`
}
