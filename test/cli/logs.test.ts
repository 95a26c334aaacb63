import { expect, test } from 'bun:test'

import { UsageError } from '../../src/cli/command.ts'
import { HostingRig } from './hosting-rig.ts'

test('logs prints the newest lines, as JSON if that is wanted', async () => {
  using rig = new HostingRig()
  rig.answer = () => ({ stdout: '{"level":"info","message":"a"}\nplain\n-- cursor: s=1\n' })

  const { lines, json } = await rig.run('logs --lines 7')

  expect(lines).toEqual(['{"level":"info","message":"a"}', 'plain'])
  expect(json).toEqual([{ level: 'info', message: 'a' }, { message: 'plain' }])
  expect(rig.tools.calls[0]?.at(-1)).toBe('--lines=7')
})

test('a line of the log is written for people: its time, level, message and fields', async () => {
  using rig = new HostingRig()
  const entry = {
    time: '2026-11-21T10:00:00.000Z',
    level: 'warn',
    message: 'a webhook fails',
    webhook: 'wh_1',
    why: 'Connection refused',
    tries: 3,
  }
  rig.answer = () => ({ stdout: `${JSON.stringify(entry)}\n-- cursor: s=1\n` })

  const { lines, json } = await rig.run('logs')

  expect(lines).toEqual([
    '2026-11-21T10:00:00.000Z  warn   a webhook fails  webhook=wh_1 why="Connection refused" tries=3',
  ])
  expect(json).toEqual([entry])
})

test('logs -f goes on each second until it is stopped', async () => {
  using rig = new HostingRig()
  const said = ['one\n-- cursor: s=1\n', '', 'two\n-- cursor: s=2\n']
  rig.answer = () => ({ stdout: said.shift() ?? '' })

  const running = rig.run('logs -f')
  await rig.clock.advance(2_999)
  rig.stop.abort()
  const { exitCode, lines } = await running

  expect([exitCode, lines]).toEqual([0, ['one', 'two']])
  expect(rig.tools.calls.length).toBe(3)
})

for (const count of ['0', '1001', 'x']) {
  test(`logs --lines ${count} is a usage error`, async () => {
    using rig = new HostingRig()

    await expect(rig.run(`logs --lines ${count}`)).rejects.toBeInstanceOf(UsageError)
  })
}
