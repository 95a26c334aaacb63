// Output that can't be written, as a shell has it: a full disk, and a reader that leaves.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { createOutput, unreadPrinter } from '../../src/cli/output.ts'
import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { testNeeding } from '../support/needs.ts'
import { ApiClient, RelayProcess, createKey, temporaryDataDir } from '../support/relay-process.ts'

const FULL = '/dev/full'
const onFullDisk = testNeeding(FULL, existsSync(FULL))

/** Runs a script of the shell in which `hookline` is the executable. */
async function shell(script: string, dataDir: string) {
  const child = Bun.spawn(['sh', '-c', script.replaceAll('hookline', builtExecutable())], {
    env: cleanEnvironment({ HOOKLINE_DATA_DIR: dataDir }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

for (const command of ['help', 'guide api', 'keys', 'config --json', 'client python']) {
  onFullDisk(`hookline ${command} on a full disk says so and fails`, async () => {
    using dir = temporaryDataDir()
    await createKey(dir.path)

    const { stderr, exitCode } = await shell(`hookline ${command} > ${FULL}`, dir.path)

    expect(stderr).toContain("The output can't be written (ENOSPC).")
    expect(exitCode).toBe(1)
  })
}

onFullDisk(
  'a key whose secret is lost on a full disk is named, with how to revoke it',
  async () => {
    using dir = temporaryDataDir()
    await createKey(dir.path)

    const { stderr, exitCode } = await shell(`hookline keys create --name lost > ${FULL}`, dir.path)
    const [, id = ''] = /hookline keys revoke (key_[0-9a-z]{26})/.exec(stderr) ?? []
    const revoked = await shell(`hookline keys revoke ${id}`, dir.path)

    expect(exitCode).toBe(1)
    expect(revoked.exitCode).toBe(0)
  },
)

test('a reader that has its first line ends the command, without a word', async () => {
  using dir = temporaryDataDir()

  const { stdout, stderr, exitCode } = await shell('hookline guide api | head -1', dir.path)

  expect([stdout.split('\n').length, stderr, exitCode]).toEqual([2, '', 0])
})

test('tail ends when its reader has gone', async () => {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const args = ['--simulated-lines', '1', '--simulated-delay-ms', '0']
  await using relay = await RelayProcess.start({ dataDir: dir.path, arguments: args })
  const api = new ApiClient(() => relay.url, key)

  let hasEnded = false
  const first = shell('hookline tail --json | head -1', dir.path)
  void first.finally(() => (hasEnded = true))
  await eventually('the pipeline ends', async () => {
    await api.request('POST', '/api/v1/messages/send', { body: { to: '+12025550123', text: 'hi' } })
    return hasEnded ? true : null
  })
  const { stdout } = await first

  expect(JSON.parse(stdout).event).toStartWith('message.')
})

test('a service goes on although what it prints is lost, and says so on standard error', () => {
  const said: string[] = []
  const full = () => {
    throw Object.assign(new Error('write'), { code: 'ENOSPC' })
  }
  const to = unreadPrinter({ log: full, error: (text: string) => void said.push(text) })
  const style = { columns: 80, hasColour: false, isWatched: false, now: () => 0 }

  createOutput({ ...style, isJson: false, isQuiet: false }, to).data({}, ['hookline listening'])

  expect(said).toEqual(["The output can't be written (ENOSPC)."])
})
