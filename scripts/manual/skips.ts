// What can't be run here, each for one of a few reasons.

export const REASONS = {
  mac: 'needs a Mac',
  program: 'another program',
  machine: 'another machine, or its files',
  root: 'root, or the service of this machine',
  release: 'a release',
  build: 'builds or tests the checkout',
} as const
export type Reason = keyof typeof REASONS

const COMMANDS: readonly (readonly [pattern: RegExp, reason: Reason])[] = [
  [/^(head|box)\$|--tls-cert/, 'machine'],
  [/^(ssh|scp|curl -fsSL) /, 'machine'],
  [/^\.?\.?\/?(scripts\/|git pull|bun )/, 'build'],
  [/^hookline (up|service|restart|down|logs)\b/, 'root'],
  [/^sudo |^systemctl /, 'root'],
  [/^hookline (upgrade|config set release_source)\b/, 'release'],
  [/^--iphone-|^hookline mac /, 'mac'],
  [/^\w+ mcp add hookline /, 'program'],
  [/^(n8n|npx|openclaw|tailscale|podman|hermes|caddy|uuidgen)\b/, 'program'],
  [/^hookline guide .*\|/, 'program'],
  // They wait for the other program, or call an address that is none.
  [/^hookline connect \S+ |^hookline alerts test|hookline imsg install/, 'program'],
  // Lines of `hookline.env`, or for the shell of another program.
  [/^(export )?[A-Z][A-Z_]+=\S+( |$)/, 'machine'],
]

/** Why a command isn't run; null if it is. */
export function whySkipped(command: string): Reason | null {
  return COMMANDS.find(([pattern]) => pattern.test(command))?.[1] ?? null
}

const BLOCKS: Readonly<Record<string, Reason>> = {
  'n8n json': 'program',
  'grafana json': 'program',
  'home-assistant json': 'program',
  'home-assistant python': 'program',
  'compatible-apis js': 'program',
  'mac json': 'mac',
}

/** Why the blocks of a guide in a language other than sh aren't run; null if they are. */
export function whyBlockSkipped(guide: string, language: string): Reason | null {
  return BLOCKS[`${guide} ${language}`] ?? null
}
