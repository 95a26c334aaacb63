// People at the command line: numbers as they are written, contacts from files, and search.

import { expect, test } from 'bun:test'

import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { on } from '../support/command-line.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { runBeside, type Asked } from './fake-relay.ts'

const GERMAN_LINE = { id: 'line_de', phone_number: '+491701234500' }
const US_LINE = { id: 'line_us', phone_number: '+12025550101' }

/** Runs a send beside a relay with these two lines, the German first. */
async function sendTo(words: string) {
  const { asked, ...finished } = await runBeside(`send ${words}`, ({ path }: Asked) =>
    path === '/api/v1/phone-lines'
      ? { data: [GERMAN_LINE, US_LINE] }
      : { id: 'msg_a', status: 'sent' },
  )
  return { ...finished, sent: asked.find(({ path }) => path === '/api/v1/messages/send')?.body }
}

test('a national number is understood by the country of the line, and shown before it is sent', async () => {
  const german = await sendTo('"0170 1234567" hi')
  expect(german.sent).toEqual({ to: '+491701234567', text: 'hi' })
  expect(german.stdout).toBe('0170 1234567 → +49 170 1234567\nsent  msg_a\n')

  const american = await sendTo('"(202) 555-0147" hi --line line_us')
  expect(american.sent).toMatchObject({ to: '+12025550147', phone_line_id: 'line_us' })

  const wrong = await sendTo('0170 hi')
  expect(wrong.sent).toBeUndefined()
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    2,
    'hookline: 0170 is no valid number of its country.\n',
  ])
})

test('a large file is imported in parts, and each bad row keeps its number', async () => {
  using folder = new ScratchFolder()
  const rows = Array.from({ length: 1_200 }, (_, i) => `Person ${i},+1202555${1_000 + i}`)
  rows[700] = 'Nobody,12'
  await Bun.write(`${folder.path}/people.csv`, ['Name,Phone', ...rows, ''].join('\r\n'))
  const parts: string[] = []
  const relay = Bun.serve({
    unix: dataDirectoryAt(folder.path).controlSocket,
    async fetch(request) {
      if (new URL(request.url).pathname === '/healthz') return new Response('ok')
      const lines = (await request.text()).split('\r\n')
      parts.push(lines[0] ?? '')
      const bad = lines.findIndex((line) => line.startsWith('Nobody'))
      const errors = bad === -1 ? [] : [{ row: bad + 1, why: 'is bad' }]
      const failed = errors.length
      return Response.json({ imported: lines.length - 2, updated: 0, skipped: 0, failed, errors })
    },
  })
  const { exitCode, stdout } = await on(folder, `contacts import ${folder.path}/people.csv`)
  await relay.stop(true)

  expect(parts).toEqual(['Name,Phone', 'Name,Phone', 'Name,Phone'])
  expect(stdout).toContain('1200 imported, 0 updated, 0 unchanged, 1 failed.')
  // The row of names is row 1.
  expect(stdout).toMatch(/702\s+is bad/)
  expect(exitCode).toBe(1)
})

test('what a search finds is printed in groups, with numbers as people write them', async () => {
  const handle = '+12025550147'
  const times = { created_at: '2026-11-21T10:00:00.000Z', updated_at: '2026-11-21T10:00:00.000Z' }
  const found = {
    people: [{ handle, name: 'Anna', note: null, tags: ['vip'], ...times }],
    conversations: [{ id: 'conv_a', handle, contact_name: 'Anna', message_count: 2, ...times }],
    messages: [
      {
        conversation_id: 'conv_a',
        message: { id: 'msg_a', handle, direction: 'inbound', ...times },
        excerpt: { text: 'my bicycle', ranges: [{ offset: 3, length: 7 }] },
      },
    ],
    is_complete: true,
  }

  const { stdout, asked } = await runBeside('search my bicycle', found)

  expect(asked[0]?.path).toBe('/api/v1/search?q=my+bicycle&limit=20')
  expect(stdout).toMatch(/Anna\s+\+1 202 555 0147\s+vip/)
  expect(stdout).toMatch(/conv_a\s+Anna\s+2/)
  expect(stdout).toMatch(/← \+1 202 555 0147\s+my bicycle/)
})
