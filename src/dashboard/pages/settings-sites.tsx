// Sites: list, add, order, time zone. The page of a line moves the line to one.

import { useSignal } from '@preact/signals'

import type { Site, SiteChanges } from '../../api/sites.ts'
import { Button } from '../components/button.tsx'
import { NameDialog } from '../components/dialog.tsx'
import { SelectField, bindTo } from '../components/form.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction, useDashboard, useQuickAction } from '../dashboard.ts'
import { useSites } from '../sources.ts'
import { countWords } from '../words/common.ts'
import { Section } from './settings-fields.tsx'

export function SitesSection() {
  const sites = useSites()
  const { api } = useDashboard()
  const [isAdding, name] = [useSignal(false), useSignal('')]
  const onClose = () => (isAdding.value = false)
  const action = useAction(() => api.call('createSite', { body: { name: name.value } }), onClose)
  return (
    <Section name="sites">
      {sites.map((site) => (
        <SiteRow key={site.id} site={site} />
      ))}
      <div class="actions">
        <Button icon="plus" onClick={() => (isAdding.value = true)}>
          Add site
        </Button>
      </div>
      {isAdding.value && (
        <NameDialog
          {...{ name, action, onClose }}
          title="Add site"
          confirm="Add site"
          hint="Then choose it on the pages of its lines."
          maxLength={80}
        />
      )}
    </Section>
  )
}

function SiteRow({
  site: { id, name, position, time_zone: zone, phone_line_ids: lines },
}: {
  readonly site: Site
}) {
  const { api, notices } = useDashboard()
  const change = useQuickAction(
    (body: SiteChanges) => api.call('updateSite', { params: { id }, body }),
    () => notices.done('Saved.'),
  )
  const zones = ['UTC', zone, ...Intl.supportedValuesOf('timeZone')]
  return (
    <div class="stack-tight">
      <p>
        <PersonText>{name}</PersonText> · {countWords(lines.length, 'line')}
      </p>
      <SelectField
        label={`Time zone of ${name}`}
        bind={bindTo(zone, (time_zone) => change.start({ time_zone }))}
        options={[...new Set(zones)].map((value) => ({ value, text: value.replaceAll('_', ' ') }))}
      />
      <div class="actions">
        {position > 0 && (
          <Button onClick={() => change.start({ position: position - 1 })}>Move up</Button>
        )}
      </div>
    </div>
  )
}
