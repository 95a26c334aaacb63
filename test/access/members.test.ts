// Members across a restore, and a password that is checked while its member is removed.

import { expect, test } from 'bun:test'

import { createMembers } from '../../src/access/members.ts'
import { DashboardSessions } from '../../src/access/sessions.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { savePassword } from '../../src/storage/dashboard-access.ts'
import { closeDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'
import { HERE, openAccess, refusal } from './access-rig.ts'

const PASSWORD = 'correct horse'

function openMembers(path: string) {
  const storage = openTestStorage(path)
  const sessions = new DashboardSessions(storage.core)
  return { ...storage, members: createMembers(storage.core, { sessions }) }
}

test('a restore brings back no member that was removed since, and no link', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const before = openMembers(directory.database)
  await before.writer.write((tx) =>
    savePassword(tx, {
      passwordHash: 'hash',
      passwordSetAt: timestamp(TEST_START),
      setupStep: null,
    }),
  )
  const { member: anna } = await before.members.add({ name: 'Anna' }, COMMAND_LINE)
  await before.members.add({ name: 'Ben' }, COMMAND_LINE)
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  await before.members.remove(anna.id, COMMAND_LINE)
  closeDatabase(before.db)

  const now = timestamp(TEST_START + 1_000)
  restoreBackup({ directory, file: folder.file('backup.db'), version: 'test', now })

  const after = openMembers(directory.database)
  const found = after.members.list().map(({ name, link_expires_at }) => [name, link_expires_at])
  expect(found).toEqual([['Ben', null]])
  closeDatabase(after.db)
})

test('a sign-in whose member is removed while the password is checked is refused', async () => {
  const { access, claim, passwordHash } = openAccess()
  await claim(PASSWORD)
  const { member, link } = await access.members.add({ name: 'Anna' }, HERE)
  await access.setUp({ token: link.token, password: PASSWORD }, HERE)
  const look = Promise.withResolvers<void>()
  passwordHash.before = () => look.promise

  const acting = refusal(access.signIn({ name: 'Anna', password: PASSWORD }, HERE))
  await access.members.remove(member.id, HERE)
  look.resolve()

  expect(await acting).toBe('wrong_password')
})

test('a link that is replaced while the new password is hashed sets none', async () => {
  const { access, claim, passwordHash } = openAccess()
  await claim(PASSWORD)
  const { member, link } = await access.members.add({ name: 'Anna' }, HERE)

  const acting = refusal(access.setUp({ token: link.token, password: PASSWORD }, HERE))
  await access.members.renewLink(member.id, HERE)

  expect(await acting).toBe('setup_link_invalid')
  expect(passwordHash.asked).toContain(`make ${PASSWORD}`)
})

test('an unknown name costs a look at a password, as a known one does', async () => {
  const { access, claim, passwordHash } = openAccess()
  await claim(PASSWORD)
  passwordHash.asked.length = 0

  await refusal(access.signIn({ name: 'Nobody', password: PASSWORD }, HERE))

  expect(passwordHash.asked).toEqual([`fits ${PASSWORD}`])
})
