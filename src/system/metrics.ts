/** Labels of a sample. Their values come from small sets, never handles or ids of messages. */
export type Labels = Readonly<Record<string, string>>

/** The number of samples in each bucket alone, and the sum of all samples. */
type Histogram = { readonly counts: number[]; sum: number; readonly bounds: readonly number[] }

type Family = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** The values by their labels, as written in the text. */
  readonly values: Map<string, number>
  readonly histograms: Map<string, Histogram>
}

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Infinity]
const TO_ESCAPE = /[\\"\n]/

/** Counters, gauges and histograms in Prometheus' text format 0.0.4. */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #collectors: (() => void)[] = []

  count(name: string, help: string, labels: Labels = {}, by = 1): void {
    const { values } = this.#family(name, 'counter', help)
    const key = keyOf(labels)
    values.set(key, (values.get(key) ?? 0) + by)
  }

  set(name: string, help: string, value: number, labels: Labels = {}): void {
    this.#family(name, 'gauge', help).values.set(keyOf(labels), value)
  }

  /** Sets all samples of a gauge and removes the others. */
  replace(name: string, help: string, samples: readonly (readonly [Labels, number])[]): void {
    if (samples.length === 0 && !this.#families.has(name)) return
    const { values } = this.#family(name, 'gauge', help)
    values.clear()
    for (const [labels, value] of samples) values.set(keyOf(labels), value)
  }

  observe(name: string, help: string, seconds: number, labels: Labels = {}): void {
    const histogram = histogramOf(this.#family(name, 'histogram', help), keyOf(labels))
    const bucket = BUCKETS_SECONDS.findIndex((limit) => seconds <= limit)
    histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1
    histogram.sum += seconds
  }

  /** Sets a counter that is counted elsewhere; it never decreases. */
  total(name: string, help: string, value: number, labels: Labels): void {
    const { values } = this.#family(name, 'counter', help)
    const key = keyOf(labels)
    values.set(key, Math.max(values.get(key) ?? 0, value))
  }

  /** Sets a histogram that is counted elsewhere: samples up to each bound in seconds, the last one Infinity. */
  buckets(
    name: string,
    help: string,
    { upTo, sum }: { readonly upTo: readonly (readonly [number, number])[]; readonly sum: number },
    labels: Labels,
  ): void {
    const counts = upTo.map(([, count], i) => count - (upTo[i - 1]?.[1] ?? 0))
    const bounds = upTo.map(([bound]) => bound)
    this.#family(name, 'histogram', help).histograms.set(keyOf(labels), { counts, sum, bounds })
  }

  /** Calls `collect`, which sets gauges, each time the text is requested. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  text(): string {
    for (const collect of this.#collectors) collect()
    const blocks = [...this.#families].map(([name, family]) => {
      const head = `# HELP ${name} ${family.help}\n# TYPE ${name} ${family.kind}\n`
      const values = [...family.values].map(([key, value]) => `${name}${key} ${value}\n`)
      const histograms = [...family.histograms].map(([key, one]) => textOf(name, key, one))
      return head + values.join('') + histograms.join('')
    })
    return blocks.join('')
  }

  #family(name: string, kind: Family['kind'], help: string): Family {
    const known = this.#families.get(name)
    if (known !== undefined) return known
    const family: Family = { kind, help, values: new Map(), histograms: new Map() }
    this.#families.set(name, family)
    return family
  }
}

function histogramOf({ histograms }: Family, key: string): Histogram {
  const known = histograms.get(key)
  if (known !== undefined) return known
  const histogram = { counts: BUCKETS_SECONDS.map(() => 0), sum: 0, bounds: BUCKETS_SECONDS }
  histograms.set(key, histogram)
  return histogram
}

/** Buckets are cumulative in the text. */
function textOf(name: string, key: string, { counts, sum, bounds }: Histogram): string {
  const others = key === '' ? '' : `${key.slice(1, -1)},`
  let seen = 0
  const buckets = bounds.map((limit, i) => {
    seen += counts[i] ?? 0
    const le = limit === Infinity ? '+Inf' : String(limit)
    return `${name}_bucket{${others}le="${le}"} ${seen}\n`
  })
  return `${buckets.join('')}${name}_sum${key} ${sum}\n${name}_count${key} ${seen}\n`
}

/** Labels as text: `{a="1",b="2"}`, or empty. */
function keyOf(labels: Labels): string {
  let pairs = ''
  for (const name in labels)
    pairs += `${pairs === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`
  return pairs === '' ? '' : `{${pairs}}`
}

function escaped(value: string): string {
  if (!TO_ESCAPE.test(value)) return value
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
