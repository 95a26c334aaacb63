import type { Setting } from '../../api/owner.ts'
import { formatter } from '../time-words.ts'

export function variableOf(name: Setting['name']): string {
  return `HOOKLINE_${name.toUpperCase()}`
}

const MOMENT = formatter({ dateStyle: 'medium', timeStyle: 'short' })

/** "Nov 21, 2026, 10:00 AM". */
export const momentWords = (iso: string) => MOMENT().format(Date.parse(iso))
