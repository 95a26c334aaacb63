// The action of the workflows of others: its script, run as a runner runs it.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'

type Action = { readonly runs: { readonly steps: readonly [{ readonly run: string }] } }

const action = Bun.YAML.parse(
  readFileSync(`${ROOT}/.github/actions/hookline-fake/action.yml`, 'utf8'),
) as Action // Ours.
const [{ run: script }] = action.runs.steps

async function runStep(folder: ScratchFolder, inputs: Readonly<Record<string, string>>) {
  const child = Bun.spawn(['bash', '-e', '-o', 'pipefail', '-c', script], {
    env: cleanEnvironment({
      ARGUMENTS: '--port 0 --seed 1',
      SHA256: '',
      RUNNER_TEMP: folder.path,
      GITHUB_ENV: folder.file('env'),
      GITHUB_OUTPUT: folder.file('output'),
      ...inputs,
    }),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const errors = await new Response(child.stderr).text()
  return { exitCode: await child.exited, errors }
}

test('the action downloads an executable, and its fake serves the steps that follow', async () => {
  using folder = new ScratchFolder()
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(Bun.file(builtExecutable())),
  })
  const bytes = await Bun.file(builtExecutable()).bytes()
  const SHA256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

  const { exitCode, errors } = await runStep(folder, { EXECUTABLE: server.url.href, SHA256 })
  const variables = await Bun.file(folder.file('env')).text()
  const [, url = ''] = /^HOOKLINE_URL=(.+)$/m.exec(variables) ?? []
  const key = /^HOOKLINE_KEY=(.+):(.+)$/m.exec(variables) ?? []
  const headers = { 'x-api-key': key[1] ?? '', 'x-api-secret': key[2] ?? '' }
  const output = await Bun.file(folder.file('output')).text()
  const pid = Number(/^pid=(\d+)$/m.exec(output)?.[1])
  const clock = await fetch(`${url}/api/v1/simulated/clock`, { headers })
  process.kill(pid)

  expect([exitCode, errors]).toEqual([0, ''])
  expect(output).toBe(`pid=${pid}\nurl=${url}\n`)
  expect(await clock.json()).toMatchObject({ is_frozen: true })
}, 120_000)

test('a wrong checksum, and options that it refuses, fail the step with the reason', async () => {
  using folder = new ScratchFolder()
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('other') })

  const wrong = await runStep(folder, { EXECUTABLE: server.url.href, SHA256: '0'.repeat(64) })
  const refused = await runStep(folder, { EXECUTABLE: builtExecutable(), ARGUMENTS: '--seeds 1' })

  expect([wrong.exitCode, wrong.errors]).toEqual([1, expect.stringContaining('did NOT match')])
  expect([refused.exitCode, refused.errors]).toEqual([1, expect.stringContaining('--seeds')])
}, 120_000)
