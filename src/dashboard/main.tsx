// The page as a whole: setup, sign-in, or the shell with a page in it.

import { useSignal } from '@preact/signals'
import { type ComponentChildren, render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { type PageName, href } from './address.ts'
import { Button, LinkButton } from './components/button.tsx'
import { Callout } from './components/callout.tsx'
import { Dialog } from './components/dialog.tsx'
import { AccountName, PasswordField } from './components/form.tsx'
import { Icon, Mark } from './components/icon.tsx'
import { lazyPage } from './components/lazy-page.tsx'
import { Card, PageHead, useNewView, useTitle } from './components/page.tsx'
import { useAction } from './components/use-action.ts'
import { EmptyState } from './components/when-ready.tsx'
import {
  DashboardContext,
  createDashboard,
  useDashboard,
  useRead,
  type Dashboard,
} from './dashboard.ts'
import { lead, showPresence } from './leader.ts'
import { loadNumbers } from './numbers.ts'
import { HomePage } from './pages/home.tsx'
import type { SearchBox } from './pages/search-box.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { showTheme } from './theme.ts'
import { COMMON } from './words/common.ts'
import { SHELL } from './words/shell.ts'

const { names } = SHELL

const CONVERSATIONS = lazyPage(names.conversations, async () => {
  // Its rows are as wide as their numbers.
  const [page] = await Promise.all([import('./pages/conversations.tsx'), loadNumbers()])
  return page.ConversationsPage
})
const PEOPLE = lazyPage(names.people, async () => (await import('./pages/people.tsx')).PeoplePage)
const LINES = lazyPage(names.lines, async () => (await import('./pages/lines.tsx')).LinesPage)
const WEBHOOKS = lazyPage(
  names.webhooks,
  async () => (await import('./pages/webhooks.tsx')).WebhooksPage,
)
const KEYS = lazyPage(names.keys, async () => (await import('./pages/keys.tsx')).KeysPage)
const SETTINGS = lazyPage(
  names.settings,
  async () => (await import('./pages/settings.tsx')).SettingsPage,
)
const SETUP = lazyPage(names.setup, async () => (await import('./pages/setup.tsx')).SetupPage)

/** By then the first page has its data. */
const FETCH_AHEAD_AFTER_MS = 1_500

/** The longest wait for a browser that is never idle. */
const IDLE_MS = 2_000

showTheme()

const root = document.querySelector('#app')
if (root !== null) {
  const dashboard = createDashboard(window)
  render(
    <DashboardContext.Provider value={dashboard}>
      <App />
    </DashboardContext.Provider>,
    root,
  )
  void dashboard.session.open(dashboard.clock)
}

function App() {
  const { session } = useDashboard()
  return (
    <>
      <View />
      <NoticeList />
      {session.isPasswordAsked.value && <PasswordDialog />}
    </>
  )
}

function View() {
  const { session, router } = useDashboard()
  const { page } = router.route.value
  const now = session.now.value
  useStream(now?.state === 'signed_in')

  if (now === null) return session.isReachable.value ? null : <Alone view={<Unreachable />} />
  // A setup link also replaces a forgotten password, so it comes before the sign-in.
  if (page === 'setup' && router.setupToken.value !== null) return <Alone view={<SETUP.View />} />
  switch (now.state) {
    case 'unclaimed':
      return <Alone view={<SETUP.View />} />
    case 'signed_out':
      return <Alone view={<SignInPage />} />
    case 'signed_in':
      if (page === 'setup') return <Alone view={<SETUP.View />} />
      return (
        <Shell page={page}>
          <Page page={page} />
        </Shell>
      )
  }
}

/** Follows changes while the owner is signed in, and drops all cached data afterwards. */
function useStream(isSignedIn: boolean): void {
  const dashboard = useDashboard()
  useEffect(() => {
    if (!isSignedIn) return
    const end = new AbortController()
    const { live, store } = dashboard
    void live.run(end.signal)
    lead(end.signal, () => live.lead())
    showPresence(end.signal)
    void fetchAhead(dashboard, end.signal)
    return () => {
      end.abort()
      store.clear()
    }
  }, [isSignedIn, dashboard])
}

/** Loads the other pages, which then open at once, even without the relay. */
async function fetchAhead(dashboard: Dashboard, end: AbortSignal): Promise<void> {
  await dashboard.clock.sleep(FETCH_AHEAD_AFTER_MS, end)
  const { notify } = await import('./notifications.ts').catch(() => ({ notify: null }))
  if (!end.aborted) notify?.(dashboard, end)
  for (const page of [CONVERSATIONS, PEOPLE, LINES, WEBHOOKS, KEYS, SETTINGS, SETUP]) {
    await whenIdle(end)
    if (!end.aborted) await page.fetch()
  }
}

/** Resolves once the browser is idle, or as soon as `end` aborts. */
function whenIdle(end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // Safari has it only behind a developer setting.
    if (end.aborted || !('requestIdleCallback' in window)) return resolve()
    end.addEventListener('abort', () => resolve(), { once: true })
    requestIdleCallback(() => resolve(), { timeout: IDLE_MS })
  })
}

/** A page without the shell. */
function Alone({ view }: { readonly view: preact.VNode }) {
  return (
    <main id="main" class="alone">
      {view}
    </main>
  )
}

function Unreachable() {
  return (
    <Callout tone="bad" title={SHELL.silent}>
      {SHELL.whySilent}
    </Callout>
  )
}

function Page({ page }: { readonly page: ShownPage | null }) {
  switch (page) {
    case null:
      return <UnknownPage />
    case 'home':
      return <HomePage />
    case 'conversations':
      return <CONVERSATIONS.View />
    case 'people':
      return <PEOPLE.View />
    case 'lines':
      return <LINES.View />
    case 'webhooks':
      return <WEBHOOKS.View />
    case 'keys':
      return <KEYS.View />
    case 'settings':
      return <SETTINGS.View />
  }
}

