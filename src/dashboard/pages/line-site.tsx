import type { PhoneLine } from '../../api/phone-lines.ts'
import { SelectField, bindTo } from '../components/form.tsx'
import { useAction, useDashboard } from '../dashboard.ts'
import { useSites } from '../sources.ts'
import { lineName } from '../words/line-states.ts'

/** Shows nothing if there is no site. */
export function LineSite({ line }: { readonly line: PhoneLine }) {
  const { id, site_id: site = '' } = line
  const { api, notices } = useDashboard()
  const sites = useSites()
  const { start } = useAction(
    (to: string) => api.call('updatePhoneLine', { params: { id }, body: { site_id: to || null } }),
    () => notices.done('Moved, with its conversations.'),
    (failure) => notices.failed(failure.message),
  )
  if (sites.length === 0) return null
  const options = sites.map((one) => ({ value: one.id, text: one.name }))
  return (
    <SelectField
      label={`Site of ${lineName(line)}`}
      bind={bindTo(site, start)}
      options={[{ value: '', text: 'None' }, ...options]}
    />
  )
}
