// What is shown at all: the set-up, the log-in, or the shell with a page in it.

import { useEffect } from 'preact/hooks'

import type { PageName } from './address.ts'
import { Callout } from './components/callout.tsx'
import { NoticeList } from './components/notice-list.tsx'
import { PasswordDialog } from './components/password-dialog.tsx'
import { useDashboard } from './dashboard.ts'
import { ConversationsPage } from './pages/conversations.tsx'
import { HomePage } from './pages/home.tsx'
import { KeysPage } from './pages/keys.tsx'
import { LinesPage } from './pages/lines.tsx'
import { LogInPage } from './pages/log-in.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SetupPage } from './pages/setup.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { Shell } from './shell.tsx'

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
  if (page === 'setup' && router.setupToken.value !== null) return <Alone view={<SetupPage />} />
  switch (now.state) {
    case 'unclaimed':
      return <Alone view={<SetupPage />} />
    case 'signed_out':
      return <Alone view={<LogInPage />} />
    case 'signed_in':
      if (page === 'setup') return <Alone view={<SetupPage />} />
      return (
        <Shell page={page}>
          <Page page={page} />
        </Shell>
      )
  }
}

/** Follows what changes while somebody is signed in, and forgets what was read afterwards. */
function useStream(isSignedIn: boolean): void {
  const { live, store } = useDashboard()
  useEffect(() => {
    if (!isSignedIn) return
    const end = new AbortController()
    void live.run(end.signal)
    return () => {
      end.abort()
      store.clear()
    }
  }, [isSignedIn, live, store])
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
        <p>This page tries again by itself. Is the relay running?</p>
      </Callout>
    </main>
  )
}

function Page({ page }: { readonly page: Exclude<PageName, 'setup'> }) {
  switch (page) {
    case 'home':
      return <HomePage />
    case 'conversations':
      return <ConversationsPage />
    case 'lines':
      return <LinesPage />
    case 'webhooks':
      return <WebhooksPage />
    case 'keys':
      return <KeysPage />
    case 'settings':
      return <SettingsPage />
  }
}