function UnknownPage() {
  const home = (
    <LinkButton look="main" href={href('home')}>
      {SHELL.toHome}
    </LinkButton>
  )
  return (
    <>
      <PageHead title={SHELL.unknown} />
      <Card>
        <EmptyState icon="search" title={SHELL.unknownAddress} action={home}>
          {SHELL.whyUnknown}
        </EmptyState>
      </Card>
    </>
  )
}

function NoticeList() {
  const { notices } = useDashboard()
  const listed = (wanted: 'ok' | 'bad') =>
    notices.shown.value
      .filter(({ tone }) => tone === wanted)
      .map(({ id, tone, text }) => (
        <div key={id} class={`notice tone-${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : 'warning'} />
          <p>{text}</p>
          <Button look="quiet" icon="cross" isIconOnly onClick={() => notices.close(id)}>
            {SHELL.dismiss}
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

/** Asks for the password again. The calls that wait for it are repeated by `api.ts`. */
function PasswordDialog() {
  const { session } = useDashboard()
  const password = useSignal('')
  const { isBusy, failure, start } = useAction(
    () => session.elevate(password.value),
    () => session.answerPassword(true),
  )
  return (
    <Dialog
      title={SHELL.confirmPassword}
      onClose={() => session.answerPassword(false)}
      onSubmit={start}
      actions={
        <Button type="submit" look="main" isBusy={isBusy}>
          {SHELL.continue}
        </Button>
      }
    >
      <p>{SHELL.whyPassword}</p>
      <AccountName />
      <PasswordField isFirst bind={password} error={failure?.message} />
    </Dialog>
  )
}

export type ShownPage = Exclude<PageName, 'setup'>

const PAGES: readonly ShownPage[] = [
  'home',
  'conversations',
  'people',
  'lines',
  'webhooks',
  'keys',
  'settings',
]
/** Those that narrow screens have in the bar at the top. */
const AT_TOP: readonly ShownPage[] = ['people']

type Props = {
  /** Null where the address names none. */
  readonly page: ShownPage | null
  readonly children: ComponentChildren
}

export function Shell({ page, children }: Props) {
  const main = useRef<HTMLElement>(null)
  const unread = useUnread()
  const search = useSearch()
  useTitle(SHELL.title(page === null ? SHELL.unknown : names[page], unread))
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
        {SHELL.skip}
      </a>
      <header class="top-bar">
        <Brand />
        {AT_TOP.map((each) => (
          <LinkButton key={each} look="quiet" icon={each} isIconOnly href={href(each)}>
            {names[each]}
          </LinkButton>
        ))}
        <Button look="quiet" icon="search" isIconOnly onClick={search.open}>
          {SHELL.search}
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

/** Conversations with unread messages, which the browser shows on the icon of an installed page. */
function useUnread(): number {
  const { value } = useRead<{ readonly count: number }>('/dashboard/unread', 'conversation')
  const count = value?.count ?? 0
  useEffect(() => {
    // Not every browser has it, and some refuse it to pages that are not installed.
    if ('setAppBadge' in navigator) navigator.setAppBadge(count).catch(() => {})
  }, [count])
  return count
}

/** The search box, by its button or by keys; its script is loaded when it is first opened. */
function useSearch() {
  const { notices } = useDashboard()
  const box = useSignal<typeof SearchBox | null>(null)
  const isOpen = useSignal(false)
  const open = async () => {
    const load = async () => (await import('./pages/search-box.tsx')).SearchBox
    box.value ??= await load().catch(() => null)
    if (box.value === null) notices.failed(COMMON.notLoaded)
    else isOpen.value = true
  }
  useEffect(() => {
    const end = new AbortController()
    const onKey = (event: KeyboardEvent) => {
      if (!isSearchKey(event) || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      void open()
    }
    window.addEventListener('keydown', onKey, { signal: end.signal })
    return () => end.abort()
  }, [])
  const Box = box.value
  return {
    open: () => void open(),
    box: Box !== null && isOpen.value && <Box onClose={() => (isOpen.value = false)} />,
  }
}

/** Ctrl-K or Cmd-K anywhere; a slash where nothing is typed. */
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
  return (
    <nav class="nav" aria-label={SHELL.pages}>
      <Brand />
      <button type="button" class="nav-search" onClick={onSearch}>
        <Icon name="search" />
        <span class="grow">{SHELL.search}</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <ul>
        {PAGES.map((page) => (
          <li key={page} class={AT_TOP.includes(page) ? 'nav-wide' : undefined}>
            <a href={href(page)} aria-current={page === current ? 'page' : undefined}>
              <Icon name={page} />
              <span class="nav-name">{names[page]}</span>
              <span class="nav-short-name">{SHELL.shortNames[page] ?? names[page]}</span>
              {page === 'conversations' && unread > 0 && (
                <span class="unread-count">
                  <span aria-hidden="true">{unread.toLocaleString()}</span>
                  <span class="visually-hidden">{SHELL.unread(unread)}</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <p class="nav-foot">
        <a href="/guide">
          <Icon name="question" />
          {SHELL.guide}
        </a>
        <a href="/swagger">
          <Icon name="book" />
          {SHELL.documentation}
        </a>
        <span>{SHELL.version(session.now.value?.version ?? '')}</span>
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
          {SHELL.lost}
        </p>
      )}
      {isConnected && session.isOutdated.value && (
        <p class="trouble">
          <Icon name="info" />
          {SHELL.upgraded}
          <Button onClick={() => location.reload()}>{COMMON.reload}</Button>
        </p>
      )}
    </div>
  )
}
