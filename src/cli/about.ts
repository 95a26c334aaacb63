import { MIGRATIONS } from '../storage/migrations.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { VERSION } from '../system/version.ts'
import { EXIT, type Call, type Command, type ExitCode } from './command.ts'
import { readLicenses } from './licenses.macro.ts' with { type: 'macro' }
import { fields } from './table.ts'

const LICENSES: string = readLicenses()

export const ABOUT_COMMANDS: readonly Command[] = [
  {
    name: 'paths',
    args: [],
    options: [],
    sentence: 'Print where everything is kept.',
    run: paths,
  },
  {
    name: 'version',
    args: [],
    options: [],
    sentence: 'Print the version.',
    run: version,
  },
  {
    name: 'licenses',
    args: [],
    options: [],
    sentence: 'Print the licences of everything inside this executable.',
    run: licenses,
  },
]

async function paths(call: Call): Promise<ExitCode> {
  const directory = dataDirectoryAt(call.loadConfig().config.dataDir)
  const rows = [
    ['data_directory', directory.path],
    ['database', directory.database],
    ['backups', directory.backups],
    ['options', directory.environmentFile],
    ['secret_key', directory.secretKey],
    ['control_socket', directory.controlSocket],
    ['lock', directory.lock],
    ['simulated_network', directory.simulatedDatabase],
  ] as const
  call.out.data(Object.fromEntries(rows), fields(rows))
  return EXIT.ok
}

async function licenses(call: Call): Promise<ExitCode> {
  call.out.data({ text: LICENSES }, LICENSES.split('\n'))
  return EXIT.ok
}

async function version(call: Call): Promise<ExitCode> {
  const about = { version: VERSION, schema: MIGRATIONS.length, bun: Bun.version }
  call.out.data(about, [`hookline ${VERSION}`])
  return EXIT.ok
}
