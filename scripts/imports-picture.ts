// Makes src/guides/imports.svg: who imports whom in `src/`, in rows from the entry to the base. A box stands in the row
// beneath the lowest one that imports it. Of the arrows, only those are drawn that no longer way says already.

import { sourceFiles, type SourceFile } from '../test/support/source-files.ts'
import { moduleOf, targetsOf } from '../test/tidy/layers.ts'

/** What each folder, and each file beside the folders, imports from others; imports of types count as well. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>

export function importsBetween(files: readonly SourceFile[]): Imports {
  const imports = new Map<string, Set<string>>()
  for (const file of files) {
    const from = moduleIn(file.path)
    const known = imports.get(from) ?? new Set()
    imports.set(from, known)
    const targets = targetsOf(file).filter((path) => path.startsWith('src/'))
    for (const to of targets.map(moduleIn)) if (to !== from) known.add(to)
  }
  return imports
}

const moduleIn = (path: string) => moduleOf(path.replace('src/', ''))

/** The boxes of each row, the topmost first. Throws if a folder imports itself by way of others. */
export function rowsOf(imports: Imports): readonly (readonly string[])[] {
  const names = [...imports.keys()].sort()
  const rows: string[][] = []
  const placed = new Set<string>()
  while (placed.size < names.length) {
    const left = names.filter((name) => !placed.has(name))
    const row = left.filter((name) => !left.some((other) => imports.get(other)?.has(name)))
    if (row.length === 0) throw new Error(`These import each other in a circle: ${left.join(', ')}`)
    for (const name of row) placed.add(name)
    rows.push(row)
  }
  return rows
}

/** The imports that are drawn: all others lead along arrows to the same box. */
export function drawnImports(imports: Imports): Imports {
  const reached = (name: string): ReadonlySet<string> => {
    const found = [...(imports.get(name) ?? [])]
    return new Set([...found, ...found.flatMap((other) => [...reached(other)])])
  }
  const drawn = [...imports].map(([name, targets]) => {
    const isNeeded = (target: string) =>
      ![...targets].some((other) => other !== target && reached(other).has(target))
    return [name, new Set([...targets].filter(isNeeded))] as const
  })
  return new Map(drawn)
}

export function importsPicture(): string {
  const imports = importsBetween(sourceFiles('src/**/*.{ts,tsx}'))
  const isFolder = (name: string) => sourceFiles(`src/${name}/**/*.{ts,tsx}`).length > 0
  return pictureOf(placesOf(rowsOf(imports), drawnImports(imports)), isFolder)
}

/** A box, or a point in a row that arrows to `name` pass on their way down. */
type Place = {
  readonly name: string
  readonly isBox: boolean
  readonly row: number
  readonly width: number
  x: number
  readonly above: Place[]
  readonly below: Place[]
}

const WIDTH = 720
const BOX_HEIGHT = 26
const ROW_HEIGHT = 56
const MARGIN = 6
const SPACE = 7
/** Pixels between two lines side by side. */
const LINE_SPACE = 14
const SWEEPS = 24

function placesOf(rows: readonly (readonly string[])[], drawn: Imports): readonly Place[] {
  const places = rows.flatMap((names, row) =>
    names.map((name, at) => placeOf(name, row, { isBox: true, at, of: names.length })),
  )
  const boxes = new Map(places.map((place) => [place.name, place]))
  const points = new Map<string, Place>()
  /** The place in `row` from which arrows go on to `target`: arrows to one box join as soon as they can. */
  const wayTo = (target: Place, row: number): Place => {
    if (row === target.row) return target
    const key = `${row} ${target.name}`
    const known = points.get(key)
    if (known !== undefined) return known
    const point = placeOf(target.name, row, { isBox: false, at: target.x, of: WIDTH })
    points.set(key, point)
    join(point, wayTo(target, row + 1))
    return point
  }
  for (const [name, targets] of drawn) {
    const from = boxes.get(name)
    for (const target of [...targets].map((one) => boxes.get(one))) {
      if (from && target) join(from, wayTo(target, from.row + 1))
    }
  }
  const all = [...places, ...points.values()]
  arrange(rows.map((_, row) => all.filter((place) => place.row === row)))
  return all
}

function placeOf(
  name: string,
  row: number,
  { isBox, at, of }: { readonly isBox: boolean; readonly at: number; readonly of: number },
): Place {
  const width = isBox ? Math.round(textWidth(name)) + 12 : LINE_SPACE - SPACE
  return { name, isBox, row, width, x: ((at + 0.5) / of) * WIDTH, above: [], below: [] }
}

function join(from: Place, to: Place): void {
  if (from.below.includes(to)) return
  from.below.push(to)
  to.above.push(from)
}

/** Moves each place towards the middle of those it is joined to, row by row, down and up. */
function arrange(rows: readonly Place[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0
    for (const row of isDown ? rows : rows.toReversed()) {
      const wish = (place: Place) => {
        const joined = sweep < SWEEPS / 2 ? place[isDown ? 'above' : 'below'] : neighborsOf(place)
        return joined.length === 0 ? place.x : mean(joined.map(({ x }) => x))
      }
      const wishes = new Map(row.map((place) => [place, wish(place)]))
      row.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0) || a.x - b.x)
      spread(row, (place) => wishes.get(place) ?? place.x)
    }
  }
}

