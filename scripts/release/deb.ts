// The package for Debian and its relatives: the executable, the unit that each user may start, and what
// documents them. Data are in the homes of users, where no package touches anything.

import { createHash } from 'node:crypto'

import { SERVICE_ENVIRONMENT } from '../../src/hosting/service-host.ts'
import { PACKAGED_UNIT, systemdUnit } from '../../src/hosting/systemd.ts'
import { ar, gzip, tar, type Entry } from './archives.ts'
import type { Documents } from './documents.ts'
import type { Packaged } from './targets.ts'

export type DebOrder = {
  /** Version as semver writes it. */
  readonly version: string
  /** Address of the repository that publishes it, if one does. */
  readonly repository: string | null
  readonly architecture: Packaged
  readonly executable: Uint8Array
  readonly documents: Documents
  readonly seconds: number
  /** Level of gzip. */
  readonly level?: number
}

const PACKAGED_EXECUTABLE = '/usr/bin/hookline'
const KIB = 1_024

/** Calls systemctl of each user who is logged in or lingers; if one cannot be reached, nothing stops. */
const EACH_USER = `each_user() {
  [ -d /run/systemd/system ] || return 0
  systemctl --plain --no-legend --quiet list-units 'user@*.service' | while read -r unit _; do
    user=\${unit#user@}
    systemctl --quiet --user --machine "\${user%.service}@" "$@" </dev/null || :
  done
}
`
/** Behind an upgrade, relays that run go over to the new version. */
const POSTINST = `#!/bin/sh
set -e
${EACH_USER}
if [ "$1" = configure ]; then
  each_user daemon-reload
  [ -z "$2" ] || each_user try-restart hookline.service
fi
`
const PRERM = `#!/bin/sh
set -e
${EACH_USER}
if [ "$1" = remove ]; then
  each_user stop hookline.service
fi
`

export function debName(version: string, architecture: Packaged): string {
  return `hookline_${debVersion(version)}_${architecture}.deb`
}

export function deb(order: DebOrder): Buffer {
  const { seconds, level } = order
  const files = filesOf(order)
  const control = [
    { path: 'control', mode: 0o644, content: controlOf(order, files) },
    { path: 'md5sums', mode: 0o644, content: md5sums(files) },
    { path: 'postinst', mode: 0o755, content: POSTINST },
    { path: 'prerm', mode: 0o755, content: PRERM },
  ]
  const packed = (entries: readonly Entry[]) => gzip(tar(entries, { seconds, prefix: './' }), level)
  return ar(
    [
      ['debian-binary', Buffer.from('2.0\n')],
      ['control.tar.gz', packed(control)],
      ['data.tar.gz', packed(files)],
    ],
    seconds,
  )
}

function filesOf({ executable, documents }: DebOrder): readonly Entry[] {
  const { licenses, changelog, manual, completions } = documents
  const unit = systemdUnit({ executable: PACKAGED_EXECUTABLE, environment: SERVICE_ENVIRONMENT })
  const file = (path: string, content: Uint8Array | string, mode = 0o644) => {
    return { path: path.slice(1), mode, content }
  }
  return [
    file(PACKAGED_EXECUTABLE, executable, 0o755),
    file(PACKAGED_UNIT, unit),
    file('/usr/share/doc/hookline/copyright', licenses),
    file('/usr/share/doc/hookline/changelog.gz', gzip(changelog)),
    file('/usr/share/man/man1/hookline.1.gz', gzip(manual)),
    file('/usr/share/bash-completion/completions/hookline', completions.bash),
    file('/usr/share/zsh/vendor-completions/_hookline', completions.zsh),
    file('/usr/share/fish/vendor_completions.d/hookline.fish', completions.fish),
  ]
}

function controlOf(order: DebOrder, files: readonly Entry[]): string {
  const { version, repository, architecture } = order
  const bytes = files.reduce((sum, { content = '' }) => sum + Buffer.byteLength(content), 0)
  return `Package: hookline
Version: ${debVersion(version)}
Architecture: ${architecture}
Maintainer: Hookline
Installed-Size: ${Math.ceil(bytes / KIB)}
Depends: libc6 (>= 2.17)
Recommends: dbus-user-session, libpam-systemd
Section: net
Priority: optional
${repository === null ? '' : `Homepage: ${repository}\n`}Description: self-hosted iMessage relay
 Programs send and receive messages through your own phone lines, over an
 HTTP API. To start it as a service of yours, run: hookline up
`
}

/** Debian sorts `0.2.0~rc.1` before `0.2.0`, and a hyphen begins the number of a packaging. */
function debVersion(version: string): string {
  return version.replace('-', '~').replaceAll('-', '.')
}

function md5sums(files: readonly Entry[]): string {
  const sum = (content: Uint8Array | string) => createHash('md5').update(content).digest('hex')
  return files.map(({ path, content = '' }) => `${sum(content)}  ${path}\n`).join('')
}
