// Light or dark: as the system has it, or as the owner chose in Settings.

import { keep, readKept } from './browser-storage.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const NAME = 'hookline-theme'

export function chosenTheme(): Theme {
  const kept = readKept(NAME)
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

export function chooseTheme(theme: Theme): void {
  keep(NAME, theme === 'system' ? null : theme)
  showTheme()
}

/** Puts the choice on the page; without one the system's holds. */
export function showTheme(): void {
  const theme = chosenTheme()
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
}
