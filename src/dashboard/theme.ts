// Light or dark: as the system has it, or as the owner chose in Settings. Only this choice is kept in
// the browser's storage.

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const NAME = 'hookline-theme'

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(NAME)
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(NAME)
  else localStorage.setItem(NAME, theme)
  showTheme()
}

/** Puts the choice on the page; without one the system's holds. */
export function showTheme(): void {
  const theme = chosenTheme()
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
}
