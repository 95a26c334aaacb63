import { useEffect, useMemo } from 'preact/hooks'

import { useDashboard } from './dashboard.ts'
import { Feed, type FeedSource } from './feed.ts'

/** A feed that stops when the component unmounts; a new `key` starts a new one. */
export function useFeed<T extends { readonly id: string }>(
  key: string,
  source: FeedSource<T>,
): Feed<T> {
  const { live, clock } = useDashboard()
  const feed = useMemo(() => new Feed(source, { live, clock }), [key])
  useEffect(() => () => feed.stop(), [feed])
  return feed
}