const neighborsOf = ({ above, below }: Place) => [...above, ...below]

/** Puts the places of a row as near to their wishes as they can stand, in their order, without touching. */
function spread(row: readonly Place[], wish: (place: Place) => number): void {
  const offsets = row.map((_, at) => widthBetween(row.slice(0, at + 1)))
  const [first, last] = [row[0], row.at(-1)]
  const least = MARGIN + (first?.width ?? 0) / 2
  const most = WIDTH - MARGIN - (last?.width ?? 0) / 2 - (offsets.at(-1) ?? 0)
  // Without the space that the places need, their order is all that is asked of them.
  const free = rising(row.map((place, at) => wish(place) - (offsets[at] ?? 0)))
  for (const [at, place] of row.entries()) {
    place.x = Math.max(least, Math.min(most, free[at] ?? 0)) + (offsets[at] ?? 0)
  }
}

/** Pixels from the middle of the first place to that of the last one, if each touches the next. */
function widthBetween(places: readonly Place[]): number {
  const widths = places.map(({ width }) => width + SPACE)
  const ends = ((widths[0] ?? 0) + (widths.at(-1) ?? 0)) / 2
  return widths.reduce((sum, width) => sum + width, 0) - ends
}

/** The numbers nearest to these of which none is less than the one before it (by the sum of the squared distances). */
function rising(values: readonly number[]): readonly number[] {
  const runs: { count: number; sum: number }[] = []
  for (const value of values) {
    runs.push({ count: 1, sum: value })
    for (;;) {
      const [before, last] = runs.slice(-2)
      if (!before || !last || before.sum / before.count <= last.sum / last.count) break
      runs.splice(-2, 2, { count: before.count + last.count, sum: before.sum + last.sum })
    }
  }
  return runs.flatMap(({ count, sum }) => Array<number>(count).fill(sum / count))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const FONT_SIZE = 12
/** Widths of Arial's letters, in parts of their size. */
const LETTERS: readonly (readonly [letters: RegExp, width: number])[] = [
  [/[ijl]/, 0.23],
  [/[tf/]/, 0.28],
  [/r/, 0.34],
  [/[mw]/, 0.8],
]

function textWidth(text: string): number {
  const widthOf = (letter: string) => LETTERS.find(([letters]) => letters.test(letter))?.[1] ?? 0.56
  return Array.from(text).reduce((sum, letter) => sum + widthOf(letter) * FONT_SIZE, 0)
}

const STYLE = `rect { fill: #eef3fb; stroke: #7b8cab; } rect.file { fill: #ffffff; stroke-dasharray: 3 2; }
path { fill: none; stroke: #7b8cab; stroke-width: 1.1; } .head { fill: #7b8cab; stroke: none; }
text { font: ${FONT_SIZE}px Arial, Helvetica, 'Liberation Sans', sans-serif; fill: #1b2a44; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
rect { fill: #22304a; stroke: #7f92b5; } rect.file { fill: #161d2b; } path { stroke: #7f92b5; } .head { fill: #7f92b5; } text { fill: #e6ecf7; } }`

function pictureOf(places: readonly Place[], isFolder: (name: string) => boolean): string {
  const height = Math.max(...places.map(topOf)) + BOX_HEIGHT + MARGIN
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
<title>Who imports whom in src</title>
<style>
${STYLE}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
${places.flatMap(linesFrom).join('\n')}
${places
  .filter(({ isBox }) => isBox)
  .map((place) => boxOf(place, isFolder(place.name)))
  .join('\n')}
</svg>
`
}

function topOf({ row }: Place): number {
  return MARGIN + row * ROW_HEIGHT
}

function linesFrom(place: Place): readonly string[] {
  const from = topOf(place) + (place.isBox ? BOX_HEIGHT : 0)
  const x = Math.round(place.x)
  const through = place.isBox ? '' : `V${from + BOX_HEIGHT}`
  const start = from + (place.isBox ? 0 : BOX_HEIGHT)
  return place.below.map((to) => {
    const [endX, end] = [Math.round(to.x), topOf(to)]
    const half = Math.round((start + end) / 2)
    const head = to.isBox ? ' marker-end="url(#head)"' : ''
    return `<path d="M${x} ${from}${through}C${x} ${half} ${endX} ${half} ${endX} ${end}"${head}/>`
  })
}

function boxOf(place: Place, isFolder: boolean): string {
  const { name, width } = place
  const x = Math.round(place.x)
  const left = x - Math.round(width / 2)
  const kind = isFolder ? '' : ' class="file"'
  const rect = `<rect${kind} x="${left}" y="${topOf(place)}" width="${width}" height="${BOX_HEIGHT}" rx="5"/>`
  return `${rect}<text x="${x}" y="${topOf(place) + 17}">${name}</text>`
}
