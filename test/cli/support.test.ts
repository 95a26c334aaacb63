// The file for support: what it has, and that nothing planted in any place of the relay gets into it.

import { expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'

import { HostingRig } from './hosting-rig.ts'

const PLANTED = [
  'whsec_C2FVsBQIhrscChlQIMV',
  'hl_secret_nisJiAlgQ9J',
  '+12025550147',
  '2025550147',
  'anna@example.com',
  'see you at noon',
  'sandwich',
  'Front desk',
  'shop.example.com',
  '/home/ann',
]
const ALL = PLANTED.join(' ')
const ID = 'line_01k5c3qv7yfxn8t2w9r4d6m0ab'

const LOG = [
  JSON.stringify({
    time: '2026-11-21T10:00:00.000Z',
    level: 'error',
    message: 'a delivery failed',
    line_id: ID,
    code: 'SQLITE_BUSY',
    reason: 'timeout',
    attempt: 3,
    text: 'sandwich',
    note: ALL,
    status: ALL,
    number: 12_025_550_147,
    nested: { text: ALL },
    error: {
      name: 'sandwich',
      message: ALL,
      code: 'ECONNREFUSED',
      stack: [`at post (/home/ann/hookline:12:34)`, ALL],
      cause: { message: ALL },
    },
  }),
  `panic: ${ALL}`,
  JSON.stringify({ text: ALL }),
]

test('the support file says what runs here, without texts, names, numbers, places or secrets', async () => {
  using rig = new HostingRig()
  const line = { id: ID, driver: 'mac', status: 'offline', status_reason: 'device_absent' }
  const data = { phone_number: '+12025550147', label: 'Front desk', status_hint: ALL }
  const about = { kind: 'line', id: '+12025550147' }
  const finding = { code: 'queue_growing', severity: 'error', line_id: ID, about, since: '2026' }
  const webhook = { id: 'wh_1', is_active: true, url: `https://shop.example.com/?${ALL}` }
  const day = { date: '2026-11-21', sent: 3, received: 1, failed: 1, uncertain: 0, lines: [ALL] }
  rig.startRelay({
    '/api/v1/phone-lines': { data: [{ ...line, ...data }] },
    '/api/v1/health': { data: [{ ...finding, title: ALL, why: ALL, fix: ALL }] },
    '/api/v1/webhooks': { data: [{ ...webhook, description: ALL }] },
    '/api/v1/stats': { data: [day] },
    '/api/v1/options': {
      data: [
        { name: 'port', value: '4665', from: 'HOOKLINE_PORT' },
        { name: 'backup-folder', value: '/home/ann', from: 'hookline.env' },
        { name: 'mac-phone-number', value: '+12025550147', from: 'hookline.env' },
      ],
    },
  })
  rig.answer = (called) => {
    const isLog = called.some((word) => word.includes('journalctl'))
    return isLog ? { stdout: LOG.join('\n') } : { stdout: rig.shown }
  }
  await rig.run('service install')
  const file = rig.folder.file('bundle.json')

  const { exitCode, lines } = await rig.run(`support --to ${file}`)

  const text = await Bun.file(file).text()
  expect([exitCode, lines, statSync(file).mode & 0o777]).toEqual([0, [file], 0o600])
  expect(PLANTED.filter((planted) => text.includes(planted))).toEqual([])
  expect(JSON.parse(text)).toMatchObject({
    versions: { relay: '1.2.3', bun: Bun.version },
    relay: { phase: 'running' },
    service: { is_installed: true },
    findings: [{ code: 'queue_growing', severity: 'error', line_id: ID, about: { kind: 'line' } }],
    lines: [line],
    webhooks: [{ id: 'wh_1', is_active: true }],
    days: [{ date: '2026-11-21', sent: 3, failed: 1 }],
    options: [{ value: '4665' }, { value: '(not shown)' }, { value: '(not shown)' }],
    log: [
      {
        message: 'a delivery failed',
        line_id: ID,
        code: 'SQLITE_BUSY',
        reason: 'timeout',
        attempt: 3,
        error: { code: 'ECONNREFUSED', at: ['hookline:12:34'] },
      },
      { left_out: 'a line that is not JSON' },
      { left_out: 'a line that is not JSON' },
    ],
  })
})

test('the support file is made without a relay, and never over another file', async () => {
  using rig = new HostingRig()
  const file = rig.folder.file('bundle.json')

  await rig.run(`support --to ${file}`)

  expect((await Bun.file(file).json()).relay).toEqual({ phase: 'not running', since: null })
  writeFileSync(file, 'mine')
  await expect(rig.run(`support --to ${file}`)).rejects.toThrow('EEXIST')
  expect([await Bun.file(file).text(), existsSync(`${file}.new`)]).toEqual(['mine', false])
})
