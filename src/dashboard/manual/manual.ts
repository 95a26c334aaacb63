// The scripts of the guides and the API page: theme, search, copying, and the mark of the section that is read.

import { putOnClipboard } from '../clipboard.ts'
import { showTheme } from '../theme.ts'
import { COPIED_MS, addCopyButton } from './copy-button.ts'
import { startSearch } from './search.ts'

showTheme()
window.addEventListener('storage', showTheme)

const field = document.querySelector<HTMLInputElement>('.manual-search input')
const list = document.querySelector<HTMLElement>('#found')
const status = document.querySelector('.manual-search [role=status]')
if (field && list && status) startSearch(field, list, status)

for (const code of document.querySelectorAll('.code')) addCopyButton(code)
for (const link of document.querySelectorAll<HTMLAnchorElement>('.prose :is(h2, h3) > a')) {
  link.addEventListener(
    'click',
    () => void putOnClipboard(link.href).then((isCopied) => isCopied && showCopied(link)),
  )
}
showInContents(document.querySelector('.manual-contents'))
markSection([...document.querySelectorAll<HTMLAnchorElement>('.outline a')])

/** Scrolls the contents to the guide that is open. `scrollIntoView` would scroll the page as well. */
function showInContents(contents: HTMLElement | null): void {
  const current = contents?.querySelector('[aria-current]')
  if (!contents || !current) return
  const [frame, { top, height }] = [
    contents.getBoundingClientRect(),
    current.getBoundingClientRect(),
  ]
  contents.scrollTop += top + height / 2 - (frame.top + frame.height / 2)
}

/** Its stylesheet shows that the address was copied. */
function showCopied(link: HTMLElement): void {
  link.dataset['copied'] = ''
  setTimeout(() => delete link.dataset['copied'], COPIED_MS)
}

/** Marks the link to the last heading that has passed the top bar; at the end of the page, the last of all. */
function markSection(links: readonly HTMLAnchorElement[]): void {
  const headings = links.map(({ hash }) =>
    document.getElementById(decodeURIComponent(hash.slice(1))),
  )
  const mark = () => {
    const { scrollHeight, scrollTop, clientHeight } = document.documentElement
    const isAtEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2
    const passed = headings.filter((heading) => {
      return heading !== null && heading.getBoundingClientRect().top < clientHeight / 4
    })
    const current = isAtEnd ? links.length - 1 : passed.length - 1
    links.forEach((link, place) => {
      if (place === current) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    })
  }
  if (links.length === 0) return
  window.addEventListener('scroll', mark, { passive: true })
  mark()
}
