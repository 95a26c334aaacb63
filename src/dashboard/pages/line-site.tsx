import type { PhoneLine } from '../../api/phone-lines.ts'
import { bindTo } from '../components/form.tsx'
import { useQuickAction, useDashboard } from '../dashboard.ts'
import { lineName } from '../words/line-states.ts'
import { SiteSelect } from './site-filter.tsx'

/** Shows nothing if there is no site. */
export function LineSite({ line }: { readonly line: PhoneLine }) {
  const { id, site_id: site = '' } = line
  const { api, notices } = useDashboard()
  const { start } = useQuickAction(
    (to: string) => api.call('updatePhoneLine', { params: { id }, body: { site_id: to || null } }),
    () => notices.done('Moved, with its conversations.'),
  )
  return <SiteSelect label={`Site of ${lineName(line)}`} none="None" bind={bindTo(site, start)} />
}
