// Looks for a newer release if the owner named a place of releases: the signed checksums there say its version.
// Nothing else is downloaded unless the owner upgrades.

import { isAbsolute, join } from 'node:path'

import type { UpdateState } from '../api/owner.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Finding } from '../domain/finding.ts'
import { timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import { readTextOrNull } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import { verifyMinisign, type MinisignKey } from '../system/minisign.ts'
import { executableName, PLATFORM, VERSION } from '../system/version.ts'

/** Reads the text at an https URL; throws with the reason if there is none. */
type FetchText = (url: string) => Promise<string>

/** The checksum file of a release. */
export const SUMS = 'SHA256SUMS'
const SIGNED_VERSION = /^hookline ([0-9A-Za-z.+-]{1,64})$/
/** The executable for this machine in a release. */
const FILE = executableName(PLATFORM)

export type Release = {
  readonly version: string
  /** True if the version is above this one and has an executable for this machine. */
  readonly isNewer: boolean
  /** The name of that executable, and its path or URL. */
  readonly file: { readonly name: string; readonly place: string }
  /** The verified checksum file and its signature, by name. */
  readonly beside: Readonly<Record<string, string>>
}

/** `releaseKey` verifies releases; null in a build without one. */
export function createUpdateCheck(
  { clock, settings }: Core,
  {
    releaseKey,
    fetchText,
  }: { readonly releaseKey: MinisignKey | null; readonly fetchText: FetchText },
) {
  const source = () => settings.get('release_source')
  let latest: UpdateState | null = null
  const updateState = (): UpdateState =>
    latest !== null && latest.source === source() ? latest : unknownState(source())
  async function checkUpdate(): Promise<UpdateState> {
    const place = source()
    if (place === null) {
      throw invalidRequest({
        path: 'release_source',
        message: 'is empty: set it to where releases are published',
      })
    }
    const found = await newestRelease(place, releaseKey, fetchText).then(
      ({ version, isNewer }) => {
        return { latest: version, is_newer: isNewer, fix: isNewer ? 'Run: hookline upgrade' : null }
      },
      (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
    )
    latest = { ...unknownState(place), checked_at: isoTime(timestamp(clock.now())), ...found }
    return latest
  }
  return {
    updateState,
    checkUpdate,
    findings(): readonly Finding[] {
      const { latest: version, is_newer: isNewer, fix } = updateState()
      if (!isNewer || version === null || fix === null) return []
      const title = `Hookline ${version} is available`
      const why = `This is version ${VERSION}.`
      const facts = { key: null, depends_on: null }
      return [{ code: 'update_available', severity: 'info', title, why, fix, ...facts }]
    },
    job: {
      name: 'update-check',
      finding: 'update_check_failed' as const,
      pattern: '37 9 * * *',
      fix: 'Correct the release source in the settings, or remove it.',
      firstAfterMs: null,
      async run() {
        if (source() === null) return
        const { problem } = await checkUpdate()
        if (problem !== null) throw new Error(problem)
      },
    },
  }
}

function unknownState(source: string | null): UpdateState {
  const nothing = { latest: null, is_newer: false, checked_at: null, fix: null, problem: null }
  return { version: VERSION, source, ...nothing }
}

/** Throws with the reason if there is no release that this build can verify. */
export async function newestRelease(
  source: string,
  releaseKey: MinisignKey | null,
  fetchText: FetchText,
): Promise<Release> {
  if (releaseKey === null) throw new Error('This build has no release key to verify releases with.')
  const isFolder = isAbsolute(source)
  const placeOf = (name: string) =>
    isFolder ? join(source, name) : `${source.replace(/\/$/, '')}/${name}`
  const read = (name: string) => (isFolder ? readFile(placeOf(name)) : fetchText(placeOf(name)))
  const [sums, signature] = [await read(SUMS), await read(`${SUMS}.minisig`)]
  const comment = verifyMinisign(releaseKey, Buffer.from(sums), signature)
  const version = SIGNED_VERSION.exec(comment ?? '')?.[1]
  if (version === undefined)
    throw new Error(`${placeOf(SUMS)} is not signed with Hookline's release key.`)
  const hasFile = sums.split('\n').some((line) => line.endsWith(` ${FILE}`))
  return {
    version,
    isNewer: hasFile && Bun.semver.order(version, VERSION) > 0,
    file: { name: FILE, place: placeOf(FILE) },
    beside: { [SUMS]: sums, [`${SUMS}.minisig`]: signature },
  }
}

function readFile(path: string): string {
  const text = readTextOrNull(path)
  if (text === null) throw new Error(`${path} cannot be read.`)
  return text
}
