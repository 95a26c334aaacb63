// Whether a text has the shape of a property list in XML, before a parser of all XML sees it. That one
// is lenient, quotes what it finds odd on standard error, and goes as deep as it is led.

/** Far deeper than anything that usbmuxd or a phone says. */
const DEPTH_MAX = 32
const VALUES_MAX = 100_000

/** No white space may belong to either of two parts: ten thousand of it would be tried for minutes. */
const HEAD =
  /^\uFEFF?\s*(?:<\?xml[^<>?]*\?>\s*)?(?:<!DOCTYPE\s+plist(?:\s+(?:PUBLIC|SYSTEM)(?:\s+"[^"<>[\]]*"){1,2})?\s*>\s*)?(?=<plist\b)/
/** One tag of a property list (plist.dtd), a stretch of text, or one of the known entities. */
const PIECE =
  /<(\/?)(plist|dict|array|key|string|data|date|integer|real|true|false)(?: version="[\d.]*")?\s*(\/?)>|[^<&]+|&(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[\da-f]{1,6});/iy
const CONTAINERS: ReadonlySet<string | undefined> = new Set(['plist', 'dict', 'array'])

export type CheckedXml = { readonly body: string } | { readonly problem: string }

/**
 * The list in `text` without its head, fit for the parser; or what is wrong with it, quoting nothing.
 */
export function checkedXml(text: string): CheckedXml {
  const head = HEAD.exec(text)?.[0]
  if (head === undefined) return { problem: 'It does not begin as a property list in XML' }
  const shape = new XmlShape()
  const piece = new RegExp(PIECE)
  piece.lastIndex = head.length
  while (!shape.isWhole) {
    const found = piece.exec(text)
    if (found === null) return { problem: 'It ends too early, or is no property list' }
    const problem = shape.take(found)
    if (problem !== null) return { problem }
  }
  if (text.slice(piece.lastIndex).trim() !== '') return { problem: 'Something follows its end' }
  // The parser remarks on the sign itself, which stands for a byte that was no UTF-8.
  return { body: text.slice(head.length).replaceAll('\uFFFD', '&#xFFFD;') }
}

/** The elements around the next piece of a text. */
class XmlShape {
  /** Outermost first. */
  readonly #open: string[] = []
  #values = 0
  #hasEnded = false

  get isWhole(): boolean {
    return this.#hasEnded
  }

  /** What is wrong with the next piece; null where it may stand here. */
  take([found, slash, name, end]: RegExpExecArray): string | null {
    if (name === undefined) return this.#text(found)
    if (slash === '') return this.#begin(name, end === '/')
    return end === '' && this.#end(name) ? null : 'Its elements do not match'
  }

  #text(text: string): string | null {
    const isPlace = !CONTAINERS.has(this.#open.at(-1)) && this.#open.length > 0
    return isPlace || text.trim() === '' ? null : 'It has text outside of its values'
  }

  #begin(name: string, isEmpty: boolean): string | null {
    const depth = this.#open.length
    if ((name === 'plist') !== (depth === 0)) return 'Its elements do not match'
    if (depth > 0 && !CONTAINERS.has(this.#open.at(-1))) return 'A value holds an element'
    // The outermost element is no level of its own, and holds one value.
    if (depth > DEPTH_MAX) return 'It is nested too deeply'
    if (depth === 1 && this.#values > 0) return 'It holds more than one value'
    if (depth > 0) this.#values += 1
    if (!isEmpty) this.#open.push(name)
    return this.#values > VALUES_MAX ? 'It holds too many values' : null
  }

  #end(name: string): boolean {
    const isMatch = this.#open.pop() === name
    this.#hasEnded = this.#open.length === 0
    return isMatch
  }
}
