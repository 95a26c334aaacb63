import { expect } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { story } from './browser.ts'
import { lineIds, say } from './furnished.ts'
import { PASSWORD, PERSON, Stage } from './stage.ts'

story(
  'everything is downloaded, and restored by the page, which waits and asks to sign in again',
  async () => {
    using folder = new ScratchFolder()
    await using stage = await Stage.open()
    const api = await stage.api()
    const [first] = await lineIds(api)
    await say(api, PERSON, 'Before the download.', first)
    const { page } = await stage.page()
    await page.goto(`${stage.url}/#/settings/move`)
    const file = folder.file('everything.tar')

    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download everything' }).click()
    await (await downloading).saveAs(file)
    await say(api, PERSON, 'After the download.', first)
    await page.locator('input[type=file]').setInputFiles(file)
    const found = page.getByRole('dialog', { name: 'Restore this backup?' })
    await found.getByText('1 message').waitFor()
    await found.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByText('Backup restored.').last().waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.goto(`${stage.url}/#/activity`)
    await page.getByText('Backup everything.tar restored').waitFor()

    const { data } = await api.ask<{ data: { text: string }[] }>('GET', '/api/v1/messages')
    expect(data.map(({ text }) => text)).toEqual(['Before the download.'])
  },
)
