// A page whose script is not loaded before it is shown, or fetched ahead: what everybody needs comes
// first, and the rest while they look at it.
//
//   const KEYS = lazyPage('Keys', async () => (await import('./pages/keys.tsx')).KeysPage)
//   <KEYS.View />, void KEYS.fetch()

import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { request } from '../request.ts'
import { Button } from './button.tsx'
import { Callout } from './callout.tsx'
import { PageHead } from './page-head.tsx'
import { Skeleton } from './skeleton.tsx'

export type LazyPage = {
  readonly View: ComponentType
  /** Loads the script, once; whether it is there. Never rejects. */
  fetch(): Promise<boolean>
}

/** In the browser's history, of a place that was loaded afresh for its script. */
const LOADED_AFRESH = 'loaded-afresh'

/** `title` stands at the top until the page itself does. */
export function lazyPage(title: string, load: () => Promise<ComponentType>): LazyPage {
  const loaded = signal<ComponentType | null>(null)
  const isMissing = signal(false)

  async function fetch() {
    loaded.value ??= await load().catch(() => null)
    return loaded.value !== null
  }
  async function open() {
    const isThere = await fetch()
    if (!isThere && (await isUpgraded())) return loadAfresh()
    isMissing.value = !isThere
    if (isThere && history.state === LOADED_AFRESH) history.replaceState(null, '')
  }
  function View() {
    const heading = useHeading(loaded.value !== null)
    useEffect(() => void open(), [])
    const Page = loaded.value
    if (Page !== null) return <Page />
    return isMissing.value ? <Missing /> : <Opening title={title} onLeave={heading.note} />
  }
  return { View, fetch }
}

/**
 * Whether the script of this page is gone from the relay with its version: it answers, and was not
 * asked for the same just before. While it is away, loading afresh would lose the page that there is.
 */
async function isUpgraded(): Promise<boolean> {
  if (history.state === LOADED_AFRESH) return false
  return (await request({ method: 'GET', path: '/dashboard/session' })).ok
}

function loadAfresh(): void {
  history.replaceState(LOADED_AFRESH, '')
  location.reload()
}

/** Hands the focus on, from the heading that held the place to that of the page. */
function useHeading(isLoaded: boolean): { readonly note: () => void } {
  const hadFocus = useRef(false)
  // Before anything is drawn: at no moment does a reader's program find the focus nowhere.
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

/** As tall as the pages are when their data have not come yet. */
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

/** Comes back by itself where one goes elsewhere and here again, and the relay answers. */
function Missing() {
  return (
    <Callout
      tone="bad"
      title="This page could not be loaded"
      actions={<Button onClick={() => location.reload()}>Load it again</Button>}
    >
      The relay was upgraded, or it cannot be reached.
    </Callout>
  )
}
