import { useSignal, useSignalEffect } from '@preact/signals'

import { useDashboard } from '../dashboard.ts'

/** Whoever types is not asked about after each letter. */
const TYPING_MS = 350

/** `value` as it was when it last rested. */
export function useSettled(value: string): string {
  const { clock } = useDashboard()
  const latest = useSignal(value)
  const settled = useSignal(value)
  latest.value = value
  useSignalEffect(() => {
    const resting = latest.value
    const end = new AbortController()
    const settle = async () => {
      await clock.sleep(TYPING_MS, end.signal)
      if (!end.signal.aborted) settled.value = resting
    }
    void settle()
    return () => end.abort()
  })
  return settled.value
}
