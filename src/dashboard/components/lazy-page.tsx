// Pages, parts and dialogs whose scripts load when they are shown, or are fetched ahead after the first page.
//
//   const KEYS = lazyPage('Keys', async () => (await import('./pages/keys.tsx')).KeysPage)
//   <KEYS.View />

import { signal } from '@preact/signals'
import type { ComponentType, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import { request } from '../api.ts'
import { COMMON } from '../words/common.ts'
import { Button } from './button.tsx'
import { Callout } from './callout.tsx'
import { Dialog } from './modal.tsx'
import { PageHead } from './page.tsx'
import { Skeleton } from './when-ready.tsx'

type Lazy<Props> = { readonly View: ComponentType<Props>; readonly fetch: Fetch }
type Loader<Props> = () => Promise<ComponentType<Props>>

/** The `history.state` of a page that was reloaded because its script was missing. */
const RELOADED = 'reloaded'

/** Shows `title` while the script loads; null for a part of a page. */
export function lazyPage<Props extends object = object>(
  title: string | null,
  load: Loader<Props>,
): Lazy<Props> {
  return lazy(load, {
    waiting: (onLeave) =>
      title === null ? (
        <Skeleton kind="card" count={2} />
      ) : (
        <Opening title={title} onLeave={onLeave} />
      ),
    missing: NotLoaded,
    isReloaded: true,
  })
}

/** A part whose place is empty while its script loads. */
export function lazyPart<Props extends object>(load: Loader<Props>): Lazy<Props> {
  return lazy(load, { waiting: () => null, missing: NotLoaded, isReloaded: true })
}

const NOT_LOADED = "This page couldn't be loaded"
const WHY_NOT_LOADED = "The relay was upgraded, or it can't be reached."

function NotLoaded() {
  return (
    <Callout tone="bad" title={NOT_LOADED} actions={<Reload />}>
      {WHY_NOT_LOADED}
    </Callout>
  )
}

export function lazyDialog<Props extends { readonly onClose: () => void }>(
  load: Loader<Props>,
): Lazy<Props> {
  return lazy(load, {
    waiting: () => null,
    missing: ({ onClose }) => (
      <Dialog title={NOT_LOADED} onClose={onClose} actions={<Reload />}>
        <p>{WHY_NOT_LOADED}</p>
      </Dialog>
    ),
    isReloaded: false,
  })
}

type Placeholders<Props> = {
  /** The placeholder calls `onLeave` before the loaded view replaces it. */
  readonly waiting: (onLeave: () => void) => VNode | null
  readonly missing: (props: Props) => VNode
  /** Reloads the page, once, if an upgrade removed the script. */
  readonly isReloaded: boolean
}

/** Loads a script once. Resolves to false if that failed; never rejects. */
type Fetch = () => Promise<boolean>

/** Everything that can be fetched ahead. A page's own lazy parts join once its script is loaded. */
const known: Fetch[] = []

/** Loads one script after another, each only if `isNext` resolves to true. */
export async function fetchAhead(isNext: () => Promise<boolean>): Promise<void> {
  for (const fetch of known) if (await isNext()) await fetch()
}

function lazy<Props extends object>(
  load: Loader<Props>,
  { waiting, missing, isReloaded }: Placeholders<Props>,
): Lazy<Props> {
  const loaded = signal<ComponentType<Props> | null>(null)
  const isMissing = signal(false)

  async function fetch() {
    loaded.value ??= await load().catch(() => null)
    return loaded.value !== null
  }
  async function open() {
    const isThere = await fetch()
    if (!isThere && isReloaded && (await isUpgraded())) {
      history.replaceState(RELOADED, '')
      return location.reload()
    }
    isMissing.value = !isThere
    if (isThere && history.state === RELOADED) history.replaceState(null, '')
  }
  function View(props: Props) {
    const heading = useHeading(loaded.value !== null)
    useEffect(() => void open(), [])
    const Page = loaded.value
    if (Page !== null) return <Page {...props} />
    return isMissing.value ? missing(props) : waiting(heading.note)
  }
  known.push(fetch)
  return { View, fetch }
}

/**
 * Returns whether an upgrade removed the script: the relay answers, and the page was not reloaded for this yet. If
 * the relay is unreachable, a reload would lose the page.
 */
async function isUpgraded(): Promise<boolean> {
  return history.state !== RELOADED && (await request('getSession')).ok
}

/** Moves the focus from the placeholder's heading to the page's. */
function useHeading(isLoaded: boolean): { readonly note: () => void } {
  const hadFocus = useRef(false)
  // A layout effect, so that a screen reader never finds the focus lost.
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

/** As tall as a page that is waiting for its data. */
function Opening({ title, onLeave }: { readonly title: string; readonly onLeave: () => void }) {
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

function Reload() {
  return <Button onClick={() => location.reload()}>{COMMON.reload}</Button>
}
