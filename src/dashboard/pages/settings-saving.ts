import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { isDeclined } from '../api.ts'
import { useDashboard, useLive } from '../dashboard.ts'
import { fieldError } from '../field-error.ts'
import { settingsSource, type Setting, type SettingName } from './settings-sources.ts'

export type SettingSaver = {
  /** Null while it is being read. */
  readonly setting: Setting | null
  /** Whether it was saved just now. */
  readonly isSaved: boolean
  /** Why it was not, in a sentence. */
  readonly error: string | null
  /** Whether it was saved. */
  readonly save: (value: string) => Promise<boolean>
}

const SHOWN_MS = 3_000

/** A setting as it is now, and what saves it at once. */
export function useSetting(name: SettingName): SettingSaver {
  const { api, notices } = useDashboard()
  const settings = useLive(settingsSource(api))
  const read = settings.now.state === 'ready' ? settings.now.value.data : null
  /** What the relay answered last, until it is read again. */
  const answered = useSignal<{ readonly setting: Setting; readonly over: typeof read } | null>(null)
  const isBusy = useSignal(false)
  const error = useSignal<string | null>(null)
  const saved = useMoment()
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
    saved.begin()
    notices.say('Saved.')
    return true
  }
  return {
    setting: setting ?? null,
    isSaved: saved.isNow,
    error: error.value,
    save,
  }
}

/** Something that is so for a few seconds from `begin` on. */
function useMoment(): { readonly isNow: boolean; readonly begin: () => void } {
  const { clock } = useDashboard()
  const count = useSignal(0)
  const over = useSignal(0)
  useEffect(() => {
    const end = new AbortController()
    const wait = async () => {
      await clock.sleep(SHOWN_MS, end.signal)
      if (!end.signal.aborted) over.value = count.value
    }
    if (count.value > over.value) void wait()
    return () => end.abort()
  }, [count.value])
  return { isNow: count.value > over.value, begin: () => (count.value += 1) }
}
