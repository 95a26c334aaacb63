// What is shown at all: the set-up, the log-in, or the shell with a page in it.

import { useEffect } from 'preact/hooks'

import type { PageName } from './address.ts'
import type { Clock } from './clock.ts'
import { Callout } from './components/callout.tsx'
import { lazyPage } from './components/lazy-page.tsx'
import { NoticeList } from './components/notice-list.tsx'
import { PasswordDialog } from './components/password-dialog.tsx'
import { useDashboard } from './dashboard.ts'
import { whenIdle } from './idle.ts'
import { ConversationsPage } from './pages/conversations.tsx'
import { HomePage } from './pages/home.tsx'
import { LogInPage } from './pages/log-in.tsx'
import { UnknownPage } from './pages/unknown-page.tsx'
import { Shell } from './shell.tsx'

const LINES = lazyPage('Lines', async () => (await import('./pages/lines.tsx')).LinesPage)
const WEBHOOKS = lazyPage(
  'Webhooks',
  async () => (await import('./pages/webhooks.tsx')).WebhooksPage,
)
const KEYS = lazyPage('Keys', async () => (await import('./pages/keys.tsx')).KeysPage)
const SETTINGS = lazyPage(
  'Settings',
  async () => (await import('./pages/settings.tsx')).SettingsPage,
)
const SETUP = lazyPage('Set up', async () => (await import('./pages/setup.tsx')).SetupPage)

/** When the first page has what it needs. */
const FETCH_AHEAD_AFTER_MS = 1_500

export function App() {
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

  if (now === null) return <Opening isReachable={session.isReachable.value} />
  // A setup link also mends a forgotten password, so it comes before the log-in.
  if (page === 'setup' && router.setupToken.value !== null) return <Alone view={<SETUP.View />} />
  switch (now.state) {
    case 'unclaimed':
      return <Alone view={<SETUP.View />} />
    case 'signed_out':
      return <Alone view={<LogInPage />} />
    case 'signed_in':
      if (page === 'setup') return <Alone view={<SETUP.View />} />
      return (
        <Shell page={page}>
          <Page page={page} />
        </Shell>
      )
  }
}

/** Follows what changes while somebody is signed in, and forgets what was read afterwards. */
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

/** The pages that were not opened yet: then they open at once, and even where the relay is gone. */
async function fetchAhead(clock: Clock, end: AbortSignal): Promise<void> {
  await clock.sleep(FETCH_AHEAD_AFTER_MS, end)
  for (const page of [LINES, WEBHOOKS, KEYS, SETTINGS, SETUP]) {
    await whenIdle(end)
    if (!end.aborted) await page.fetch()
  }
}

/** A page without the shell. */
function Alone({ view }: { readonly view: preact.VNode }) {
  return (
    <main id="main" class="alone">
      {view}
    </main>
  )
}

function Opening({ isReachable }: { readonly isReachable: boolean }) {
  if (isReachable) return null
  return (
    <main id="main" class="alone">
      <Callout tone="bad" title="The relay does not answer">
        This page tries again by itself. Is the relay running?
      </Callout>
    </main>
  )
}

function Page({ page }: { readonly page: Exclude<PageName, 'setup'> | null }) {
  switch (page) {
    case null:
      return <UnknownPage />
    case 'home':
      return <HomePage />
    case 'conversations':
      return <ConversationsPage />
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
