// The root component: setup, sign-in, or the shell with a page in it.

import { render, type ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

import { type PageName, href } from './address.ts'
import { LinkButton } from './components/button.tsx'
import { Callout } from './components/callout.tsx'
import { fetchAhead, lazyDialog, lazyPage } from './components/lazy-page.tsx'
import { Card, PageHead } from './components/page.tsx'
import { EmptyState } from './components/when-ready.tsx'
import { DashboardContext, createDashboard, useDashboard, type Dashboard } from './dashboard.ts'
import { keepFocus } from './focus.ts'
import { lead, showPresence } from './leader.ts'
import { loadNumbers } from './numbers.ts'
import { HomePage } from './pages/home.tsx'
import { NoticeList, Shell, type ShownPage } from './pages/shell.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { showTheme } from './theme.ts'
import { SHELL } from './words/shell.ts'

const { names } = SHELL

type Load = () => Promise<ComponentType>

const page = (name: ShownPage, load: Load) => lazyPage(names[name], load).View
/** A page that shows numbers as people write them: without waiting for the library if it isn't there yet. */
const pageWithNumbers = (name: ShownPage, load: Load) =>
  page(name, () => {
    void loadNumbers()
    return load()
  })

const PAGES: Readonly<Record<ShownPage, ComponentType>> = {
  home: HomePage,
  conversations: pageWithNumbers(
    'conversations',
    async () => (await import('./pages/conversations.tsx')).ConversationsPage,
  ),
  people: pageWithNumbers('people', async () => (await import('./pages/people.tsx')).PeoplePage),
  lines: pageWithNumbers('lines', async () => (await import('./pages/lines.tsx')).LinesPage),
  boxes: page('boxes', async () => (await import('./pages/boxes.tsx')).BoxesPage),
  messages: pageWithNumbers(
    'messages',
    async () => (await import('./pages/messages.tsx')).MessagesPage,
  ),
  webhooks: page('webhooks', async () => (await import('./pages/webhooks.tsx')).WebhooksPage),
  connect: page('connect', async () => {
    // Its form reads numbers as people write them.
    const [{ ConnectPage }] = await Promise.all([import('./pages/connect.tsx'), loadNumbers()])
    return ConnectPage
  }),
  keys: page('keys', async () => (await import('./pages/keys.tsx')).KeysPage),
  settings: page('settings', async () => (await import('./pages/settings.tsx')).SettingsPage),
  night: page('night', async () => (await import('./pages/night.tsx')).NightPage),
  activity: page('activity', async () => (await import('./pages/activity.tsx')).ActivityPage),
}
const CONFIRM = lazyDialog(async () => (await import('./pages/new-password.tsx')).ConfirmPassword)
const SETUP = lazyPage(names.setup, async () => (await import('./pages/setup.tsx')).SetupPage)

/** By then, the first page has its data. */
const FETCH_AHEAD_AFTER_MS = 1_500

/** Longest wait for the browser to be idle: it may never be. */
const IDLE_MS = 2_000

showTheme()
keepFocus(document)

const root = document.querySelector('#app')
if (root !== null) {
  const dashboard = createDashboard(window)
  // The first request of all: browsers make six at a time.
  void dashboard.session.open(dashboard.clock)
  render(
    <DashboardContext.Provider value={dashboard}>
      <App />
    </DashboardContext.Provider>,
    root,
  )
}

function App() {
  const { session } = useDashboard()
  return (
    <>
      <View />
      {session.isPasswordAsked.value && (
        <CONFIRM.View onClose={() => session.answerPassword(false)} />
      )}
    </>
  )
}

function View() {
  const { session, router } = useDashboard()
  const { page } = router.route.value
  const { state } = session
  useStream(state === 'signed_in')

  if (!session.isReachable.value) return <Alone view={<Unreachable />} />
  // A setup link also replaces a forgotten password, so it comes before the sign-in.
  if (page === 'setup' && router.setupToken.value !== null) return <Alone view={<SETUP.View />} />
  switch (state) {
    case null:
      return null
    case 'unclaimed':
      return <Alone view={<SETUP.View />} />
    case 'signed_out':
      return <Alone view={<SignInPage />} />
    case 'signed_in':
      return <SignedIn />
  }
}

function SignedIn() {
  const { session, router } = useDashboard()
  const { page } = router.route.value
  const shown = session.member ? pageOfMember(page) : page
  if (shown === 'setup') return session.now.value && <Alone view={<SETUP.View />} />
  const View = shown === null ? UnknownPage : PAGES[shown]
  return (
    <Shell page={shown}>
      <View />
    </Shell>
  )
}

/** Members only read and answer conversations. */
function pageOfMember(page: PageName | null): ShownPage | null {
  return page === 'home' || page === 'conversations' ? 'conversations' : null
}

/** Follows changes while a person is signed in, and drops all cached data afterwards. */
function useStream(isSignedIn: boolean): void {
  const dashboard = useDashboard()
  useEffect(() => {
    if (!isSignedIn) return
    const end = new AbortController()
    const { live, store } = dashboard
    void live.run(end.signal)
    lead(end.signal, () => live.lead())
    showPresence(end.signal)
    void loadTheRest(dashboard, end.signal)
    return () => {
      end.abort()
      store.clear()
    }
  }, [isSignedIn, dashboard])
}

/** Loads the scripts of the other pages, which then open at once, even without the relay. */
async function loadTheRest(dashboard: Dashboard, end: AbortSignal): Promise<void> {
  await dashboard.clock.sleep(FETCH_AHEAD_AFTER_MS, end)
  const { notify } = await import('./notifications.ts').catch(() => ({ notify: null }))
  if (!end.aborted) notify?.(dashboard, end)
  await fetchAhead(async () => {
    await whenIdle(end)
    return !end.aborted
  })
}

/** Resolves once the browser is idle, or as soon as `end` aborts. */
function whenIdle(end: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // Safari has `requestIdleCallback` only behind a developer setting.
    if (end.aborted || !('requestIdleCallback' in window)) return resolve()
    end.addEventListener('abort', () => resolve(), { once: true })
    requestIdleCallback(() => resolve(), { timeout: IDLE_MS })
  })
}

function Alone({ view }: { readonly view: preact.VNode }) {
  return (
    <main id="main" class="alone">
      {view}
      <NoticeList />
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

/** An unknown address, or a page that only the owner may open. */
function UnknownPage() {
  const { session, router } = useDashboard()
  const { page } = router.route.value
  const isOwners = session.member !== undefined && page !== null
  const back = (
    <LinkButton variant="main" href={href('home')}>
      {`Go to ${session.member ? names.conversations : names.home}`}
    </LinkButton>
  )
  return (
    <>
      <PageHead title={isOwners ? names[page] : SHELL.unknown} />
      <Card>
        {isOwners ? (
          <EmptyState icon="keys" title="Only the owner can open this" action={back}>
            You can read and answer conversations. Ask the owner of this relay for anything else.
          </EmptyState>
        ) : (
          <EmptyState icon="search" title="Nothing at this address" action={back}>
            Check the link for typos. It may also be from another version of Hookline.
          </EmptyState>
        )}
      </Card>
    </>
  )
}
