// The page as a whole: setup, sign-in, or the shell with a page in it.

import { useSignal } from '@preact/signals'
import { type ComponentChildren, render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import { type PageName, href } from './address.ts'
import type { Clock } from './clock.ts'
import { Button, LinkButton } from './components/button.tsx'
import { Callout } from './components/callout.tsx'
import { Dialog } from './components/dialog.tsx'
import { AccountName, PasswordField } from './components/form.tsx'
import { Icon, Mark } from './components/icon.tsx'
import { lazyPage } from './components/lazy-page.tsx'
import { Card, PageHead, useNewView, useTitle } from './components/page.tsx'
import { useAction } from './components/use-action.ts'
import { EmptyState } from './components/when-ready.tsx'
import { DashboardContext, createDashboard, useDashboard } from './dashboard.ts'
import { HomePage } from './pages/home.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { showTheme } from './theme.ts'

const CONVERSATIONS = lazyPage(
  'Conversations',
  async () => (await import('./pages/conversations.tsx')).ConversationsPage,
)
const LINES = lazyPage('Lines', async () => (await import('./pages/lines.tsx')).LinesPage)
const MESSAGES = lazyPage(
  'Messages',
  async () => (await import('./pages/messages.tsx')).MessagesPage,
)
const WEBHOOKS = lazyPage(
  'Webhooks',
  async () => (await import('./pages/webhooks.tsx')).WebhooksPage,
)
const KEYS = lazyPage('Keys', async () => (await import('./pages/keys.tsx')).KeysPage)
const SETTINGS = lazyPage(
  'Settings',
  async () => (await import('./pages/settings.tsx')).SettingsPage,
)
const ACTIVITY = lazyPage(
  'Activity',
  async () => (await import('./pages/activity.tsx')).ActivityPage,
)
const SETUP = lazyPage('Setup', async () => (await import('./pages/setup.tsx')).SetupPage)

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
  const { clock, live, store } = useDashboard()
  useEffect(() => {
    if (!isSignedIn) return
    const end = new AbortController()
    void live.run(end.signal)
    void fetchAhead(clock, end.signal)
    return () => {
      end.abort()
      store.clear()
    }
  }, [isSignedIn, clock, live, store])
}

/** Loads the other pages, which then open at once, even without the relay. */
async function fetchAhead(clock: Clock, end: AbortSignal): Promise<void> {
  await clock.sleep(FETCH_AHEAD_AFTER_MS, end)
  for (const page of [CONVERSATIONS, LINES, MESSAGES, WEBHOOKS, KEYS, ACTIVITY, SETTINGS, SETUP]) {
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
    <Callout tone="bad" title="The relay isn't responding">
      Check that the relay is running. This page retries automatically.
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
    case 'lines':
      return <LINES.View />
    case 'messages':
      return <MESSAGES.View />
    case 'webhooks':
      return <WEBHOOKS.View />
    case 'keys':
      return <KEYS.View />
    case 'activity':
      return <ACTIVITY.View />
    case 'settings':
      return <SETTINGS.View />
  }
}

function UnknownPage() {
  const home = (
    <LinkButton look="main" href={href('home')}>
      Go to Home
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Page not found" />
      <Card>
        <EmptyState icon="search" title="Nothing at this address" action={home}>
          Check the link for typos. It may also be from another version of Hookline.
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
      title="Confirm your password"
      onClose={() => session.answerPassword(false)}
      onSubmit={start}
      actions={
        <Button type="submit" look="main" isBusy={isBusy}>
          Continue
        </Button>
      }
    >
      <p>For your security, enter your password again to continue.</p>
      <AccountName />
      <PasswordField isFirst bind={password} error={failure?.message} />
    </Dialog>
  )
}

export type ShownPage = Exclude<PageName, 'setup'>

/** Each with its name, and a shorter one for narrow screens. The icon has the name of the page. */
const PAGES: readonly (readonly [
  page: Exclude<ShownPage, 'messages'>,
  name: string,
  shortName?: string,
])[] = [
  ['home', 'Home'],
  ['conversations', 'Conversations', 'Chats'],
  ['lines', 'Lines'],
  ['webhooks', 'Webhooks'],
  ['keys', 'Keys'],
  ['activity', 'Activity'],
  ['settings', 'Settings'],
]

function titleOf(page: ShownPage | null): string {
  // Home leads to the messages.
  if (page === 'messages') return 'Messages'
  return PAGES.find(([name]) => name === page)?.[1] ?? 'Page not found'
}

type Props = {
  /** Null where the address names none. */
  readonly page: ShownPage | null
  readonly children: ComponentChildren
}

export function Shell({ page, children }: Props) {
  const main = useRef<HTMLElement>(null)
  useTitle(titleOf(page))
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
        <Button look="quiet" icon="sign-out" onClick={() => void session.signOut('here')}>
          Sign out
        </Button>
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
