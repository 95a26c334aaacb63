import { existsSync } from 'node:fs'
import { arch, platform } from 'node:os'

import { version } from '../../package.json'

/** The version of this executable. */
export const VERSION: string = version

/** Name of this machine's platform in a release, as `linux-x64`. */
export const PLATFORM = `${platform()}-${arch()}${existsSync('/etc/alpine-release') ? '-musl' : ''}`

/** Name of the executable of a platform in a release. */
export function executableName(platform: string): string {
  return `hookline-${platform}`
}
