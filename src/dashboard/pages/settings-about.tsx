import type { About } from './settings-resources.ts'
import { Section, SettingFacts } from './settings-section.tsx'

/** What this relay is. */
export function AboutSection({ about }: { readonly about: About }) {
  return (
    <Section title="About" about="What runs here.">
      <SettingFacts
        of={[
          ['Version', about.version],
          ['Data directory', about.data_directory, 'DATA_DIR'],
          ['API documentation', <a href="/swagger">/swagger</a>],
          ['Licence', 'MIT'],
        ]}
      />
    </Section>
  )
}
