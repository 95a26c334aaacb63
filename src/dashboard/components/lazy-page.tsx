// A page whose script is loaded when it is shown or fetched ahead, so that the first page comes first.
//
//   const KEYS = lazyPage('Keys', async () => (await import('./pages/keys.tsx')).KeysPage)
//   <KEYS.View />, void KEYS.fetch()

import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { request } from '../api.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { Callout } from './callout.tsx'
import { PageHead } from './page.tsx'
import { Skeleton } from './when-ready.tsx'

export type LazyPage = {
  readonly View: ComponentType
  /** Loads the script, once. False where that failed; never rejects. */
  fetch(): Promise<boolean>
}

/** State in the browser's history of a page that was reloaded for its script. */
const RELOADED = 'reloaded'

/** `title` is shown until the page itself is; null for a part of a page. */
export function lazyPage(title: string | null, load: () => Promise<ComponentType>): LazyPage {
  const loaded = signal<ComponentType | null>(null)
  const isMissing = signal(false)

  async function fetch() {
    loaded.value ??= await load().catch(() => null)
    return loaded.value !== null
  }
  async function open() {
    const isThere = await fetch()
    if (!isThere && (await isUpgraded())) return reload()
    isMissing.value = !isThere
    if (isThere && history.state === RELOADED) history.replaceState(null, '')
  }
  function View() {
    const heading = useHeading(loaded.value !== null)
    useEffect(() => void open(), [])
    const Page = loaded.value
    if (Page !== null) return <Page />
    if (isMissing.value) return <Missing />
    if (title === null) return <Skeleton kind="card" count={2} />
    return <Opening title={title} onLeave={heading.note} />
  }
  return { View, fetch }
}

/**
 * True where an upgrade removed the script from the relay: it answers, and the page was not reloaded for
 * this already. While the relay is away, a reload would lose the page.
 */
async function isUpgraded(): Promise<boolean> {
  if (history.state === RELOADED) return false
  return (await request({ method: 'GET', path: '/dashboard/session' })).ok
}

function reload(): void {
  history.replaceState(RELOADED, '')
  location.reload()
}

/** Passes the focus on from the placeholder's heading to that of the page. */
function useHeading(isLoaded: boolean): { readonly note: () => void } {
  const hadFocus = useRef(false)
  // Before anything is drawn, so that a screen reader never finds the focus nowhere.
  useLayoutEffect(() => {
    if (!hadFocus.current) return
    hadFocus.current = false
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [isLoaded])
  return {
    note() {
      hadFocus.current = document.activeElement?.tagName === 'H1'
    },
  }
}

type OpeningProps = { readonly title: string; readonly onLeave: () => void }

/** As tall as a page that waits for its data. */
function Opening({ title, onLeave }: OpeningProps) {
  useLayoutEffect(() => onLeave, [])
  return (
    <>
      <PageHead title={title}>
        <Skeleton kind="line" />
      </PageHead>
      <Skeleton kind="card" count={2} />
    </>
  )
}

/** Opening the page again tries again. */
function Missing() {
  return (
    <Callout
      tone="bad"
      title={COMMON.notLoaded}
      actions={<Button onClick={() => location.reload()}>{COMMON.reload}</Button>}
    >
      {COMMON.whyNotLoaded}
    </Callout>
  )
}
