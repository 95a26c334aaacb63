import { existsSync } from 'node:fs'
import { platform } from 'node:os'

import { optionsOf, type ConfigRow } from '../config.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import {
  SETTINGS,
  SETTING_NAMES,
  printSetting,
  shownSetting,
  type SettingName,
} from '../domain/setting.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { argument, type Call, type Command } from './command.ts'
import { clientOf, throughRelayOrFile, type OwnFile } from './own-file.ts'
import { table } from './table.ts'

export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'config',
    sentence:
      'Print options and settings, and where each value comes from. Leaves out defaults that matter only on another ' +
      'system; --json has all.',
    run: show,
  },
  {
    name: 'config set',
    args: [{ name: 'NAME', choices: SETTING_NAMES }, { name: 'VALUE' }],
    sentence: 'Change a setting. Takes effect at once.',
    run: change,
  },
]

async function show(call: Call): Promise<undefined> {
  const client = clientOf(call)
  const isThere = await client.isThere()
  // A relay in safe mode lists no options.
  const running = isThere ? ((await client.find('listOptions'))?.data ?? null) : null
  const rows = running ?? call.loadConfig().rows
  const locked = new Set(rows.map(({ name }) => name))
  const settings = (await settingRows(call)).filter(({ name }) => !locked.has(name))
  // Hides secrets, because this output ends up in reports and screenshots.
  const all = [...rows, ...settings].map((row) => ({
    ...row,
    value: shownSetting(row.name, row.value),
  }))
  const shown = all.filter(matters)
  const cells = shown.map(({ name, value, from }) => [name, value, from])
  call.out.data({ data: all }, [table(['NAME', 'VALUE', 'FROM'], cells)])
  const hidden = all.length - shown.length
  if (hidden > 0) call.out.note(`Not shown: ${hidden} defaults for other systems. See --json.`)
  if (running !== null) return
  const why = isThere ? 'The relay serves nothing: see hookline status.' : 'No relay is running.'
  call.out.note(`${why} These are the values it would start with.`)
}

/** False for the default of an option that matters on another platform only. */
function matters({ name, from }: ConfigRow): boolean {
  const row = Object.values(optionsOf()).find((one) => one.name === name)
  const only = row?.platform ?? null
  return from !== 'default' || only === null || only === platform()
}

async function change(call: Call): Promise<undefined> {
  const name = argument(call, 0)
  const value = argument(call, 1)
  const setting = await throughRelayOrFile(call, {
    relay: (client) => client.ask('putSetting', { params: { name }, body: { value } }),
    file: async (file) => (await settingsOf(call, file)).set(name, value, COMMAND_LINE),
  })
  const shown = shownSetting(name, setting.value)
  call.out.data(setting, [`Set ${name} to ${shown}.`])
}

/** The printed value of a setting, from the running relay or from the database. */
export async function settingText(call: Call, name: SettingName): Promise<string> {
  const rows = await settingRows(call)
  return rows.find((row) => row.name === name)?.value ?? ''
}

/** The defaults if there is no database yet. */
async function settingRows(call: Call): Promise<readonly ConfigRow[]> {
  const { dataDir } = call.loadConfig().config
  if (!existsSync(dataDirectoryAt(dataDir).database)) {
    return SETTING_NAMES.map((name) => ({
      name,
      value: printSetting(name, SETTINGS[name].default),
      from: 'default',
    }))
  }
  const { data } = await throughRelayOrFile(call, {
    relay: async (client) => (await client.find('listSettings')) ?? { data: [] },
    file: async (file) => ({ data: (await settingsOf(call, file)).list() }),
  })
  return data.map(({ name, value, from }) => ({ name, value, from }))
}

async function settingsOf(call: Call, file: OwnFile) {
  const { createSettings } = await import('../storage/settings.ts')
  return createSettings({ ...file, locked: call.loadConfig().config.lockedSettings })
}
