import { isUdid } from '../../../../domain/udid.ts'
import type { LaunchTrouble } from './launcher.ts'

/** What becomes an argument of a program has the form of a UDID, or nothing is started. */
export function udidTrouble(udid: string): LaunchTrouble | null {
  if (isUdid(udid)) return null
  return { code: 'launch_failed', why: 'What the phone calls its UDID is none.' }
}
