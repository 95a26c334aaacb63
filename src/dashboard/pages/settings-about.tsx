import { Fact, Section } from './settings-section.tsx'
import type { About } from './settings-sources.ts'

/** What this relay is. */
export function AboutSection({ about }: { readonly about: About }) {
  return (
    <Section title="About" about="What runs here.">
      <dl class="settings-facts">
        <Fact name="Version">{about.version}</Fact>
        <Fact name="Data directory" variable="HOOKLINE_DATA_DIR">
          {about.data_directory}
        </Fact>
        <Fact name="API documentation">
          <a href="/swagger">/swagger</a>
        </Fact>
        <Fact name="Licence">MIT</Fact>
      </dl>
    </Section>
  )
}
