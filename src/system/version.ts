import { existsSync } from 'node:fs'
import { arch, platform } from 'node:os'

import { version } from '../../package.json'

/** The version of this executable. */
export const VERSION: string = version

/** The name of this machine's platform in a release, such as `linux-x64`. */
export const PLATFORM = `${platform()}-${arch()}${existsSync('/etc/alpine-release') ? '-musl' : ''}`

/** The name of a platform's executable in a release. */
export function executableName(platform: string): string {
  return `hookline-${platform}`
}
