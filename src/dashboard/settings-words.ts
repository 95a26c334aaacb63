import { grouped } from '../domain/number-words.ts'
import type { Backup, Setting } from './resources.ts'
import { clockTime, dayWords } from './time-words.ts'

export function variableOf(name: Setting['name']): string {
  return `HOOKLINE_${name.toUpperCase()}`
}

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const
const STEP = 1_024

/** "812 KB", "1.4 GB"; at least one kilobyte. */
export function sizeWords(bytes: number): string {
  let size = Math.max(bytes / STEP, 1)
  let unit = 0
  while (Math.round(size) >= STEP && unit < UNITS.length - 1) {
    size /= STEP
    unit += 1
  }
  return `${size < 10 ? size.toFixed(1) : grouped(Math.round(size))} ${UNITS[unit]}`
}

/** "Today, 03:12". */
export function momentWords(iso: string, now: number): string {
  return `${dayWords(iso, now)}, ${clockTime(iso)}`
}

export function backupKindWords({ kind }: Backup): string {
  return kind === 'daily' ? 'Regular' : 'Before an upgrade'
}
