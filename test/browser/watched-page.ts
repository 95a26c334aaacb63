// A page that is watched for what no page of ours may do: write an error, ask another host, be wider
// than its window, or jump while its data arrive.

import axe from 'axe-core'
import type { BrowserContext, Locator, Page } from 'playwright-core'

import { eventually } from '../support/eventually.ts'

/** Adds up the jumps that nobody asked for: those right after an input are left out by the browser. */
const WATCH_SHIFTS = `
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue
      const places = entry.sources.map(({ node, previousRect, currentRect }) =>
        [node?.className || node?.nodeName, previousRect.y, 'to', currentRect.y].join(' '))
      window.shifts.push({ value: entry.value, places })
    }
  }).observe({ type: 'layout-shift', buffered: true })
`
const TOO_WIDE = `[...document.querySelectorAll('*')]
  .filter((element) => {
    const { right, width } = element.getBoundingClientRect()
    return width > 1 && right > document.documentElement.clientWidth + 1 && !element.closest('.visually-hidden')
  })
  .map((element) => element.nodeName + '.' + element.className)
  .slice(0, 5)`

/**
 * Controls that a finger misses: 21 px beside their middle, something else is hit. Links within a sentence and
 * the cells of a chart may be smaller.
 */
const SMALL_TARGETS = `(() => {
  if (!matchMedia('(pointer: coarse)').matches) return []
  const BARS = '.nav, .top-bar, .menu-items'
  const isSmall = (one) => {
    const area = one.closest('label') ?? one
    const { left, top, width, height } = area.getBoundingClientRect()
    const at = (x, y) => document.elementFromPoint(left + width / 2 + x, top + height / 2 + y)
    // What the scrolling part of a dialog cuts off is no smaller for that.
    const frame = area.closest('.dialog-body')?.getBoundingClientRect()
    const isCut = (y) => frame && (top + height / 2 + y < frame.top || top + height / 2 + y > frame.bottom)
    // What stands below the bars of a phone scrolls out from there, and an open menu closes.
    const isBelowBar = (x, y) => !area.closest(BARS) && at(x, y)?.closest(BARS)
    const isHit = (x, y) =>
      isCut(y) || at(x, y) === null || isBelowBar(x, y) || area.contains(at(x, y))
    if (at(0, 0) === null || !isHit(0, 0)) return false
    return ![[0, -21], [0, 21], [-21, 0], [21, 0]].every(([x, y]) => isHit(x, y))
  }
  return [...document.querySelectorAll('a, button, summary, select, input, textarea, [role=option]')]
    .filter((one) => !one.matches('svg *, .skip-link, .home-line-name, .webhook-row-name > a') && getComputedStyle(one).display !== 'inline')
    .filter(isSmall)
    .map((one) => 'too small for a finger: ' + one.outerHTML.slice(0, 160))
})()`

/** A dialog that still fades in is pale. An animation may follow on another, or begin with the next frame. */
const STANDS_STILL = `(async () => {
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const running = document.getAnimations().filter((one) =>
      one.playState === 'running' && one.effect.getComputedTiming().endTime < Infinity)
    if (running.length === 0) return null
    await Promise.allSettled(running.map((one) => one.finished))
  }
})()`

/** What axe-core looks at: all, or only what is not below a modal dialog, for that is a place of its own. */
const AXE = {
  all: `axe.run({ resultTypes: ['violations'] })`,
  top: `axe.run(document.querySelector('dialog:modal') ?? document, { resultTypes: ['violations'] })`,
  contrast: `axe.run(document.querySelector('dialog:modal') ?? document,
    { resultTypes: ['violations'], runOnly: ['color-contrast'] })`,
}

/** Where pictures of pages are kept to be looked at. */
const SCREENSHOTS = `${import.meta.dir}/screenshots`

const FOCUSED = `(() => {
  const at = document.activeElement
  const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.innerText
  const hidden = [...at.querySelectorAll('[aria-hidden=true]')].map((one) => one.textContent.trim())
  const lines = name.trim().split('\\n')
  return at === document.body ? 'nothing' : lines.find((line) => !hidden.includes(line.trim())) ?? lines[0]
})()`

