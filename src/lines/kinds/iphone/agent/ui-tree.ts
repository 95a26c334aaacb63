// The screen as WebDriverAgent describes it in `GET /source?format=json`; the attributes of its nodes are in
// XCUIApplication+FBHelpers.m (16.7.0).

/** A rectangle in points of the screen. */
export type Rect = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export type UiNode = {
  /** The name of XCUIElementType without its prefix: `Cell`, `Button`, `StaticText`. */
  readonly type: string
  readonly id: string | null
  readonly label: string | null
  /** The text of the node; for an empty text field, its placeholder. */
  readonly value: string | null
  readonly placeholder: string | null
  readonly isEnabled: boolean
  readonly rect: Rect
  readonly children: readonly UiNode[]
}

/** A long chat has some thousand nodes. */
const NODES_MAX = 20_000
/** WebDriverAgent itself stops at a depth of 50. */
const DEPTH_MAX = 100
/** A message has 20,000 characters at most. */
const TEXT_LENGTH_MAX = 100_000
const SKELETON_LINES_MAX = 400
const ID_LENGTH_MAX = 60

/** The tree in an answer; null for any other value, and for a tree that is too large for a screen. */
export function parseTree(value: unknown): UiNode | null {
  const budget = { nodes: NODES_MAX }
  const root = parseNode(value, DEPTH_MAX, budget)
  return budget.nodes < 0 ? null : root
}

function parseNode(value: unknown, depth: number, budget: { nodes: number }): UiNode | null {
  budget.nodes -= 1
  if (budget.nodes < 0 || depth === 0 || !isRecord(value)) return null
  const type = textOf(value['type'])
  if (type === null) return null
  const children = Array.isArray(value['children']) ? value['children'] : []
  return {
    type: type.replace(/^XCUIElementType/, ''),
    id: textOf(value['rawIdentifier']),
    label: textOf(value['label']),
    value: textOf(value['value']),
    placeholder: textOf(value['placeholderValue']),
    isEnabled: value['isEnabled'] !== '0',
    rect: rectOf(value['rect']),
    children: children.flatMap((child) => parseNode(child, depth - 1, budget) ?? []),
  }
}

/** The node and all nodes below it, in the order of the screen. */
export function* nodesOf(root: UiNode): Generator<UiNode> {
  yield root
  for (const child of root.children) yield* nodesOf(child)
}

export function findNode(root: UiNode, test: (node: UiNode) => boolean): UiNode | null {
  for (const node of nodesOf(root)) if (test(node)) return node
  return null
}

export function findById(root: UiNode, id: string): UiNode | null {
  return findNode(root, (node) => node.id === id)
}

/** The facts by which the agent finds a node again. */
export type NodePlace = {
  /** XCTest's name of an element: its identifier, else its label. */
  readonly name: string
  /** The label that it must have; undefined for any. */
  readonly label?: string | null
  /** Its index among the nodes with the same name and label. */
  readonly rank?: number
}

export function placeOf(root: UiNode, node: UiNode): NodePlace {
  const { id, label } = node
  const isAlike = (other: UiNode) => other.id === id && other.label === label
  const alike = [...nodesOf(root)].filter(isAlike)
  return { name: id ?? label ?? '', label, rank: alike.indexOf(node) }
}

/** The types, identifiers and lengths of labels without any text, for diagnostics. */
export function skeletonOf(root: UiNode): string {
  const lines: string[] = []
  const write = (node: UiNode, indent: string) => {
    if (lines.length >= SKELETON_LINES_MAX) return
    const id = node.id === null ? '' : ` #${shownId(node.type, node.id)}`
    const label = node.label === null ? '' : ` label:${node.label.length}`
    lines.push(`${indent}${node.type.slice(0, 40)}${id}${label}`)
    for (const child of node.children) write(child, `${indent} `)
  }
  write(root, '')
  return lines.join('\n')
}

/** Words joined as in program code: `sendButton`, `lockscreen-date-view`. */
const JOINED_WORDS = /^(?:[A-Za-z]*[a-z][A-Z][A-Za-z]*|[a-z]+(?:[-_.][A-Za-z]+)+)$/

/** The identifier if a programmer wrote it, else its length: XCTest fills in the text of an element without one. */
function shownId(type: string, id: string): string {
  const isProgrammers = JOINED_WORDS.test(id) && type !== 'NavigationBar'
  return isProgrammers ? id.slice(0, ID_LENGTH_MAX) : `(${id.length})`
}

function rectOf(value: unknown): Rect {
  const read = (key: string) => {
    const number = isRecord(value) ? value[key] : 0
    return typeof number === 'number' && Number.isFinite(number) ? number : 0
  }
  return { x: read('x'), y: read('y'), width: read('width'), height: read('height') }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, TEXT_LENGTH_MAX) : null
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
