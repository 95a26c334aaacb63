// Other machines of the relay in the dashboard: added, seen, renamed, given a line, removed.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { builtExecutable, cleanEnvironment, hookline } from '../support/executable.ts'
import { NATS_SERVER } from '../support/nats-server.ts'
import { freePort } from '../support/nats.ts'
import { temporaryDataDir } from '../support/relay-process.ts'
import { OUTAGE } from './stage.ts'
import { storyOn } from './story.ts'

const ON_BOX = '+1 202 555 0101'

if (NATS_SERVER !== null) {
  const options = `HOOKLINE_NATS_SERVER=${NATS_SERVER}\nHOOKLINE_BROKER_PORT=${await freePort()}\n`
  const prepare = async (dataDir: string) => writeFileSync(join(dataDir, 'hookline.env'), options)

  storyOn(
    { lines: 0, prepare },
    'a box is added, its line is moved, and it goes',
    async (stage) => {
      using boxDir = temporaryDataDir()
      const watched = await stage.page()
      const { page } = watched
      const dialog = page.getByRole('dialog')

      await page.goto('/#/lines')
      await page.getByRole('link', { name: 'Boxes' }).click()
      await watched.button('Add a box').click()
      await page.getByLabel('Name', { exact: true }).fill('studio-3')
      await watched.button('Create invitation').click()
      await watched.reads('Waiting for studio-3…')
      const command = await page.getByLabel('Command', { exact: true }).innerText()
      const [, , token = ''] = command.split(' ')
      await hookline(['join', token, '--no-service', '--data-dir', boxDir.path])
      const box = Bun.spawn([builtExecutable(), 'box', '--data-dir', boxDir.path], {
        env: cleanEnvironment({ HOOKLINE_SIMULATED_LINES: '1' }),
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await watched.reads('studio-3 has joined.')
      await watched.button('Done').click()

      await page.getByRole('link', { name: ON_BOX }).click()
      await page.getByRole('heading', { name: 'Machine' }).waitFor()
      await watched.button('Move line…').click()
      await watched.button('Start the move').click()
      await watched.reads("This line is moving to the relay's own machine")
      await watched.button('Cancel the move').click()
      await watched.button('Move line…').waitFor()

      await page.goto('/#/boxes')
      await watched.button('Rename…').click()
      await page.getByLabel('Name', { exact: true }).fill('attic')
      await watched.button('Save').click()
      await page.getByRole('heading', { name: 'attic' }).waitFor()
      await watched.button('Remove…').click()
      await dialog.getByRole('button', { name: 'Remove' }).click()
      await watched.reads('No box yet')
      box.kill('SIGKILL')
      await box.exited
      // Killed, it would leave its broker behind.
      stage.excuse(OUTAGE)
      await stage.stopRelay()
    },
  )
}
