/** Makes the value at the first call, and returns the same one from then on. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** Caches `read` for up to `max` texts; a full cache is emptied. */
export function memoize<T>(max: number, read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    if (known.size >= max) known.clear()
    const value = read(text)
    known.set(text, value)
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
