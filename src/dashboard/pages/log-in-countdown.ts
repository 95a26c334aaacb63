import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { useDashboard } from '../dashboard.ts'

const SECOND_MS = 1_000

/** Seconds that run down to 0 from what `start` is given. */
export function useCountdown(): {
  readonly seconds: number
  readonly start: (seconds: number) => void
} {
  const { clock } = useDashboard()
  const left = useSignal(0)
  const seconds = left.value
  useEffect(() => {
    if (seconds === 0) return
    const end = new AbortController()
    const tick = async () => {
      await clock.sleep(SECOND_MS, end.signal)
      if (!end.signal.aborted) left.value = seconds - 1
    }
    void tick()
    return () => end.abort()
  }, [seconds])
  return { seconds, start: (from) => (left.value = from) }
}
