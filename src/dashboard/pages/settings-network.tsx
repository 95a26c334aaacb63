import { ChoiceSetting, SwitchSetting } from './settings-fields.tsx'
import type { About } from './settings-resources.ts'
import { Section, SettingFacts } from './settings-section.tsx'

const TARGETS = [
  { value: 'any-private', text: 'Anywhere, your own network too' },
  { value: 'public', text: 'Public addresses only' },
] as const

/** Who reaches the relay, and whom it reaches. */
export function NetworkSection({ about }: { readonly about: About }) {
  const { address, public_url, trusted_proxies } = about
  return (
    <Section title="Network" about="Where the relay listens, and where it may call.">
      <SettingFacts
        of={[
          ['Address', address, 'HOST, HOOKLINE_PORT'],
          ['Public URL', public_url ?? 'None', 'PUBLIC_URL'],
          ['Trusted proxies', trusted_proxies.join(', ') || 'None', 'TRUSTED_PROXIES'],
        ]}
      />
      <ChoiceSetting
        name="webhook_targets"
        label="Webhooks may go"
        hint="Programs beside the relay, such as n8n or Home Assistant, have private addresses."
        options={TARGETS}
      />
      <SwitchSetting
        name="open_metrics"
        label="Others may read the metrics"
        hint="Off, /metrics answers to this machine only."
      />
    </Section>
  )
}
