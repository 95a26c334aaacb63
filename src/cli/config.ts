import { existsSync } from 'node:fs'

import type { ConfigRow } from '../config.ts'
import { COMMAND_LINE } from '../domain/audit.ts'
import {
  SETTINGS,
  SETTING_NAMES,
  printSetting,
  shownSetting,
  type SettingName,
} from '../domain/setting.ts'
import { createSettings } from '../storage/settings.ts'
import { dataDirectoryAt } from '../system/data-directory.ts'
import { argument, type Call, type Command } from './command.ts'
import { clientOf, throughRelayOrFile, type OwnFile } from './own-file.ts'
import { table } from './table.ts'

export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'config',
    sentence: 'Print every option and setting, and where its value comes from.',
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
  const cells = all.map(({ name, value, from }) => [name, value, from])
  call.out.data({ data: all }, [table(['NAME', 'VALUE', 'FROM'], cells)])
  if (running !== null) return
  const why = isThere ? 'The relay serves nothing: see hookline status.' : 'No relay is running.'
  call.out.note(`${why} These are the values it would start with.`)
}

async function change(call: Call): Promise<undefined> {
  const name = argument(call, 0)
  const value = argument(call, 1)
  const setting = await throughRelayOrFile(call, {
    relay: (client) => client.ask('putSetting', { params: { name }, body: { value } }),
    file: (file) => settingsOf(call, file).set(name, value, COMMAND_LINE),
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
    file: (file) => ({ data: settingsOf(call, file).list() }),
  })
  return data.map(({ name, value, from }) => ({ name, value, from }))
}

function settingsOf(call: Call, file: OwnFile) {
  return createSettings({ ...file, locked: call.loadConfig().config.lockedSettings })
}
