// The search over all guides and operations. Its index is loaded once the field has the focus.

import { sectionFinder, type Section } from '../../domain/manual-search.ts'
import { excerptOf, wordsOf } from '../../domain/search-text.ts'

type Find = ReturnType<typeof sectionFinder>

export function startSearch(field: HTMLInputElement, list: HTMLElement, status: Element): void {
  let find: Promise<Find> | null = null
  let chosen = 0
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>('a')]

  const choose = (place: number) => {
    const all = options()
    chosen = all.length === 0 ? 0 : (place + all.length) % all.length
    all.forEach((option, at) => option.setAttribute('aria-selected', String(at === chosen)))
    const option = all[chosen]
    if (option === undefined) return field.removeAttribute('aria-activedescendant')
    field.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }
  const show = (isOpen: boolean) => {
    list.hidden = !isOpen
    field.ariaExpanded = String(isOpen)
    if (!isOpen) status.textContent = ''
  }
  const search = async () => {
    const query = field.value
    find ??= loadIndex()
    const found = await find.then(
      (sections) => sections(query),
      () => null,
    )
    if (query !== field.value) return
    if (found === null) find = null
    list.replaceChildren(...(found ?? []).map((section, at) => optionOf(section, query, at)))
    choose(0)
    show((found ?? []).length > 0)
    status.textContent = wordsFor(found, query)
  }

  field.addEventListener('focus', () => void search())
  field.addEventListener('input', () => void search())
  field.addEventListener('keydown', (event) => {
    const { key } = event
    if (key === 'Escape') return show(false)
    if (list.hidden || !['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) return
    event.preventDefault()
    if (key === 'Enter') options()[chosen]?.click()
    else choose(chosen + (key === 'ArrowDown' ? 1 : -1))
  })
  list.addEventListener('click', () => {
    show(false)
    field.blur()
  })
  document.addEventListener('click', ({ target }) => {
    const isWithin = target instanceof Node && (field === target || list.contains(target))
    if (!isWithin) show(false)
  })
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey } = event
    const isTyping = target instanceof Element && target.closest('input, textarea, select') !== null
    if (isTyping || (key !== '/' && !(key === 'k' && (ctrlKey || metaKey)))) return
    event.preventDefault()
    field.select()
  })
}

async function loadIndex(): Promise<Find> {
  const response = await fetch('/guide/search.json')
  return sectionFinder((await response.json()) as readonly Section[]) // Made by this relay.
}

function wordsFor(found: readonly Section[] | null, query: string): string {
  if (found === null) return "The relay isn't responding."
  if (query.trim() === '') return ''
  return found.length === 0 ? `Nothing found for “${query}”` : `${found.length} found`
}

function optionOf({ href, place, heading, text }: Section, query: string, at: number) {
  const option = document.createElement('a')
  option.href = href
  option.id = `found-${at}`
  option.role = 'option'
  option.tabIndex = -1
  const title = heading === '' ? place : heading
  option.append(
    marked('b', title, query),
    marked('small', heading === '' ? '' : place, query),
    marked('span', text, query),
  )
  return option
}

/** An element with the part of a text around the words of the query, which are marked. */
function marked(name: string, whole: string, query: string): HTMLElement {
  const element = document.createElement(name)
  const { text, ranges } = excerptOf(whole, wordsOf(query))
  const points = Array.from(text)
  // The excerpt begins at a word.
  let done = whole.startsWith(text) ? 0 : Math.min(points.indexOf(' ') + 1, ranges[0]?.offset ?? 0)
  if (done > 0) element.append('…')
  for (const { offset, length } of ranges) {
    const mark = document.createElement('mark')
    mark.textContent = points.slice(offset, offset + length).join('')
    element.append(points.slice(done, offset).join(''), mark)
    done = offset + length
  }
  element.append(points.slice(done).join(''), whole.endsWith(text) ? '' : '…')
  return element
}
