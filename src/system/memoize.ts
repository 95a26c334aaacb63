/** Makes the value at the first call, and returns the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** Caches `read` for up to `max` texts or numbers; a full cache is emptied. */
export function memoize<T, K = string>(max: number, read: (key: K) => T): (key: K) => T {
  const known = new Map<K, T>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= max) known.clear()
    const value = read(key)
    known.set(key, value)
    return value
  }
}

/** Deletes the oldest entry if there are more than `max`. */
export function dropOldest<K>(
  kept: Pick<Map<K, unknown>, 'size' | 'delete'> & { keys(): Iterator<K> },
  max: number,
): void {
  const oldest = kept.keys().next()
  if (kept.size > max && oldest.done !== true) kept.delete(oldest.value)
}
