import type { PhoneLine } from '../../api/phone-lines.ts'
import { type PageName, href } from '../address.ts'
import { SelectField, bindTo } from '../components/form.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { useSites } from '../sources.ts'
import { lineName } from '../words/line-states.ts'

/** Keeps the site in the page's address. Shows nothing if there is no site. */
export function SiteFilter({ page }: { readonly page: PageName }) {
  const { router } = useDashboard()
  const { path, query } = router.route.value
  // The chosen line may belong to another site.
  const show = (site: string) => router.replace(href(page, path, { ...query, site, line: '' }))
  return (
    <SiteSelect
      label="Site"
      isLabelHidden
      none="All sites"
      bind={bindTo(query['site'] ?? '', show)}
    />
  )
}

/** `none` names the choice of no site. */
type SelectProps = Omit<Parameters<typeof SelectField>[0], 'options'> & { readonly none: string }

/** Shows nothing if there is no site. */
function SiteSelect({ none, ...field }: SelectProps) {
  const sites = useSites()
  if (sites.length === 0) return null
  const options = sites.map(({ id: value, name: text }) => ({ value, text }))
  return <SelectField {...field} options={[{ value: '', text: none }, ...options]} />
}

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
