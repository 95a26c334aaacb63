import type { LaunchTrouble } from './launcher.ts'

/** 40 digits, or since the iPhone XS 8 and 16, mostly with a dash between. */
const UDID = /^(?:[0-9a-f]{40}|[0-9a-f]{8}-?[0-9a-f]{16})$/i

/** What becomes an argument of a program has the form of a UDID, or nothing is started. */
export function udidTrouble(udid: string): LaunchTrouble | null {
  if (UDID.test(udid)) return null
  return { code: 'launch_failed', why: 'What the phone calls its UDID is none.' }
}

/** Whether two ways to write a UDID mean the same phone. */
export function isSamePhone(one: string, other: string): boolean {
  return plain(one) === plain(other)
}

function plain(udid: string): string {
  return udid.replace('-', '').toLowerCase()
}
