import { ChoiceSetting, SwitchSetting } from './settings-fields.tsx'
import { Fact, Section } from './settings-section.tsx'
import type { About } from './settings-sources.ts'

const TARGETS = [
  { value: 'any-private', text: 'Anywhere, your own network too' },
  { value: 'public', text: 'Public addresses only' },
] as const

/** Who reaches the relay, and whom it reaches. */
export function NetworkSection({ about }: { readonly about: About }) {
  return (
    <Section title="Network" about="Where the relay listens, and where it may call.">
      <StartFacts about={about} />
      <ChoiceSetting
        name="webhook_targets"
        label="Webhooks may go"
        hint="Programs of yours that run beside the relay, such as n8n or Home Assistant, have private addresses."
        options={TARGETS}
      />
      <SwitchSetting
        name="open_metrics"
        label="Others may read the metrics"
        hint="Switched off, /metrics answers to this machine only."
      />
    </Section>
  )
}

function StartFacts({ about }: { readonly about: About }) {
  const { address, public_url, trusted_proxies } = about
  return (
    <dl class="settings-facts">
      <Fact name="Address" variable="HOOKLINE_HOST, HOOKLINE_PORT">
        {address}
      </Fact>
      <Fact name="Public URL" variable="HOOKLINE_PUBLIC_URL">
        {public_url ?? 'None'}
      </Fact>
      <Fact name="Trusted proxies" variable="HOOKLINE_TRUSTED_PROXIES">
        {trusted_proxies.length === 0 ? 'None' : trusted_proxies.join(', ')}
      </Fact>
    </dl>
  )
}
