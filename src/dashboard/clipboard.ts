/**
 * Resolves to false if the browser refuses. Browsers give the clipboard only to secure pages, and plain HTTP on a home
 * network isn't one.
 */
export async function putOnClipboard(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  // An open dialog traps the focus.
  const place = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
