// Alerts in the settings: where they go, what raises one, and what became of the last ones.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../support/eventually.ts'
import { visit } from './places.ts'
import { FIRST_LINE, PERSON, SHOWN_PERSON } from './stage.ts'
import { story, storyOn } from './story.ts'

type Channels = {
  readonly data: readonly { readonly kind: string; readonly quiet_hours: object | null }[]
}

story('the owner adds a text and a POST, tests both, and removes one', async ({ stage, api }) => {
  const bodies: unknown[] = []
  using ntfy = Bun.serve({
    port: 0,
    fetch: async (request) => {
      bodies.push(await request.json())
      return new Response('{}')
    },
  })
  const watched = await stage.page()
  const { page } = watched
  const dialog = page.getByRole('dialog')
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  const channels = async () => (await api.ask<Channels>('GET', '/api/v1/alerts/channels')).data

  // A refusal is shown beside its field.
  stage.excuse(/status of 400/)
  await watched.show('settings/alerts')
  await watched.reads('Nobody is called yet.')
  await watched.button('Add a text').click()
  await dialog.getByLabel('Phone number').fill(FIRST_LINE)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await watched.reads("the relay's own lines")
  await dialog.getByLabel('Phone number').fill(PERSON)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await row(SHOWN_PERSON)
    .getByRole('button', { name: /^Send a test/ })
    .click()
  await row(SHOWN_PERSON).getByText('Test: sent.').waitFor()
  await watched.button('Add a POST').click()
  await dialog.getByLabel('URL').fill(`http://127.0.0.1:${ntfy.port}/my-topic`)
  await dialog.getByLabel('Name').fill('ntfy')
  await dialog.getByLabel('Format').waitFor()
  await dialog.getByLabel('Quiet from').fill('22:00')
  await watched.reads('Enter both times, or none.')
  const isBarred = await dialog.getByRole('button', { name: 'Add' }).isDisabled()
  await dialog.getByLabel('Quiet until').fill('07:00')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await row('ntfy').getByText('POST to ntfy, quiet from 22:00 to 07:00').waitFor()
  await row('ntfy')
    .getByRole('button', { name: /^Send a test/ })
    .click()
  await row('ntfy').getByText('Test: sent.').waitFor()
  const both = await channels()
  await row(SHOWN_PERSON).getByRole('button', { name: 'Remove…' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await row(SHOWN_PERSON).waitFor({ state: 'detached' })

  expect(isBarred).toBe(true)
  expect(both).toMatchObject([
    { kind: 'text' },
    { kind: 'post', quiet_hours: { from: '22:00', to: '07:00' } },
  ])
  expect(bodies).toMatchObject([{ topic: 'my-topic', title: 'Hookline: test' }])
  expect(await channels()).toMatchObject([{ kind: 'post' }])
})

story(
  'a rule is changed for a line, and the heartbeat stops for causes',
  async ({ stage, api, lines: [line] }) => {
    const watched = await stage.page()
    const { page } = watched
    const dialog = page.getByRole('dialog')

    stage.excuse(/status of 400/)
    await watched.show('settings/alerts')
    await page.getByRole('button', { name: 'Change… A phone line cannot send.' }).click()
    await dialog.getByLabel('Minutes until it alerts you').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await watched.reads('Enter a whole number from 1 to 10,080.')
    await dialog.getByLabel('Minutes until it alerts you').fill('20')
    await dialog.getByLabel('+1 202 555 0101').check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await watched.reads('After 20 minutes, on certain lines only.')
    await page.getByRole('switch', { name: 'The daily backup fails.' }).click()
    await eventually('the switch is off', async () => {
      const isOn = await page.getByRole('switch', { name: 'The daily backup fails.' }).isChecked()
      return isOn ? null : true
    })
    await page.getByText('Let the heartbeat stop, too').click()
    await page.getByRole('checkbox', { name: 'A phone line cannot send.', exact: true }).check()
    await watched.reads('Saved.')
    const rules = await api.ask<{ data: readonly object[] }>('GET', '/api/v1/alerts/rules')

    expect(rules.data).toContainEqual({
      cause: 'line_off',
      after_minutes: 20,
      phone_line_ids: [line],
      site_ids: null,
      is_enabled: true,
    })
    expect(rules.data).toContainEqual({
      cause: 'backup',
      after_minutes: 10,
      phone_line_ids: null,
      site_ids: null,
      is_enabled: false,
    })
  },
)

storyOn(
  { prepare: lineOffLastNight },
  'the last alerts say how long each lasted, and what became of its notices',
  async (stage) => {
    const watched = await stage.page()

    await watched.show('settings/alerts')
    await watched.reads('The line Front desk is offline')
    await watched.reads(/failed: the URL answered 404/)
    const text = await watched.text()

    expect(text).toMatch(/, lasted 9 minutes\s+ntfy: failed: the URL answered 404\./)
  },
)

storyOn(
  { lines: 1 },
  'with one line, set-up asks for a second channel, and offers the heartbeat',
  async (stage) => {
    const watched = await stage.page()
    const { page } = watched
    const dialog = page.getByRole('dialog')
    const second = page.getByText('With one line, no text can say that it is off.')

    await watched.show('home')
    await visit(watched, { name: 'set-up', hash: 'setup', step: 'alerts', press: [] })
    await watched.heading('Who is called at night?').waitFor()
    const before = [await second.count(), await watched.field('Heartbeat URL').count()]
    await watched.button('Add a text').click()
    await dialog.getByLabel('Phone number').fill(PERSON)
    await dialog.getByRole('button', { name: 'Add' }).click()
    await second.waitFor()
    await watched.field('Heartbeat URL').waitFor()
    await watched.button('Add a POST').click()
    await dialog.getByLabel('URL').fill('https://ntfy.example.com/a-topic')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await second.waitFor({ state: 'detached' })
    await watched.button('Continue').click()
    await watched.heading('Create an API key').waitFor()

    expect(before).toEqual([0, 0])
  },
)

/** An alert that is over, and a notice that ntfy refused. */
async function lineOffLastNight(dataDir: string): Promise<void> {
  using db = new Database(join(dataDir, 'hookline.db'))
  const now = Date.now()
  db.run(
    `INSERT INTO alert_channels (id, kind, name, shown_url, form, created_at)
     VALUES ('chan_1', 'post', 'ntfy', 'https://ntfy.example.com', 'ntfy', ?)`,
    [now],
  )
  db.run(
    `INSERT INTO alerts (id, cause, about_kind, about_id, title, since, raised_at, resolved_at, lasted_ms)
     VALUES ('alert_1', 'line_off', 'line', 'line_1', 'The line Front desk is offline', ?, ?, ?, 540000)`,
    [now - 900_000, now - 600_000, now - 360_000],
  )
  db.run(
    `INSERT INTO alert_notices
       (id, channel_id, kind, raised, resolved, status, error, created_at, ended_at)
     VALUES ('ntc_1', 'chan_1', 'raised', '["alert_1"]', '[]', 'failed', 'http_404', ?, ?)`,
    [now - 600_000, now - 599_000],
  )
}