type Shift = { readonly value: number; readonly places: readonly string[] }
type AxeViolation = {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What pages did that they may not. */
export class Faults {
  readonly list: string[] = []
  readonly #excused: RegExp[] = []

  add(fault: string): void {
    if (!this.#excused.some((words) => words.test(fault))) this.list.push(fault)
  }

  excuse(words: RegExp): void {
    this.#excused.push(words)
  }
}

export class WatchedPage {
  readonly page: Page
  readonly #faults: Faults

  private constructor(page: Page, faults: Faults) {
    this.page = page
    this.#faults = faults
  }

  static async open(context: BrowserContext, faults: Faults): Promise<WatchedPage> {
    const page = await context.newPage()
    const watched = new WatchedPage(page, faults)
    await page.addInitScript(WATCH_SHIFTS)
    page.on('console', (message) => {
      const isBad = message.type() === 'error' || message.type() === 'warning'
      const at = message.location().url
      if (isBad) faults.add(`${message.type()}: ${message.text()} ${at}`)
    })
    page.on('pageerror', (error) => faults.add(`thrown: ${error.message}`))
    page.on('request', (request) => {
      if (watched.#isForeign(request.url())) faults.add(`asked: ${request.url()}`)
    })
    return watched
  }

  /** Another tab of the same browser. */
  another(): Promise<WatchedPage> {
    return WatchedPage.open(this.page.context(), this.#faults)
  }

  /** Shows `#/…`, and waits until what it shows is there: no skeleton is left. */
  async show(hash: string): Promise<void> {
    await this.page.goto(`/#/${hash}`)
    await this.settle()
  }

  /** Waits until nothing is being loaded any more. */
  async settle(): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    await this.page.locator('.skeleton').first().waitFor({ state: 'detached' })
  }

  /** Keeps a script back until it is let go. */
  async hold(glob: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    await this.page.route(glob, async (route) => {
      await promise
      await route.continue()
    })
    return resolve
  }

  /** Waits until what is known is also drawn. */
  async drawn(): Promise<void> {
    await this.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    )
  }

  /** Keeps a picture of what the window shows, where `HOOKLINE_SCREENSHOTS` asks for pictures. */
  async keepPicture(name: string): Promise<void> {
    if (process.env['HOOKLINE_SCREENSHOTS'] !== undefined)
      await this.capture(`${SCREENSHOTS}/${name}.png`)
  }

  /** Takes a picture of what the window shows. */
  async capture(path: string): Promise<void> {
    await this.page.screenshot({ path, animations: 'disabled' })
  }

  /** Does something in a window that is tall enough for all of the page. */
  async whole(run: () => Promise<void>): Promise<void> {
    const size = this.page.viewportSize()
    const height = await this.page.evaluate<number>('document.documentElement.scrollHeight')
    if (size !== null) await this.page.setViewportSize({ ...size, height })
    await run()
    if (size !== null) await this.page.setViewportSize(size)
  }

  heading(name: string): Locator {
    return this.page.getByRole('heading', { name, exact: true, level: 1 })
  }

  link(name: string): Locator {
    return this.page.getByRole('link', { name, exact: true })
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true })
  }

  /** The open conversation. */
  get thread(): Locator {
    return this.page.getByRole('region', { name: 'Conversation', exact: true })
  }

  /** The message of it with these words. */
  bubble(words: string): Locator {
    return this.page.getByRole('article').filter({ hasText: words })
  }

  /** Scrolls the long list to its end again and again, until the row with this number is in the page. */
  async scrollList(rows: string, place: number): Promise<void> {
    const list = this.page.locator('.window-list')
    for (;;) {
      await list.evaluate((box: { scrollTop: number; scrollHeight: number }) => {
        box.scrollTop = box.scrollHeight
      })
      const last = await this.page.locator(rows).last().getAttribute('aria-posinset')
      if (Number(last) >= place) return
    }
  }

  /** Waits until the page says so somewhere. */
  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** The name of what has the focus. */
  focused(): Promise<string> {
    return this.page.evaluate<string>(FOCUSED)
  }

  /** Waits until the focus is on what bears the name: keys go to what has it. */
  focusOn(name: string): Promise<string> {
    return eventually(`the focus is on ${name}`, async () => {
      const now = await this.focused()
      return now === name ? now : null
    })
  }

  /**
   * Goes on by the tabulator, beyond the end to the beginning, to what bears the name. What is still to come
   * onto the page is waited for.
   */
  async tabTo(name: string): Promise<void> {
    const passed = new Set<string>()
    const onward = async () => {
      await this.page.keyboard.press('Tab')
      const now = await this.focused()
      passed.add(now)
      return now === name ? now : null
    }
    await eventually(name, onward).catch((cause: unknown) => {
      const ways = [...passed].join(', ')
      throw new Error(`No way to ${name} by keyboard, only to: ${ways}`, { cause })
    })
  }

  /** All that can be read on it. */
  text(): Promise<string> {
    return this.page.evaluate<string>('document.body.innerText')
  }

  /** Everything that is left in the browser of what it was shown, each place for itself. */
  async traces(): Promise<string> {
    const kept = await this.page.evaluate<string>(`JSON.stringify([
      location.href, history.state, { ...localStorage }, { ...sessionStorage },
      [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
    ])`)
    return `${await this.page.content()}\n${kept}`
  }

  /** By how many pixels it is wider than its window, and what sticks out. */
  async overflow(): Promise<{ readonly px: number; readonly parts: readonly string[] }> {
    const px = await this.page.evaluate<number>(
      // A telephone zooms out to show what sticks out, so that its window is no measure. Where the place of
      // a scroll bar is kept free, the page is narrower than that.
      '(({ scrollWidth, clientWidth }) => Math.max(0, scrollWidth - clientWidth))(document.documentElement)',
    )
    return { px, parts: px === 0 ? [] : await this.page.evaluate<string[]>(TOO_WIDE) }
  }

  /** The sum of the jumps so far, as Chromium scores them, and what jumped. */
  async shifts(): Promise<{ readonly sum: number; readonly parts: readonly string[] }> {
    const shifts = await this.page.evaluate<readonly Shift[]>('window.shifts')
    return {
      sum: shifts.reduce((sum, { value }) => sum + value, 0),
      parts: shifts.flatMap(({ value, places }) =>
        places.map((at) => `${at}: ${value.toFixed(3)}`),
      ),
    }
  }

  /** Controls that are too small for a finger, on a page that is touched. */
  smallTargets(): Promise<string[]> {
    return this.page.evaluate<string[]>(SMALL_TARGETS)
  }

  /** What axe-core finds wrong, or only which words are too pale. */
  async accessibilityFaults(of: keyof typeof AXE): Promise<string[]> {
    const isThere = await this.page.evaluate<boolean>('"axe" in window')
    // Not as a script of the page, which its policy forbids.
    if (!isThere) await this.page.evaluate(axe.source)
    await this.page.evaluate(STANDS_STILL)
    const violations = await this.page.evaluate<readonly AxeViolation[]>(
      `${AXE[of]}.then(({ violations }) => violations)`,
    )
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    )
  }

  #isForeign(url: string): boolean {
    if (url.startsWith('data:') || url.startsWith('blob:')) return false
    return (
      this.page.url() !== 'about:blank' && new URL(url).origin !== new URL(this.page.url()).origin
    )
  }
}
