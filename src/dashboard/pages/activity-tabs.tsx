import { href } from '../address.ts'
import { SHELL } from '../words/shell.ts'

const TABS = [
  ['night', SHELL.names.night],
  ['activity', 'Changes and log'],
] as const

/** The two pages that the navigation lists as Activity. */
export function ActivityTabs({ current }: { readonly current: 'night' | 'activity' }) {
  return (
    <nav class="tabs" aria-label={SHELL.names.activity}>
      {TABS.map(([page, name]) => (
        <a key={page} href={href(page)} aria-current={page === current ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  )
}
