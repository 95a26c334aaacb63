// What stands around every page: the way to the six of them, on the left from 900 px on and at the
// bottom below; what is the matter with the connection; and the page itself.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { href, type PageName } from './address.ts'
import { Button } from './components/button.tsx'
import type { IconName } from './components/drawings.ts'
import { Icon } from './components/icon.tsx'
import { useTitle } from './components/use-title.ts'
import { useDashboard } from './dashboard.ts'

type ShownPage = Exclude<PageName, 'setup'>

type Place = {
  readonly page: ShownPage
  readonly name: string
  /** Where it has to fit under an icon. */
  readonly shortName: string
  readonly icon: IconName
}

const PLACES: readonly Place[] = [
  { page: 'home', name: 'Home', shortName: 'Home', icon: 'home' },
  { page: 'conversations', name: 'Conversations', shortName: 'Chats', icon: 'conversations' },
  { page: 'lines', name: 'Lines', shortName: 'Lines', icon: 'lines' },
  { page: 'webhooks', name: 'Webhooks', shortName: 'Webhooks', icon: 'webhooks' },
  { page: 'keys', name: 'Keys', shortName: 'Keys', icon: 'keys' },
  { page: 'settings', name: 'Settings', shortName: 'Settings', icon: 'settings' },
]

type Props = { readonly page: ShownPage; readonly children: ComponentChildren }

export function Shell({ page, children }: Props) {
  const main = useNewPage(page)
  return (
    <div class="shell" data-page={page}>
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

function Navigation({ current }: { readonly current: ShownPage }) {
  const { session } = useDashboard()
  return (
    <nav class="nav" aria-label="Pages">
      <a class="brand" href={href('home')}>
        <Mark />
        Hookline
      </a>
      <ul>
        {PLACES.map(({ page, name, shortName, icon }) => (
          <li key={page}>
            <a href={href(page)} aria-current={page === current ? 'page' : undefined}>
              <Icon name={icon} />
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

/** The relay's sign: a text that goes on, from one bubble into the next. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 8v9a6 6 0 0 0 6 6h1a6 6 0 0 0 6-6v-1M18.5 18.5 22 15l3.5 3.5" />
    </svg>
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

/** Gives a new page its title, and the focus to its heading, as a browser would. */
function useNewPage(page: ShownPage) {
  const main = useRef<HTMLElement>(null)
  const before = useRef<ShownPage | null>(null)
  useTitle(PLACES.find((place) => place.page === page)?.name ?? '')
  useEffect(() => {
    // Not at the start: there the browser begins at the top by itself.
    if (before.current !== null) {
      window.scrollTo(0, 0)
      main.current?.querySelector('h1')?.focus({ preventScroll: true })
    }
    before.current = page
  }, [page])
  return main
}
