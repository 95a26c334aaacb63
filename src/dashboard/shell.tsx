// The frame of every page: the navigation, on the left from 900 px and at the bottom below, and the
// state of the connection.

import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

import { href, type PageName } from './address.ts'
import { Button } from './components/button.tsx'
import { Icon, Mark } from './components/icon.tsx'
import { useNewView, useTitle } from './components/page.tsx'
import { useDashboard } from './dashboard.ts'

export type ShownPage = Exclude<PageName, 'setup'>

/** Each with its name, and a shorter one for narrow screens. The icon has the name of the page. */
const PAGES: readonly (readonly [page: ShownPage, name: string, shortName?: string])[] = [
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
  useTitle(PAGES.find(([name]) => name === page)?.[1] ?? 'Page not found')
  useNewView(page ?? '')
  return (
    <div class="shell" data-page={page ?? undefined}>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The hash is the page's address, so the jump is made by hand.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to main content
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
        {PAGES.map(([page, name, shortName = name]) => (
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
        <a href="/guide">
          <Icon name="question" />
          Guide
        </a>
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
          Connection to the relay lost. This page may be out of date. Reconnecting…
        </p>
      )}
      {isConnected && session.isOutdated.value && (
        <p class="trouble">
          <Icon name="info" />
          The relay was upgraded.
          <Button onClick={() => location.reload()}>Reload</Button>
        </p>
      )}
    </div>
  )
}
