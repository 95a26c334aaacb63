import { useSignal } from '@preact/signals'

import { chooseTheme, chosenTheme, THEMES, type Theme } from '../theme.ts'
import { Section } from './settings-section.tsx'

const NAMES: Readonly<Record<Theme, string>> = {
  system: 'System',
  light: 'Light',
  dark: 'Dark',
}

/** How the page looks in this browser. */
export function ThemeSection() {
  const chosen = useSignal(chosenTheme())
  return (
    <Section title="General" about="How this page looks in this browser.">
      <fieldset class="choices">
        <legend>Theme</legend>
        {THEMES.map((theme) => (
          <label key={theme}>
            <input
              type="radio"
              name="theme"
              checked={chosen.value === theme}
              onChange={() => {
                chooseTheme(theme)
                chosen.value = theme
              }}
            />
            <span>{NAMES[theme]}</span>
          </label>
        ))}
      </fieldset>
    </Section>
  )
}
