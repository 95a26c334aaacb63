// What stands around every page: the way to the six of them, on the left from 900 px on and at the
// bottom below; what is the matter with the connection; and the page itself.

import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

import { href, type PageName } from './address.ts'
import { Button } from './components/button.tsx'
import { Icon } from './components/icon.tsx'
import { Mark } from './components/mark.tsx'
import { useNewView } from './components/use-new-view.ts'
import { useTitle } from './components/use-title.ts'
import { useDashboard } from './dashboard.ts'

type ShownPage = Exclude<PageName, 'setup'>

/** Each with its name, and a shorter one where that has to fit under an icon. The icon is of that page. */
const PLACES: readonly (readonly [page: ShownPage, name: string, shortName?: string])[] = [
  ['home', 'Home'],
  ['conversations', 'Conversations', 'Chats'],
  ['lines', 'Lines'],
  ['webhooks', 'Webhooks'],
  ['keys', 'Keys'],
  ['settings', 'Settings'],
]

type Props = {
  /** Null where the address names none. */
  readonly page: ShownPage | null
  readonly children: ComponentChildren
}

export function Shell({ page, children }: Props) {
  const main = useRef<HTMLElement>(null)
  useTitle(PLACES.find(([name]) => name === page)?.[1] ?? 'Page not found')
  useNewView(page ?? '')
  return (
    <div class="shell" data-page={page ?? undefined}>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The address names the page, so the jump is made by hand.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to the page
      </a>
      <Navigation current={page} />
      <div class="stage">
        <Troubles />
        <main id="main" class="page" tabIndex={-1} ref={main}>
          {children}
        </main>
      </div>
    </div>
  )
}

function Navigation({ current }: { readonly current: Props['page'] }) {
  const { session } = useDashboard()
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href={href('home')}>
        <Mark />
        Hookline
      </a>
      <ul>
        {PLACES.map(([page, name, shortName = name]) => (
          <li key={page}>
            <a href={href(page)} aria-current={page === current ? 'page' : undefined}>
              <Icon name={page} />
              <span class="nav-name">{name}</span>
              <span class="nav-short-name">{shortName}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="nav-foot">
        <a href="/swagger">
          <Icon name="book" />
          API documentation
        </a>
        <span>Version {session.now.value?.version}</span>
      </p>
    </nav>
  )
}

function Troubles() {
  const { live, session } = useDashboard()
  const isConnected = live.isConnected.value
  return (
    <div role="status" class="troubles">
      {!isConnected && (
        <p class="trouble">
          <Icon name="warning" />
          The connection to the relay is lost. What you see may be old; it comes back by itself.
        </p>
      )}
      {isConnected && session.isOutdated.value && (
        <p class="trouble">
          <Icon name="info" />
          The relay was upgraded.
          <Button onClick={() => location.reload()}>Load the new page</Button>
        </p>
      )}
    </div>
  )
}
