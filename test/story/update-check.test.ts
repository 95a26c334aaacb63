// The look for a newer release: a folder with signed checksums, and the real relay.

import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'

import { minisign, minisignPublicKey } from '../../scripts/sign-release.ts'
import { parseMinisignKey } from '../../src/system/minisign.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const DAY_MS = 86_400_000
/** Within this the relay looks at the clock again. */
const MINUTE_MS = 60_000
const { privateKey } = generateKeyPairSync('ed25519')
const { privateKey: strange } = generateKeyPairSync('ed25519')
const releaseKey = parseMinisignKey(minisignPublicKey(privateKey))
const FILE = `hookline-${process.platform}-${process.arch}`

function publish(folder: ScratchFolder, version: string, key = privateKey): void {
  const sums = `${'0'.repeat(64)}  ${FILE}\n`
  writeFileSync(folder.file('SHA256SUMS'), sums)
  writeFileSync(
    folder.file('SHA256SUMS.minisig'),
    minisign(key, Buffer.from(sums), `hookline ${version}`),
  )
}

async function updateFindings(relay: Awaited<ReturnType<typeof startDashboard>>) {
  const { data } = await relay.get('/api/v1/health')
  return data
    .filter(({ code }: { code: string }) => code.startsWith('update'))
    .map(({ code, title, fix }: Record<string, string>) => [code, title, fix])
}

test('nothing is looked for until the owner names a place', async () => {
  await using relay = await startDashboard({ parts: { releaseKey } })
  const owner = await relay.claim()

  const refused = await owner.post('/dashboard/api/update-check', {})
  relay.clock.doze(2 * DAY_MS)
  await relay.clock.advance(MINUTE_MS)

  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request'])
  expect(await updateFindings(relay)).toEqual([])
})

test('a newer signed release is found once a day, with the command that installs it', async () => {
  using folder = new ScratchFolder()
  publish(folder, '99.0.0')
  await using relay = await startDashboard({ parts: { releaseKey } })
  const owner = await relay.claim()
  await owner.put('/dashboard/api/settings/release_source', { value: folder.path })

  relay.clock.doze(DAY_MS)
  await relay.clock.advance(MINUTE_MS)
  // The jobs of a day run one after another, and one of them waits for the disk.
  const found = await eventually('the release is found', async () => {
    const findings = await updateFindings(relay)
    return findings.length === 0 ? null : findings
  })

  expect(found).toEqual([
    ['update_available', 'Hookline 99.0.0 is available', 'Run: hookline upgrade'],
  ])
})

test('an older release is no news, and one that another key signed is a problem', async () => {
  using folder = new ScratchFolder()
  await using relay = await startDashboard({ parts: { releaseKey } })
  const owner = await relay.claim()
  await owner.put('/dashboard/api/settings/release_source', { value: folder.path })
  const check = async () => (await owner.post('/dashboard/api/update-check', {})).body

  const none = await check()
  publish(folder, '0.0.1')
  const older = await check()
  publish(folder, '99.0.0', strange)
  const forged = await check()

  expect(none.problem).toBe(`${folder.file('SHA256SUMS')} cannot be read.`)
  expect([older.latest, older.is_newer, older.problem]).toEqual(['0.0.1', false, null])
  expect([forged.latest, forged.problem]).toEqual([null, expect.stringContaining('is not signed')])
  expect(await updateFindings(relay)).toEqual([])
})
