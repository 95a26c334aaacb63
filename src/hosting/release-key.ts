import { parseMinisignKey, type MinisignKey } from '../system/minisign.ts'
import { readReleaseKey } from './release-key.macro.ts' with { type: 'macro' }

const TEXT: string | null = readReleaseKey()

/** The key that releases are signed with; null in a build from a checkout that has none. */
export const RELEASE_KEY: MinisignKey | null = TEXT === null ? null : parseMinisignKey(TEXT)
