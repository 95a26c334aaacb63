// A key's life on the dashboard, and that no secret is left anywhere after it was shown.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'

import { story } from './browser.ts'
import { PASSWORD, Stage } from './stage.ts'

story(
  'a key is shown once and is nowhere in the browser, works, is revoked and refused',
  async () => {
    await using stage = await Stage.open()
    const watched = await stage.page()
    const { page } = watched
    await watched.show('keys')

    await watched.button('New key').first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Booking system')
    await watched.button('Create key').click()
    const key = await page.getByLabel('Key', { exact: true }).innerText()
    const secret = await page.getByLabel('Secret', { exact: true }).innerText()
    const command = await page.getByLabel('Command', { exact: true }).innerText()
    await watched.button('Done').click()
    await watched.reads(key.slice(0, 12))
    const traces = await watched.traces()
    const statusBefore = await callWith(stage, key, secret)
    await watched.button('Revoke Booking system').click()
    await page.getByRole('textbox', { name: 'Key name' }).fill('Booking system')
    await watched.button('Revoke').click()
    await watched.reads('Revoked keys (1)')
    const statusAfter = await callWith(stage, key, secret)

    expect([key.startsWith('hl_live_'), secret.startsWith('hl_secret_')]).toEqual([true, true])
    expect([command.includes(key), command.includes(secret)]).toEqual([true, true])
    expect([traces.includes(key), traces.includes(secret)]).toEqual([false, false])
    expect([statusBefore, statusAfter]).toEqual([200, 401])
    expect(watched.faults).toEqual([])
  },
)

story('an hour after the sign-in the password is asked for, and then the key is made', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page()
  await watched.show('keys')
  await stage.stopRelay()
  forgetPasswords(stage.dataDir)
  await stage.startRelay()

  await watched.show('keys')
  await watched.button('New key').first().click()
  await watched.button('Create key').click()
  const question = watched.page.getByRole('dialog', { name: 'Confirm your password' })
  await question.getByLabel('Password').fill(PASSWORD)
  await question.getByRole('button', { name: 'Continue', exact: true }).click()
  const secret = await watched.page.getByLabel('Secret', { exact: true }).innerText()

  expect(secret.startsWith('hl_secret_')).toBe(true)
})

story('a key is limited by a sentence of choices, and the list shows the sentence', async () => {
  await using stage = await Stage.open()
  const watched = await stage.page()
  const { page } = watched
  await watched.show('keys')

  await watched.button('New key').first().click()
  await page.getByRole('textbox', { name: 'Name' }).fill('Assistant')
  const proposed = await page.getByLabel('What it may do').inputValue()
  const line = await page.getByLabel('Lines', { exact: true }).inputValue()
  await page.getByLabel('Recipients').selectOption('list')
  await page.getByRole('textbox', { name: 'Numbers and email addresses' }).fill('+12025550123')
  await page.getByLabel('Messages an hour').selectOption('10')
  await watched.button('Create key').click()
  const key = await page.getByLabel('Key', { exact: true }).innerText()
  const secret = await page.getByLabel('Secret', { exact: true }).innerText()
  await watched.button('Done').click()
  await watched.reads('to certain people only, at most 10 messages an hour')
  const headers = { 'X-API-Key': key, 'X-API-Secret': secret, 'Content-Type': 'application/json' }
  const send = async (to: string) => {
    const body = JSON.stringify({ to, text: 'Hello' })
    const path = `${stage.url}/api/v1/messages/send`
    return (await fetch(path, { method: 'POST', headers, body })).status
  }

  expect([proposed, line.startsWith('line_')]).toEqual(['both', true])
  expect([await send('+12025550177'), (await send('+12025550123')) < 300]).toEqual([403, true])
  expect(watched.faults).toEqual([])
})

/** What an hour does: no session counts as having given the password just now. */
function forgetPasswords(dataDir: string): void {
  using database = new Database(join(dataDir, 'hookline.db'))
  database.run('UPDATE dashboard_sessions SET elevated_until = 0')
}

async function callWith(stage: Stage, key: string, secret: string): Promise<number> {
  const headers = { 'X-API-Key': key, 'X-API-Secret': secret }
  const { status } = await fetch(`${stage.url}/api/v1/phone-lines`, { headers })
  return status
}
