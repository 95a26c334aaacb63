// Words, numbers and sizes that several views share.

import { countWords as countIn } from '../../domain/number-words.ts'
import { once, regionLocale } from '../time-words.ts'

const NUMBERS = once(() => new Intl.NumberFormat(regionLocale()))

/** "7,180", or as the browser's region writes it. */
export function grouped(value: number): string {
  return NUMBERS().format(value)
}

/** "1 event", "30,020 events". */
export function countWords(count: number, noun: string): string {
  return countIn(count, noun, grouped)
}

export const COMMON = {
  product: 'Hookline',
  cancel: 'Cancel',
  close: 'Close',
  delete: 'Delete',
  done: 'Done',
  password: 'Password',
  reload: 'Reload',
  tryAgain: 'Try again',
  deleted: 'Deleted.',
} as const

const UNITS = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const STEP = 1_024

/** "812 kB", "1.4 GB"; at least one kilobyte. */
export function sizeWords(bytes: number): string {
  let size = Math.max(bytes / STEP, 1)
  let index = 0
  while (Math.round(size) >= STEP && index < UNITS.length - 1) {
    size /= STEP
    index += 1
  }
  const unit = UNITS[index] ?? 'terabyte'
  const maximumFractionDigits = size < 10 ? 1 : 0
  const format = { style: 'unit', unit, maximumFractionDigits } as const
  return new Intl.NumberFormat(regionLocale(), format).format(size)
}
