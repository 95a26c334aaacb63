import { defaultSetting, type SettingValues } from '../../src/domain/setting.ts'

/** Settings of which a test chooses some. */
export function settingsOf(values: Partial<SettingValues>) {
  return {
    get: <N extends keyof SettingValues>(name: N): SettingValues[N] => {
      const held: SettingValues[N] | undefined = values[name]
      return held === undefined ? defaultSetting(name) : held
    },
  }
}
