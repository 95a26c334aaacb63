import { useSignal } from '@preact/signals'

import { isDeclined } from '../api.ts'
import { useDashboard } from '../dashboard.ts'
import { fieldError } from '../field-error.ts'
import type { Setting, SettingName } from './settings-resources.ts'
import { useSettings } from './settings-sources.ts'

export type SettingSaver = {
  /** Null while it is being read. */
  readonly setting: Setting | null
  /** Why it was not, in a sentence. */
  readonly error: string | null
  /** Whether it was saved. */
  readonly save: (value: string) => Promise<boolean>
}

/** A setting as it is now, and what saves it at once. */
export function useSetting(name: SettingName): SettingSaver {
  const { api, notices } = useDashboard()
  const settings = useSettings()
  const read = settings.value?.data
  /** What the relay answered last, until it is read again. */
  const answered = useSignal<{ readonly setting: Setting; readonly over: typeof read } | null>(null)
  const isBusy = useSignal(false)
  const error = useSignal<string | null>(null)
  const isNewer = answered.value !== null && answered.value.over === read
  const setting = isNewer ? answered.value?.setting : read?.find((one) => one.name === name)

  async function save(value: string): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    const answer = await api.put<Setting>(`settings/${name}`, { value })
    isBusy.value = false
    if (!answer.ok) {
      const { failure } = answer
      error.value = isDeclined(failure) ? null : (fieldError(failure, 'value') ?? failure.message)
      if (error.value !== null) notices.say(error.value)
      return false
    }
    error.value = null
    answered.value = { setting: answer.value, over: read }
    settings.refresh()
    notices.done('Saved.')
    return true
  }
  return { setting: setting ?? null, error: error.value, save }
}
