// The frame around all pages: navigation, search, unread count, and connection problems.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { type PageName, href } from '../address.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { Icon, Mark } from '../components/icon.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { useNewView, useTitle } from '../components/page.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { loadNumbers } from '../numbers.ts'
import { COMMON, countWords, grouped } from '../words/common.ts'
import { SHELL } from '../words/shell.ts'

const { names } = SHELL

export type ShownPage = Exclude<PageName, 'setup'>

/** Pages in the navigation, each with an icon of the same name. */
type LinkedPage = Exclude<ShownPage, 'boxes' | 'night'>

/** The pages under which the navigation lists the others. */
const WITHIN: Partial<Record<ShownPage, LinkedPage>> = { boxes: 'lines', night: 'activity' }

const PAGES: readonly LinkedPage[] = [
  'home',
  'conversations',
  'messages',
  'people',
  'lines',
  'webhooks',
  'connect',
  'keys',
  'activity',
  'settings',
]
/** On narrow screens, these are in the top bar, and on the pages Home and Settings. */
const AT_TOP: readonly LinkedPage[] = ['people']
const ELSEWHERE: readonly LinkedPage[] = ['messages', 'connect', 'keys', 'activity']
const OF_MEMBERS: readonly LinkedPage[] = ['conversations']
const WIDE_ONLY = [...AT_TOP, ...ELSEWHERE]

type Props = {
  /** Null if the address is unknown. */
  readonly page: ShownPage | null
  readonly children: ComponentChildren
}

export function Shell({ page, children }: Props) {
  const { session, router } = useDashboard()
  const main = useRef<HTMLElement>(null)
  const unread = useUnread()
  const search = useSearch()
  // A page that a member may not open keeps its name.
  const named = page ?? router.route.value.page
  const title = named === null ? SHELL.unknown : names[named]
  useTitle(unread === 0 ? title : `(${unread}) ${title}`)
  useNewView(page ?? '')
  return (
    <div class="shell" data-page={page ?? undefined}>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The hash is the page's address, so a script moves the focus.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to main content
      </a>
      <header class="top-bar">
        <Brand />
        {session.member ? (
          // Members have no Settings page to sign out from.
          <Button
            variant="quiet"
            icon="sign-out"
            isIconOnly
            onClick={() => void session.signOut('here')}
          >
            Sign out
          </Button>
        ) : (
          AT_TOP.map((each) => (
            <LinkButton key={each} variant="quiet" icon={each} isIconOnly href={href(each)}>
              {names[each]}
            </LinkButton>
          ))
        )}
        <Button variant="quiet" icon="search" isIconOnly onClick={search.open}>
          Search
        </Button>
      </header>
      <Navigation current={page} unread={unread} onSearch={search.open} />
      <div class="stage">
        <Troubles />
        <main id="main" class="page" tabIndex={-1} ref={main}>
          {children}
        </main>
      </div>
      {search.box}
    </div>
  )
}

function Brand() {
  return (
    <a class="brand" href={href('home')}>
      <Mark />
      {COMMON.product}
    </a>
  )
}

/** The number of unread conversations. The browser also shows it on the icon of an installed page. */
function useUnread(): number {
  const { value } = useRead('countUnread', {}, 'conversation')
  const count = value?.count ?? 0
  useEffect(() => {
    // Some browsers don't have `setAppBadge`, and some refuse it to pages that aren't installed.
    if ('setAppBadge' in navigator) navigator.setAppBadge(count).catch(() => {})
  }, [count])
  return count
}

const SEARCH = lazyDialog(async () => {
  const [{ SearchBox }] = await Promise.all([import('./search-box.tsx'), loadNumbers()])
  return SearchBox
})

function useSearch() {
  const { router } = useDashboard()
  const isOpen = useSignal(false)
  // Navigating closes the search box.
  useEffect(() => void (isOpen.value = false), [router.route.value])
  const typed = useSignal('')
  const open = () => {
    typed.value = ''
    isOpen.value = true
  }
  useEffect(() => {
    const end = new AbortController()
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]') !== null) return
      if (isSearchKey(event) && !isOpen.value) open()
      else if (isOpen.value && isLetter(event)) typed.value += event.key
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey, { signal: end.signal })
    return () => end.abort()
  }, [])
  return {
    open,
    box: isOpen.value && <SEARCH.View typed={typed} onClose={() => (isOpen.value = false)} />,
  }
}

function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && !ctrlKey && !metaKey && !altKey
}

/** Ctrl-K or Cmd-K anywhere, or a slash outside of fields. */
function isSearchKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if ((ctrlKey || metaKey) && !altKey) return key.toLowerCase() === 'k'
  const isTyping = target instanceof Element && target.closest('input, textarea, select') !== null
  return key === '/' && !altKey && !isTyping
}

type NavigationProps = {
  readonly current: Props['page']
  readonly unread: number
  readonly onSearch: () => void
}

function Navigation({ current, unread, onSearch }: NavigationProps) {
  const { session } = useDashboard()
  const listed = current && (WITHIN[current] ?? current)
  return (
    <nav class="nav" aria-label="Pages">
      <Brand />
      <button type="button" class="nav-search" onClick={onSearch}>
        <Icon name="search" />
        <span class="grow">Search</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <ul>
        {(session.member ? OF_MEMBERS : PAGES).map((page) => (
          <li key={page} class={WIDE_ONLY.includes(page) ? 'nav-wide' : undefined}>
            <a href={href(page)} aria-current={page === listed ? 'page' : undefined}>
              <Icon name={page} />
              <span class="nav-name">{names[page]}</span>
              <span class="nav-short-name">{page === 'conversations' ? 'Chats' : names[page]}</span>
              {page === 'conversations' && unread > 0 && (
                <span class="unread-count">
                  <span aria-hidden="true">{grouped(unread)}</span>
                  <span class="visually-hidden">{`, ${countWords(unread, 'unread conversation')}`}</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <NoticeList />
      <p class="nav-foot">
        <a href="/guide">
          <Icon name="question" />
          Guide
        </a>
        <a href="/swagger">
          <Icon name="book" />
          API documentation
        </a>
        {!session.isFake && (
          <button type="button" onClick={() => void session.signOut('here')}>
            <Icon name="sign-out" />
            Sign out
          </button>
        )}
        <span>{`Version ${session.now.value?.version ?? ''}`}</span>
      </p>
    </nav>
  )
}

function Troubles() {
  const { live, session } = useDashboard()
  const isConnected = live.isConnected.value
  return (
    <div role="status" class="troubles">
      {session.isFake && (
        <p class="trouble">
          <Icon name="info" />
          This is hookline fake: people are simulated, and nothing is sent or kept.
        </p>
      )}
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
          <Button onClick={() => location.reload()}>{COMMON.reload}</Button>
        </p>
      )}
    </div>
  )
}

/** Messages about the latest actions. They cover nothing that can be pressed. */
export function NoticeList() {
  const { notices } = useDashboard()
  const listed = (wanted: 'ok' | 'bad') =>
    notices.shown.value
      .filter(({ tone }) => tone === wanted)
      .map(({ id, tone, text }) => (
        <div key={id} class={`notice tone-${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : 'warning'} />
          <p>{text}</p>
          <Button variant="quiet" icon="cross" isIconOnly onClick={() => notices.close(id)}>
            Dismiss
          </Button>
        </div>
      ))
  return (
    <div class="notices">
      <p class="visually-hidden" role="status">
        {notices.announced}
      </p>
      <div role="status">{listed('ok')}</div>
      <div role="alert">{listed('bad')}</div>
    </div>
  )
}
