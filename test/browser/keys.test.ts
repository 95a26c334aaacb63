// A key's life on the dashboard, and that no secret is left anywhere after it was shown.

import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { join } from 'node:path'

import { say } from './furnished.ts'
import { PASSWORD } from './signed-in.ts'
import { PERSON, SHOWN_PERSON } from './stage.ts'
import { story } from './story.ts'

story(
  'a key with limits is shown once, keeps to them, is revoked and refused',
  async ({ stage, lines: [line] }) => {
    const watched = await stage.page()
    const { page } = watched
    await watched.show('keys')

    await watched.button('New key').first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Booking system')
    const proposed = await page.getByLabel('What it may do').inputValue()
    const proposedLine = await watched.field('Lines').inputValue()
    await page.getByLabel('Recipients').selectOption('list')
    await page.getByRole('textbox', { name: 'Numbers and email addresses' }).fill('+12025550123')
    await page.getByLabel('Messages an hour').selectOption('10')
    await watched.button('Create key').click()
    const key = await watched.field('Key').innerText()
    const secret = await watched.field('Secret').innerText()
    const command = await watched.field('Command').innerText()
    await watched.button('Done').click()
    await watched.reads(key.slice(0, 12))
    await watched.reads('to certain people only, at most 10 messages an hour')
    const traces = await watched.traces()
    const headers = { 'X-API-Key': key, 'X-API-Secret': secret, 'Content-Type': 'application/json' }
    const send = async (to: string) => {
      const body = JSON.stringify({ to, text: 'Hello' })
      return (await fetch(`${stage.url}/api/v1/messages/send`, { method: 'POST', headers, body }))
        .status
    }
    const statuses = [await send('+12025550177'), await send('+12025550123')]
    await watched.button('Revoke Booking system').click()
    await page.getByRole('textbox', { name: 'Key name' }).fill('Booking system')
    await watched.button('Revoke').click()
    await watched.reads('Revoked keys (1)')
    statuses.push(await send('+12025550123'))

    expect([proposed, proposedLine]).toEqual(['both', line])
    expect([key.startsWith('hl_live_'), secret.startsWith('hl_secret_')]).toEqual([true, true])
    expect([command.includes(key), command.includes(secret)]).toEqual([true, true])
    expect([traces.includes(key), traces.includes(secret)]).toEqual([false, false])
    expect(statuses).toEqual([403, 200, 401])
  },
)

story(
  'an hour after the sign-in the password is asked for, and then the key is made',
  async ({ stage }) => {
    const watched = await stage.page()
    await stage.stopRelay()
    forgetPasswords(stage.dataDir)
    await stage.startRelay()
    stage.excuse(/status of 403/)

    await watched.show('keys')
    await watched.button('New key').first().click()
    await watched.button('Create key').click()
    const question = watched.page.getByRole('dialog', { name: 'Confirm your password' })
    await question.getByLabel('Password').fill(PASSWORD)
    await question.getByRole('button', { name: 'Continue', exact: true }).click()
    const secret = await watched.field('Secret').innerText()

    expect(secret.startsWith('hl_secret_')).toBe(true)
  },
)

story(
  'a key of one conversation is rotated and duplicated, and each new key may do the same',
  async ({ stage, api, lines: [line] }) => {
    const { conversation_id: id } = await say(api, PERSON, 'Your table is ready.', line)
    const watched = await stage.page()
    const { page } = watched
    const shownKey = async () => {
      const text = [
        await watched.field('Key').innerText(),
        await watched.field('Secret').innerText(),
      ]
      await watched.button('Done').click()
      return text
    }
    const self = async ([key = '', secret = '']: readonly string[]) => {
      const headers = { 'X-API-Key': key, 'X-API-Secret': secret }
      const answer = await fetch(`${stage.url}/api/v1/keys/self`, { headers })
      const { name, conversation_ids, rules } = (await answer.json()) as Record<string, unknown>
      return { status: answer.status, name, conversation_ids, hour: Object(rules).sends_per_hour }
    }

    await watched.show('keys')
    await watched.button('New key').first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Agent')
    await watched.field('Conversations').selectOption(id)
    await watched.field('Messages an hour').selectOption('30')
    await watched.keepPicture('key-form')
    await watched.button('Create key').click()
    await watched.reads(`/api/v1/conversations/${id}/messages`)
    const first = await shownKey()
    await watched.reads(`in the conversation with ${SHOWN_PERSON}`)
    await watched.button('Rotate Agent').click()
    await watched.field('The old key goes on working').selectOption('0')
    await watched.keepPicture('key-rotate')
    await watched.button('Rotate').click()
    await watched.reads('The old key works until')
    const second = await shownKey()
    await watched.button('Duplicate Agent').last().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Agent two')
    await watched.keepPicture('key-duplicate')
    await watched.button('Create key').click()
    const third = await shownKey()
    await watched.reads('Agent two')
    const faults = [
      ...(await watched.overflow()).parts,
      ...(await watched.accessibilityFaults('all')),
    ]

    const limits = { conversation_ids: [id], hour: 30 }
    expect(faults).toEqual([])
    expect((await self(first)).status).toBe(401)
    expect(await self(second)).toEqual({ status: 200, name: 'Agent', ...limits })
    expect(await self(third)).toEqual({ status: 200, name: 'Agent two', ...limits })
  },
)

story(
  'what a revoked key left behind is listed, and ends when the owner says so',
  async ({ stage, api }) => {
    const made = await api.ask<{ id: string; key: string; secret: string }>(
      'POST',
      '/api/v1/keys',
      {
        name: 'Agency',
      },
    )
    const headers = {
      'X-API-Key': made.key,
      'X-API-Secret': made.secret,
      'Content-Type': 'application/json',
    }
    const url = 'https://agency.example/hook'
    const body = JSON.stringify({ url, events: ['message.received'] })
    await fetch(`${stage.url}/api/v1/webhooks`, { method: 'POST', headers, body })
    const watched = await stage.page()
    await watched.show('keys')

    await watched.button('Revoke Agency').click()
    await watched.page.getByRole('textbox', { name: 'Key name' }).fill('Agency')
    await watched.button('Revoke').click()
    await watched.reads(url)
    await watched.keepPicture('key-left-behind')
    await watched.button('End all of it').click()
    await watched.reads('All of it has ended.')
    const { data } = await api.ask<{ data: object[] }>('GET', '/api/v1/webhooks')

    expect(data).toEqual([])
  },
)

/** What an hour does: no session counts as having given the password just now. */
function forgetPasswords(dataDir: string): void {
  using database = new Database(join(dataDir, 'hookline.db'))
  database.run('UPDATE dashboard_sessions SET elevated_until = 0')
}
