/** Labels of a sample; their values are from small sets, never handles or ids of messages. */
export type Labels = Readonly<Record<string, string>>

type Kind = 'counter' | 'gauge' | 'histogram'
type Family = {
  readonly kind: Kind
  readonly help: string
  readonly samples: Map<string, number>
  /** The sample names of a histogram, by its labels: made once, used for every observation. */
  readonly names: Map<string, HistogramNames>
}
type HistogramNames = {
  readonly buckets: readonly string[]
  readonly sum: string
  readonly count: string
}

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Infinity]

/** Counters, gauges and histograms, told in Prometheus' text format 0.0.4. */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #collectors: (() => void)[] = []

  count(name: string, help: string, labels: Labels = {}, by = 1): void {
    add(this.#family(name, 'counter', help), keyOf(labels), by)
  }

  set(name: string, help: string, value: number, labels: Labels = {}): void {
    this.#family(name, 'gauge', help).samples.set(keyOf(labels), value)
  }

  /** Adds `seconds` to a histogram. */
  observe(name: string, help: string, seconds: number, labels: Labels = {}): void {
    const family = this.#family(name, 'histogram', help)
    const { buckets, sum, count } = histogramNames(family, labels)
    for (const [i, bucket] of BUCKETS_SECONDS.entries()) {
      add(family, buckets[i] ?? '', seconds <= bucket ? 1 : 0)
    }
    add(family, sum, seconds)
    add(family, count, 1)
  }

  /** `collect` sets gauges each time the text is asked for. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  text(): string {
    for (const collect of this.#collectors) collect()
    const blocks = [...this.#families].map(([name, family]) => {
      const head = `# HELP ${name} ${family.help}\n# TYPE ${name} ${family.kind}\n`
      return head + [...family.samples].map(([key, value]) => `${name}${key} ${value}\n`).join('')
    })
    return blocks.join('')
  }

  #family(name: string, kind: Kind, help: string): Family {
    const known = this.#families.get(name)
    if (known !== undefined) return known
    const family: Family = { kind, help, samples: new Map(), names: new Map() }
    this.#families.set(name, family)
    return family
  }
}

function histogramNames(family: Family, labels: Labels): HistogramNames {
  const key = keyOf(labels)
  const known = family.names.get(key)
  if (known !== undefined) return known
  const buckets = BUCKETS_SECONDS.map((bucket) => {
    const le = bucket === Infinity ? '+Inf' : String(bucket)
    return `_bucket${keyOf({ ...labels, le })}`
  })
  const names = { buckets, sum: `_sum${key}`, count: `_count${key}` }
  family.names.set(key, names)
  return names
}

function add(family: Family, key: string, by: number): void {
  family.samples.set(key, (family.samples.get(key) ?? 0) + by)
}

function keyOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
