import { expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'

import {
  executableAt,
  forgetInstallation,
  hasChanged,
  readInstallation,
  writeInstallation,
} from '../../src/hosting/installation.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const FILE = { sizeBytes: 10, modifiedMs: 1_000 }

test('an installation is read as it was written, by its owner only', async () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('hookline'), 'an executable')
  const source = await executableAt(folder.file('hookline'))
  const installation = { source, version: '1.2.3', codesignIdentity: 'Developer ID' }

  writeInstallation(folder.path, installation)
  const read = readInstallation(folder.path)
  const mode = statSync(folder.file('service.json')).mode & 0o777
  forgetInstallation(folder.path)

  expect(read).toEqual(installation)
  expect(mode).toBe(0o600)
  expect(readInstallation(folder.path)).toBeNull()
})

const GOOD = { path: '/a', sha256: 'b', sizeBytes: 1, modifiedMs: 2 }
const BAD = [
  '',
  '{',
  'null',
  '{"version":"1"}',
  JSON.stringify({ source: { ...GOOD, path: 1 }, version: '1' }),
  JSON.stringify({ source: { ...GOOD, sizeBytes: '1' }, version: '1' }),
  JSON.stringify({ source: GOOD }),
]

test('a record that says anything else is as if there were none', () => {
  using folder = new ScratchFolder()
  for (const text of BAD) {
    writeFileSync(folder.file('service.json'), text)

    expect([text, readInstallation(folder.path)]).toEqual([text, null])
  }
})

test('a file of another size has changed; one of another date may have', () => {
  expect([
    hasChanged(FILE, { ...FILE }),
    hasChanged(FILE, { ...FILE, sizeBytes: 11 }),
    hasChanged(FILE, { ...FILE, modifiedMs: 2_000 }),
  ]).toEqual([false, true, null])
})
