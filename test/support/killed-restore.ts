// A process that restores a backup and is killed at one step of it: `bun killed-restore.ts DATA FILE STEP`.

import { timestamp } from '../../src/domain/ids.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'

const [data = '', file = '', fatal = ''] = process.argv.slice(2)
restoreBackup({
  directory: openDataDirectory(data),
  file,
  version: 'test',
  now: timestamp(0),
  onStep: (step) => {
    if (step === fatal) process.kill(process.pid, 'SIGKILL')
  },
})
