import { href } from '../address.ts'
import { PersonText } from '../components/text.tsx'
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

/** A sentence that leads to what it is about; `href` is null if that has no page. */
export function SentenceLink(props: { readonly href: string | null; readonly children: string }) {
  const words = <PersonText>{props.children}</PersonText>
  return props.href === null ? words : <a href={props.href}>{words}</a>
}
