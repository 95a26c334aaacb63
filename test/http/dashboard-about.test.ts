// What the settings page shows of the relay, and of the browsers that are signed in.

import { expect, test } from 'bun:test'

import type { KindInfo } from '../../src/api/dashboard.ts'
import { COMPAT_APIS } from '../../src/compat/apis.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startDashboard } from './dashboard-rig.ts'

const ABOUT = '/dashboard/about'
const SESSIONS = '/dashboard/sessions'
const HOUR = 3_600_000

function kind(name: string, title: string, others: Partial<KindInfo> = {}): KindInfo {
  const needs = {
    needs_permissions: false,
    deletable_reason: null,
    trial_command: null,
    practice_numbers: null,
  }
  return { name, title, start: expect.anything(), is_real: true, ...needs, ...others }
}

test('the relay reports what it is and what it was started with', async () => {
  await using relay = await startDashboard({
    drivers: [new ScriptedDriver()],
    environment: {
      HOOKLINE_PUBLIC_URL: 'https://relay.example.com',
      HOOKLINE_TRUSTED_PROXIES: '10.0.0.1,10.1.0.0/16',
      HOOKLINE_BACKUP_FOLDER: '/backups',
    },
  })
  const browser = await relay.claim()

  const { body } = await browser.get(ABOUT)

  expect(body).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    data_directory: '/dev/null/nowhere',
    address: 'http://localhost',
    public_url: 'https://relay.example.com',
    trusted_proxies: ['10.0.0.1', '10.1.0.0/16'],
    backup_folder: '/backups',
    formats: COMPAT_APIS.flatMap(({ name, webhook }) =>
      webhook === null ? [] : [{ name, about: webhook.about, events: webhook.events }],
    ),
    is_password_locked: false,
    drivers: ['mac', 'shortcuts'],
    kinds: [
      kind('mac', 'Messages on this Mac', { needs_permissions: true }),
      kind('iphone', 'iPhone'),
      kind('shortcuts', 'iPhone via Shortcuts', { deletable_reason: 'device_absent' }),
      kind('simulated', 'Simulated: nothing leaves this machine', {
        is_real: false,
        deletable_reason: 'not_configured',
        trial_command: 'hookline serve --simulated-lines 2',
        practice_numbers: { reader: '+12025550123', echo: '+12025550196' },
      }),
    ],
  })
})

test('every browser that is signed in is listed, the one seen last first', async () => {
  await using relay = await startDashboard()
  const first = await relay.claim()
  relay.clock.doze(HOUR)
  const second = await relay.logIn()
  relay.clock.doze(HOUR)
  await first.get(ABOUT)

  const listed = await second.get(SESSIONS)
  await first.delete('/dashboard/session')
  const left = await second.get(SESSIONS)

  const id = expect.stringMatching(/^ses_[0-9a-f]{8}$/)
  const own = {
    id,
    created_at: '2026-11-21T11:00:00.000Z',
    last_seen_at: '2026-11-21T12:00:00.000Z',
    is_current: true,
  }
  expect(listed.body.data).toEqual([
    own,
    {
      id,
      created_at: '2026-11-21T10:00:00.000Z',
      last_seen_at: '2026-11-21T12:00:00.000Z',
      is_current: false,
    },
  ])
  expect(left.body.data).toEqual([own])
})
