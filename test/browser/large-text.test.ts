// Text of twice the usual size is read without loss.

import { expect } from 'bun:test'

import { furnishAll, furnishedPlaces, visit } from './places.ts'
import { COMPUTER, PHONE, TOUCH } from './stage.ts'
import { story } from './story.ts'

const DOUBLE = `addEventListener('DOMContentLoaded', () => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('html { font-size: 32px }')
  document.adoptedStyleSheets = [sheet]
})`

/** Text that is higher than its line, or that sticks out of its row, button or link. */
const LOST = `[...document.querySelectorAll('main *, nav *, header *')].flatMap((one) => {
  const isText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
  if (!isText || !one.checkVisibility() || one.closest('.visually-hidden, option, svg, sup')) return []
  const { fontSize, lineHeight, clipPath } = getComputedStyle(one)
  if (clipPath !== 'none') return [] // Only read aloud.
  const box = one.closest('a, button, li, summary, dialog, pre')
  const row = box?.matches('dialog, pre') ? null : box // These two scroll.
  const [own, around] = [one, row ?? one].map((each) => each.getBoundingClientRect())
  const isLow = parseFloat(lineHeight) < parseFloat(fontSize)
  const isOut = own.top < around.top - 2 || own.bottom > around.bottom + 2
  return isLow || isOut ? [one.className + ': ' + one.textContent.slice(0, 30)] : []
})`

story('text of twice the usual size is neither cut off nor laid over other text', async (scene) => {
  const { stage } = scene
  const rooms = await furnishAll(scene, await stage.page())
  const lost: Record<string, unknown> = {}

  for (const viewport of [COMPUTER, PHONE]) {
    const watched = await stage.page({ viewport, ...(viewport === PHONE && TOUCH) })
    await watched.page.addInitScript(DOUBLE)
    for (const place of furnishedPlaces(rooms)) {
      if (place.press.length > 0) await watched.page.goto('about:blank')
      await visit(watched, place)
      await watched.drawn()
      const { px } = await watched.overflow()
      const found = await watched.page.evaluate<string[]>(LOST)
      if (px > 0 || found.length > 0) lost[`${place.name} ${viewport.width}`] = [px, ...found]
    }
  }

  expect(lost).toEqual({})
})
