/** Systems that a release has an executable for; Debian and OCI name their processors differently. */
export const TARGETS = {
  'darwin-arm64': { compile: 'bun-darwin-arm64' },
  'darwin-x64': { compile: 'bun-darwin-x64' },
  'linux-x64': { compile: 'bun-linux-x64', packaged: 'amd64' },
  'linux-arm64': { compile: 'bun-linux-arm64', packaged: 'arm64' },
  'linux-x64-musl': { compile: 'bun-linux-x64-musl' },
  'linux-arm64-musl': { compile: 'bun-linux-arm64-musl' },
} as const satisfies Record<string, Target>

type Target = {
  readonly compile: Bun.Build.CompileTarget
  /** Name of the processor in a package and an image; none if neither is made. */
  readonly packaged?: 'amd64' | 'arm64'
}

export type TargetName = keyof typeof TARGETS
export type Packaged = NonNullable<Target['packaged']>

const TARGET_NAMES = Object.keys(TARGETS) as TargetName[] // TypeScript has strings for keys.

export function packagedOf(name: TargetName): Packaged | null {
  const target: Target = TARGETS[name]
  return target.packaged ?? null
}

/** Names of `names`, or all if there are none; throws if one is not a target. */
export function targetsOf(names: readonly string[]): readonly TargetName[] {
  const unknown = names.find((name) => !Object.hasOwn(TARGETS, name))
  if (unknown !== undefined) {
    throw new Error(`${unknown} is not a target. One of: ${TARGET_NAMES.join(', ')}.`)
  }
  return names.length === 0 ? TARGET_NAMES : TARGET_NAMES.filter((name) => names.includes(name))
}
