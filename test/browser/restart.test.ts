// A page whose relay goes away: for a restart, and for good with all that it knew since a download.

import { expect } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { lineIds, say } from './furnished.ts'
import { PASSWORD } from './signed-in.ts'
import { OUTAGE, PERSON } from './stage.ts'
import { openThread, story } from './story.ts'

story('a page outlives a restart: it says what is lost, and is live again', async (scene) => {
  const { stage, api } = scene
  const { watched, page } = await openThread(scene)
  const trouble = page.getByText('Connection to the relay lost')
  await page.evaluate('window.isNeverReloaded = true')

  stage.excuse(OUTAGE)
  await stage.stopRelay()
  await trouble.waitFor()
  await stage.startRelay()
  await trouble.waitFor({ state: 'detached' })
  const [line] = await lineIds(api)
  await say(api, PERSON, 'It is by the door.', line)
  await watched.bubble('It is by the door.').waitFor()

  expect(await page.evaluate<boolean>('window.isNeverReloaded')).toBe(true)
})

story(
  'all is downloaded, and restored by the page, which then asks to sign in again',
  async ({ stage, api, lines: [line] }) => {
    using folder = new ScratchFolder()
    await say(api, PERSON, 'Before the download.', line)
    const watched = await stage.page()
    const { page } = watched
    await watched.show('settings/move')
    const file = folder.file('everything.tar')

    const downloading = page.waitForEvent('download')
    await watched.button('Download everything').click()
    await (await downloading).saveAs(file)
    await say(api, PERSON, 'After the download.', line)
    await page.locator('input[type=file]').setInputFiles(file)
    const found = page.getByRole('dialog', { name: 'Restore this backup?' })
    await found.getByText('1 message').waitFor()
    stage.excuse(OUTAGE)
    stage.excuse(/status of 401/)
    await found.getByRole('button', { name: 'Restore' }).click()
    await watched.heading('Sign in').waitFor()
    await page.getByText('Backup restored.').last().waitFor()
    await watched.field('Password').fill(PASSWORD)
    await watched.button('Sign in').click()
    await watched.show('activity')
    await watched.reads('Backup everything.tar restored')

    const { data } = await api.ask<{ data: { text: string }[] }>('GET', '/api/v1/messages')
    expect(data.map(({ text }) => text)).toEqual(['Before the download.'])
  },
)
