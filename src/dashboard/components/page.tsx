import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'

import { isStorageAvailable } from '../browser-storage.ts'
import { COMMON } from '../words/common.ts'
import { Callout } from './callout.tsx'
import { Icon, Mark } from './icon.tsx'

type HeadProps = {
  readonly title: ComponentChildren
  readonly actions?: ComponentChildren
  /** One sentence below the title. */
  readonly children?: ComponentChildren
}

/** The page's only `h1`, which gets the focus when the page changes. */
export function PageHead({ title, actions, children }: HeadProps) {
  return (
    <header class="page-head">
      <div class="page-head-words">
        <h1 tabIndex={-1}>{title}</h1>
        {children !== undefined && <p class="page-lead">{children}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </header>
  )
}

type AloneProps = { readonly title: string; readonly children?: ComponentChildren }

/** The head of a page without navigation. */
export function AloneHead({ title, children }: AloneProps) {
  useTitle(title)
  const isStored = useMemo(isStorageAvailable, [])
  return (
    <>
      <div class="alone-head">
        <Mark />
        <PageHead title={title}>{children}</PageHead>
      </div>
      {!isStored && (
        <Callout tone="warn" role="status" title="Your browser isn't saving data for this page">
          You may be in a private window, or a setting blocks storage. You can sign in, but only in
          this tab, and again after every reload.
        </Callout>
      )}
    </>
  )
}

type LinkProps = { readonly href: string; readonly children: ComponentChildren }

/** The link back to a list, above the heading of one entry. */
export function BackLink({ href, children }: LinkProps) {
  return (
    <a class="back-link" href={href}>
      <Icon name="back" />
      {children}
    </a>
  )
}

type CardProps = {
  readonly title?: ComponentChildren
  readonly actions?: ComponentChildren
  /** `sheet` has padding; rows of a `list` reach the edges. */
  readonly kind?: 'sheet' | 'list' | undefined
  readonly children: ComponentChildren
}

/** A sheet with an `h2`, or a plain one without `title`. */
export function Card({ title, actions, kind = 'sheet', children }: CardProps) {
  const id = useId()
  if (title === undefined) return <div class={`card card-${kind}`}>{children}</div>
  return (
    <section class={`card card-${kind}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}

type FactsProps = { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }

/** Rows of name and value. Rows with the value `false` are left out. */
export function Facts({ of }: FactsProps) {
  return (
    <dl class="facts">
      {of.map(
        ([name, value]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${COMMON.product}`
  }, [title])
}

/**
 * Scrolls a new `view` to its top and focuses its heading, as a browser does after navigation. Without `before`, the
 * first view counts as just loaded, and nothing is done.
 */
export function useNewView(view: string, before = view): void {
  const shown = useRef(before)
  // A layout effect, so that a key pressed as soon as the view appears already goes to it.
  useLayoutEffect(() => {
    if (shown.current === view) return
    shown.current = view
    window.scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [view])
}

/** Leads from a card to the page with all of it. */
export function MoreLink(props: { readonly href: string; readonly children: string }) {
  return (
    <a class="more-link" href={props.href}>
      {props.children}
      <Icon name="forward" />
    </a>
  )
}
