import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { startReadProcess } from '../../src/system/process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

test('of a child that lives on both outputs are told as they come', async () => {
  const said: string[] = []
  const decode = (chunk: Uint8Array) => new TextDecoder().decode(chunk)

  const child = startReadProcess({
    path: '/bin/sh',
    args: ['-c', 'echo "$WORD"; echo bad >&2; exit 3'],
    environment: { WORD: 'Grüße' },
    onOutput: (chunk, from) => void said.push(`${from}: ${decode(chunk)}`),
  })
  const exitCode = await child.ended
  await child.outputEnded

  expect(exitCode).toBe(3)
  expect(said.sort()).toEqual(['stderr: bad\n', 'stdout: Grüße\n'])
})

test('a child that lives on knows what it is told, and nothing else of us', async () => {
  process.env['HOOKLINE_ADMIN_KEY'] = 'secret'
  let said = ''

  const child = startReadProcess({
    path: '/usr/bin/env',
    args: [],
    environment: { WORD: 'told' },
    onOutput: (chunk) => void (said += new TextDecoder().decode(chunk)),
  })
  await child.outputEnded
  delete process.env['HOOKLINE_ADMIN_KEY']

  expect(said).toContain('WORD=told\n')
  expect(said).not.toContain('HOOKLINE')
})

test('what a child that lives on has started is ended with it', async () => {
  using folder = new ScratchFolder()
  const ready = folder.file('ready')
  const child = startReadProcess({
    path: '/bin/sh',
    args: ['-c', `sleep 60 & : > ${ready}; wait`],
    environment: {},
    onOutput() {},
  })
  await appears(ready)

  child.kill('SIGTERM')

  // The grandchild would hold the outputs open for a minute.
  await child.outputEnded
  expect(await child.ended).toBeNull()
})

/** Resolves once a child has made `path`. */
async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setImmediate(resolve))
}
