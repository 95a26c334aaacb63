// The manual as its reader has it: search, outline, copying, and every guide on a phone and by night.

import { expect } from 'bun:test'

import { GUIDES } from '../../src/guides/guides.ts'
import { eventually } from '../support/eventually.ts'
import { COMPUTER, PHONE, TABLET, TOUCH } from './stage.ts'
import { story } from './story.ts'

const SEARCH = 'Search the manual'
/** Together they have all that a guide has: tables, lists, code, and headings of two levels. */
const WITH_ALL_FORMS = ['api', 'mac', 'command-line']
const BROKEN_TABLES = `[...document.querySelectorAll('table')].flatMap((table) => [
  ...(table.scrollWidth > table.parentElement.clientWidth ? [table.scrollWidth + ' px wide'] : []),
  ...[...table.querySelectorAll('td:first-child code')]
    .filter((code) => /^\\w+$/.test(code.textContent) && code.getClientRects().length > 1)
    .map((code) => code.textContent),
])`

story(
  'a word finds a section of any guide, by keyboard, and Enter opens it there',
  async (scene) => {
    const watched = await scene.stage.strangersPage({ viewport: COMPUTER })
    const { page } = watched
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto('/guide/mac')
    const askedBefore = asked.includes('/guide/search.json')

    await page.keyboard.press('/')
    await page.keyboard.type('QUÍET höurs')
    const first = page.getByRole('option').first()
    await first.waitFor()
    const words = await first.innerText()
    const marks = await first.locator('mark').allInnerTexts()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/guide/sending-rules#quiet-hours')

    expect([askedBefore, asked.includes('/guide/search.json')]).toEqual([false, true])
    expect(words).toStartWith('Quiet hours\nSend later, approve, keep quiet\n')
    expect(marks.map((mark) => mark.toLowerCase())).toContain('quiet')
  },
)

story('a search without a result says so, and operations are found as well', async (scene) => {
  const watched = await scene.stage.strangersPage({ viewport: COMPUTER })
  await watched.page.goto('/guide')
  const field = watched.field(SEARCH)

  await field.fill('xyzzy')
  await watched.reads('Nothing found for “xyzzy”')
  await field.fill('rotate a key')
  await watched.page.getByRole('option', { name: 'Rotate a key API' }).click()
  await watched.page.waitForURL('**/swagger#/Keys/rotateKey')
  await watched.page.locator('#operations-Keys-rotateKey .execute').waitFor()
})

story('the outline marks the section that is read', async (scene) => {
  const { page } = await scene.stage.strangersPage({ viewport: COMPUTER })
  await page.goto('/guide/api')
  const marked = page.locator('.outline [aria-current]')
  const before = await marked.count()

  const reach = async (name: string) => {
    await page.getByRole('heading', { name }).evaluate((heading) => {
      heading.scrollIntoView({ behavior: 'instant' })
    })
    await eventually(`${name} is marked`, async () => {
      return (await marked.allInnerTexts()).join() === name ? true : null
    })
  }
  await reach('What becomes of a message')
  await reach('Lists')

  expect(before).toBe(0)
})

story(
  'a guide opens at its beginning, with its name in view among the contents, and its picture',
  async (scene) => {
    const { page } = await scene.stage.strangersPage({ viewport: COMPUTER })
    await page.goto('/guide/design')
    await page.waitForLoadState('networkidle')
    const scrolled = await page.evaluate('scrollY')
    const current = page.locator('.manual-contents [aria-current]')
    const place = await current.boundingBox()
    const widths = await page.evaluate(
      "[...document.querySelectorAll('.prose img')].map((image) => image.naturalWidth)",
    )

    expect(scrolled).toBe(0)
    expect(place?.y).toBeGreaterThan(0)
    expect(place?.y).toBeLessThan(COMPUTER.height)
    expect(widths).toEqual([720])
  },
)

story('code and the address of a section are copied, over plain HTTP as well', async (scene) => {
  const watched = await scene.stage.strangersPage({
    viewport: COMPUTER,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const { page } = watched
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await page.goto('/guide/clients')
  const shown = await page.locator('.code code').first().textContent()

  await page.locator('.code').first().hover()
  await page.locator('.code button').first().click()
  await watched.reads('Copied')
  const code = await copied()
  await page.evaluate('Object.defineProperty(window, "isSecureContext", { value: false })')
  await page.locator('.prose h2 a').first().click()
  await page.locator('[data-copied]').waitFor()

  expect(code).toBe(shown ?? '')
  expect(await copied()).toBe(`${scene.stage.url}/guide/clients#send-a-message-once`)
})

story(
  'a table is no wider than its text, and breaks no code in its first column',
  async (scene) => {
    const { page } = await scene.stage.strangersPage({ viewport: TABLET })
    const faults: string[] = []
    for (const { name } of GUIDES) {
      await page.goto(`/guide/${name}`)
      faults.push(
        ...(await page.evaluate<string[]>(BROKEN_TABLES)).map((fault) => `${name}: ${fault}`),
      )
    }

    expect(faults).toEqual([])
  },
)

story('every guide fits a phone, and everybody can read it, by day and by night', async (scene) => {
  const phone = await scene.stage.strangersPage({ viewport: PHONE, ...TOUCH })
  const night = await scene.stage.strangersPage({ viewport: COMPUTER, colorScheme: 'dark' })
  const faults: string[] = []
  for (const { name } of GUIDES) {
    await phone.page.goto(`/guide/${name}`)
    const { px, parts } = await phone.overflow()
    if (px > 0) faults.push(`${name}: ${px} px too wide: ${parts.join(', ')}`)
  }
  for (const name of WITH_ALL_FORMS) {
    await night.page.goto(`/guide/${name}`)
    faults.push(...(await night.accessibilityFaults('all')))
    await phone.page.goto(`/guide/${name}`)
    faults.push(...(await phone.accessibilityFaults('all')), ...(await phone.smallTargets()))
  }

  await phone.page.getByText('Contents', { exact: true }).click()
  await phone.link('Security').click()
  await phone.heading('Security').waitFor()

  expect(faults).toEqual([])
})
