// Files in conversations: attached by hand, arriving, opened and saved.

import { expect } from 'bun:test'

import { FRIEND, messageWith, PICTURE, play } from './rich.ts'
import { openThread, story } from './story.ts'
import type { WatchedPage } from './watched-page.ts'

const NOTE = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Table four.') }

story('files are attached by button, drop and paste, and sent with the text', async (scene) => {
  const { watched, thread } = await openThread(scene)
  const files = thread.getByRole('list', { name: 'Attachments' }).getByRole('listitem')

  await thread.locator('input[type=file]').setInputFiles([NOTE])
  await give(watched, 'drop', '.messages', { name: 'plan.png', type: 'image/png' })
  await give(watched, 'paste', 'textarea', { name: 'image.png', type: 'image/png' })
  await files.nth(2).waitFor()
  await files.locator('img').nth(1).waitFor()
  const drafts = await files.locator('img').count()
  await thread.getByRole('textbox').fill('The plan, and a note.')
  await watched.button('Send').click()
  const own = watched.bubble('The plan, and a note.')
  await own.getByText('Read', { exact: true }).waitFor()
  const words = await own.innerText()

  expect(drafts).toBe(2)
  expect(words).toContain('note.txt')
  expect(await own.getByRole('button', { name: /^Open / }).count()).toBe(2)
  expect(await files.count()).toBe(0)
  expect(await thread.getByRole('textbox').inputValue()).toBe('')
})

story('ten files are taken at most, and go without a word, but for one removed', async (scene) => {
  const { watched, thread } = await openThread(scene)
  const many = Array.from({ length: 12 }, (_, index) => ({ ...NOTE, name: `note-${index}.txt` }))

  await thread.locator('input[type=file]').setInputFiles(many)
  await watched.reads('A message can have 10 attachments at most.')
  const taken = await thread.getByRole('button', { name: /^Remove note/ }).count()
  await watched.button('Remove note-9.txt').click()
  await watched.button('Send').click()
  const own = watched.bubble('note-8.txt')
  await own.getByText('Read', { exact: true }).waitFor()

  expect(taken).toBe(10)
  expect(await thread.getByText('note-9.txt').count()).toBe(0)
})

story('a picture arrives while the conversation is open, and is opened large', async (scene) => {
  const { watched } = await openThread(scene, { to: FRIEND })

  const photo = { filename: 'table plan.png', content_base64: PICTURE }
  const event = { type: 'message', from: FRIEND, attachments: [photo] }
  await play(scene.api, scene.lines[0], event)
  const small = watched.page.getByRole('button', { name: 'Open table plan.png' })
  await small.getByRole('img').waitFor()
  await small.click()
  const dialog = watched.page.getByRole('dialog', { name: 'table plan.png' })
  await dialog.getByRole('img', { name: 'table plan.png' }).waitFor()
  const width = await watched.page.evaluate("document.querySelector('dialog img').naturalWidth")
  const saved = watched.page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  const name = (await saved).suggestedFilename()
  await watched.page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  expect(width).toBeGreaterThan(512)
  expect(name).toBe('table plan.png')
  expect(await watched.focused()).toBe('Open table plan.png')
})

const SCRIPT = '<script>window.isHurt = true</script>'
const NAME = '<img src=x onerror="window.isHurt=true">\u202Egpj.html'

story(
  'what could run in a page is a card to save, and its name stays a text',
  async ({ stage, api, lines: [line] }) => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`
    const files = [
      { filename: NAME, content_base64: btoa(`<!doctype html>${SCRIPT}`) },
      { filename: 'drawing.svg', content_base64: btoa(svg) },
      { filename: 'photo.png', content_base64: btoa(`<html>${SCRIPT}</html>`) },
    ]
    await play(api, line, { type: 'message', from: FRIEND, text: 'Open!', attachments: files })
    const { conversation_id } = await messageWith(api, 'Open!')
    const watched = await stage.page()
    await watched.show(`conversations/${conversation_id}`)
    const bubble = watched.page.getByRole('article')
    await bubble.getByRole('button', { name: 'Download' }).nth(2).waitFor()

    expect(await bubble.getByRole('button', { name: /^Open/ }).count()).toBe(0)
    expect(await bubble.innerText()).toContain('<img src=x onerror=')
    expect(await bubble.innerText()).not.toContain('\u202E')
    expect(await watched.page.evaluate('["isHurt" in window, document.images.length]')).toEqual([
      false,
      0,
    ])
  },
)

/** Drops or pastes a picture onto an element, as a browser does. */
async function give(
  { page }: WatchedPage,
  by: 'drop' | 'paste',
  selector: string,
  { name, type }: { readonly name: string; readonly type: string },
): Promise<void> {
  await page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(PICTURE)}), (c) => c.charCodeAt(0))
    const carried = new DataTransfer()
    carried.items.add(new File([bytes], ${JSON.stringify(name)}, { type: ${JSON.stringify(type)} }))
    const event = ${JSON.stringify(by)} === 'drop'
      ? new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true })
      : new ClipboardEvent('paste', { clipboardData: carried, bubbles: true, cancelable: true })
    document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event)
  })()`)
}
