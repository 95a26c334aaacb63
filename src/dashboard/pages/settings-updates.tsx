import { useSignal } from '@preact/signals'

import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { Facts } from '../components/page.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { UpdateState } from '../resources.ts'
import { SETTINGS as WORDS } from '../words/settings.ts'
import { Section, TextSetting, useSetting } from './settings-fields.tsx'

const NO_SOURCE = 'none'

export function UpdatesSection({ version }: { readonly version: string }) {
  const { api } = useDashboard()
  const found = useSignal<UpdateState | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.post<UpdateState>('update-check'),
    (state) => (found.value = state),
  )
  const isSet = useSetting('release_source').setting?.value !== NO_SOURCE
  return (
    <Section name="updates" words={WORDS.updates}>
      <Facts of={[[WORDS.version, version]]} />
      <TextSetting
        name="release_source"
        label={WORDS.source}
        hint={WORDS.sourceHint}
        toText={(value) => (value === NO_SOURCE ? '' : value)}
        toValue={(text) => (text === '' ? NO_SOURCE : text)}
      />
      {isSet && (
        <div class="actions">
          <Button isBusy={isBusy} onClick={start}>
            {WORDS.checkNow}
          </Button>
        </div>
      )}
      {found.value !== null && isSet && <UpdateFound state={found.value} />}
      <FailureNote failure={failure} />
    </Section>
  )
}

function UpdateFound({ state: { latest, fix, problem } }: { readonly state: UpdateState }) {
  if (problem !== null) {
    return (
      <Callout tone="warn" role="status" title={WORDS.notChecked}>
        {problem}
      </Callout>
    )
  }
  const title = fix === null ? undefined : WORDS.available(latest ?? '')
  return (
    <Callout tone={fix === null ? 'ok' : 'plain'} role="status" title={title}>
      {fix ?? WORDS.upToDate}
    </Callout>
  )
}
