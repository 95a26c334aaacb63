import { putOnClipboard } from '../clipboard.ts'

/** The time for which "Copied" is shown. */
export const COPIED_MS = 2_000

/** Adds a button that copies the code within `box`, as it is then. */
export function addCopyButton(box: Element): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button'
  button.textContent = 'Copy'
  button.ariaLive = 'polite'
  const copy = async () => {
    const isCopied = await putOnClipboard(box.querySelector('code')?.textContent ?? '')
    button.textContent = isCopied ? 'Copied' : "Couldn't copy"
    setTimeout(() => (button.textContent = 'Copy'), COPIED_MS)
  }
  button.addEventListener('click', () => void copy())
  box.append(button)
}
