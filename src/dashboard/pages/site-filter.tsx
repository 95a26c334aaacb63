import type { PageName } from '../address.ts'
import { href } from '../address.ts'
import { SelectField, bindTo } from '../components/form.tsx'
import { useDashboard } from '../dashboard.ts'
import { useSites } from '../sources.ts'

/** Keeps the site in the page's address. Shows nothing if there is no site. */
export function SiteFilter({ page }: { readonly page: PageName }) {
  const { router } = useDashboard()
  const sites = useSites()
  const { path, query } = router.route.value
  // The chosen line may belong to another site.
  const show = (site: string) => router.replace(href(page, path, { ...query, site, line: '' }))
  if (sites.length === 0) return null
  const options = sites.map(({ id: value, name: text }) => ({ value, text }))
  return (
    <SelectField
      label="Site"
      isLabelHidden
      bind={bindTo(query['site'] ?? '', show)}
      options={[{ value: '', text: 'All sites' }, ...options]}
    />
  )
}
