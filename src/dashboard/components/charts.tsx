// SVG charts as wide as their card. Pointer, arrow keys and a table for screen readers show the values. Shares also
// differ in height, because color alone must not carry a meaning.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

type Point = {
  /** The value in words: "21 Nov: 40 sent, 38 received". */
  readonly words: string
  /** The point's row in the table. */
  readonly row: readonly string[]
  /** The target of a click. */
  readonly href?: string | undefined
}

type ChartProps<P> = {
  readonly label: string
  /** Shown while no value is selected. */
  readonly summary: string
  /** Column titles of the table. */
  readonly head: readonly string[]
  readonly points: readonly (Point & P)[]
  readonly size?: 'strip' | 'small' | 'tall' | undefined
}

/** Height in SVG units; a point is one unit wide. */
const HEIGHT = 100
/** The share of a point's width that its bar takes. */
const BAR = 0.8
/** The smallest visible height. */
const SEEN = 3

/** One bar for each share from 0 to 1; null if it is unknown. */
export function ShareStrip(props: ChartProps<{ readonly share: number | null }>) {
  return (
    <Chart size="strip" {...props}>
      {props.points.map(({ share }, x) => {
        if (share === null) return <Bar key={x} x={x} of="none" from={HEIGHT - 12} to={HEIGHT} />
        const top = share === 1 ? 0 : Math.max(HEIGHT * (1 - share), 4 * SEEN)
        return (
          <>
            <Bar x={x} of="bad" from={0} to={top} />
            <Bar x={x} of="ok" from={Math.min(top, HEIGHT)} to={HEIGHT} />
          </>
        )
      })}
    </Chart>
  )
}

type BarsProps = ChartProps<Readonly<Record<'up' | 'down' | 'failed' | 'uncertain', number>>> & {
  /** Drawn as a horizontal line. */
  readonly limit?: number | undefined
}

/** A bar up and a bar down for each day, with failures and uncertain messages at the base. */
export function DayBars({ limit = 0, ...props }: BarsProps) {
  const highest = Math.max(
    limit,
    ...props.points.map(({ up, failed, uncertain }) => up + failed + uncertain),
  )
  const lowest = Math.max(...props.points.map(({ down }) => down))
  const unit = HEIGHT / Math.max(highest + lowest, 1)
  const zero = highest + lowest === 0 ? HEIGHT / 2 : highest * unit
  return (
    <Chart size="tall" {...props}>
      {props.points.map(({ up, down, failed, uncertain }, x) => {
        const base = zero - seen(failed * unit)
        const middle = base - seen(uncertain * unit)
        return (
          <>
            <Bar x={x} of="up" from={Math.max(middle - seen(up * unit), 0)} to={middle} />
            <Bar x={x} of="unsure" from={middle} to={base} />
            <Bar x={x} of="bad" from={base} to={zero} />
            <Bar x={x} of="down" from={zero} to={zero + seen(down * unit)} />
          </>
        )
      })}
      <path class="chart-zero" d={`M0 ${zero}H${props.points.length}`} />
      {limit > 0 && (
        <path class="chart-limit" d={`M0 ${zero - limit * unit}H${props.points.length}`} />
      )}
    </Chart>
  )
}

export function AreaChart(props: ChartProps<{ readonly value: number }>) {
  const { points } = props
  const highest = Math.max(...points.map(({ value }) => value), 1)
  const places = points.map(
    ({ value }, x) => `${x + 0.5} ${HEIGHT - SEEN - (value / highest) * (HEIGHT - 2 * SEEN)}`,
  )
  const line = `M${places.join('L')}`
  return (
    <Chart size="small" {...props}>
      {points.length > 0 && (
        <>
          <path class="chart-area" d={`${line}V${HEIGHT}H0.5Z`} />
          <path class="chart-line" d={line} />
        </>
      )}
    </Chart>
  )
}

function seen(height: number): number {
  return height === 0 ? 0 : Math.max(height, SEEN)
}

type BarProps = {
  readonly x: number
  readonly of: 'up' | 'down' | 'bad' | 'unsure' | 'ok' | 'none'
  readonly from: number
  readonly to: number
}

function Bar({ x, of, from, to }: BarProps) {
  if (to <= from) return null
  const inset = (1 - BAR) / 2
  return <rect class={`chart-${of}`} x={x + inset} y={from} width={BAR} height={to - from} />
}

type FrameProps = ChartProps<object> & { readonly children: ComponentChildren }

function Chart({ label, summary, head, points, size, children }: FrameProps) {
  const shown = useSignal<number | null>(null)
  // Tab stops at one value only, first at the latest.
  const current = useSignal(points.length - 1)
  const at = Math.min(current.value, points.length - 1)
  function focus(event: KeyboardEvent) {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }
    const place = next[event.key as keyof typeof next] // Undefined for any other key.
    if (place === undefined || points[place] === undefined) return
    event.preventDefault()
    current.value = place
    const marks = (event.currentTarget as Element).querySelectorAll<SVGElement>('.chart-mark')
    marks[place]?.focus()
  }
  return (
    <div class="chart">
      <svg
        class={`chart-${size}`}
        viewBox={`0 0 ${Math.max(points.length, 1)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={label}
        onKeyDown={focus}
        onPointerLeave={() => (shown.value = null)}
      >
        {children}
        {points.map((point, x) => {
          const mark = {
            class: 'chart-mark',
            // SVG attribute names are case-sensitive.
            tabindex: x === at ? 0 : -1,
            'aria-label': point.words,
            onPointerEnter: () => (shown.value = x),
            onFocus: () => (shown.value = current.value = x),
            onBlur: () => (shown.value = null),
          }
          const area = <rect x={x} y={0} width={1} height={HEIGHT} />
          return point.href === undefined ? (
            <g key={x} role="img" {...mark}>
              {area}
            </g>
          ) : (
            <a key={x} href={point.href} {...mark}>
              {area}
            </a>
          )
        })}
      </svg>
      <p class="chart-ends" aria-hidden="true">
        <span>{points[0]?.row[0]}</span>
        <span>{points.at(-1)?.row[0]}</span>
      </p>
      <p class="chart-value small quiet" aria-hidden="true">
        {points[shown.value ?? -1]?.words ?? summary}
      </p>
      <ChartTable label={label} head={head} points={points} />
    </div>
  )
}

function ChartTable({ label, head, points }: Pick<FrameProps, 'label' | 'head' | 'points'>) {
  return (
    <div class="visually-hidden">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ row }, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
