// For what comes and goes all the time, as requests do. A plain `Map` or `Set` is no place for that: when
// it makes room, JavaScriptCore leaves a table behind with all that was in it then. Such tables hold one
// another, so that once one of them has grown old, everything that ever passed stays until the next full
// collection (seen with Bun 1.4.5: 20 MB of ended requests, looked through again and again). Here, what
// goes leaves nothing but an empty place, which is used again.

type Place<V> = { value: V | null }

/** A map for entries that pass. */
export class PassingMap<K, V extends object> {
  readonly #places = new Map<K, Place<V>>()
  readonly #free: Place<V>[] = []

  get size(): number {
    return this.#places.size
  }

  get(key: K): V | null {
    return this.#places.get(key)?.value ?? null
  }

  /** A key that is there already keeps its place among the others. */
  set(key: K, value: V): void {
    const known = this.#places.get(key)
    const place = known ?? this.#free.pop() ?? { value }
    place.value = value
    if (known === undefined) this.#places.set(key, place)
  }

  delete(key: K): void {
    const place = this.#places.get(key)
    if (place === undefined) return
    this.#places.delete(key)
    place.value = null
    this.#free.push(place)
  }

  clear(): void {
    for (const key of this.#places.keys()) this.delete(key)
  }

  /** The key that came first of those that are there. */
  firstKey(): K | undefined {
    return this.#places.keys().next().value
  }

  /** What is there now, in the order in which it came. */
  values(): readonly V[] {
    return [...this.#places.values()].flatMap(({ value }) => value ?? [])
  }
}

/** A set for things that pass. */
export class PassingSet<T extends object> {
  readonly #places: (T | null)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.length - this.#free.length
  }

  /** Takes in one that is not there yet; what it returns lets it go, once. */
  add(one: T): () => void {
    const place = this.#free.pop() ?? this.#places.length
    this.#places[place] = one
    return () => {
      if (this.#places[place] !== one) return
      this.#places[place] = null
      this.#free.push(place)
    }
  }

  /** What is there now, in no order. */
  values(): readonly T[] {
    return this.#places.filter((one) => one !== null)
  }
}
